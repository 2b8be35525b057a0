"""Searches for boxes and groups of records."""
