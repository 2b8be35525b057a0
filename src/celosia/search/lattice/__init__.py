"""Searches among the levels of all columns at once."""
