"""Module paths of the original host, answered by this one.

Nothing here is loaded until somebody imports one of those paths; ``finders`` holds the table.
"""
