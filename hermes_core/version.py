"""The version, written once; ``pyproject.toml`` reads it here."""

__version__ = "0.1.0"
USER_AGENT = f"hermes-cli/{__version__}"
