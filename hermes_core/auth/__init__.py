"""Credentials: found for a provider and a host, and never sent to another."""
