"""Searches for the level of each record."""
