"""Wire formats, one module each: pure encode and decode."""
