"""Long-term memory: the provider contract."""
