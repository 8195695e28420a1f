"""What ``hermes memory`` does, one idea a module; ``commands/memory.py`` says how it is called."""
