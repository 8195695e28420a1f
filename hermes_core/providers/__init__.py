"""Provider profiles and the catalog that finds them by name."""
