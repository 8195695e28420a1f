"""The plugins that come with the host; each imports the ``hermes_core`` facade alone, like a stranger."""
