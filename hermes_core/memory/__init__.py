"""Long-term memory: what the host keeps itself, the contract of providers, and the manager that asks them."""
