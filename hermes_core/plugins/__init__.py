"""Plugins: found as data, loaded in a transaction, asked in pluggy's order."""
