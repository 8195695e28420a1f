"""Frozen values and protocols that the rooms above hand to each other."""
