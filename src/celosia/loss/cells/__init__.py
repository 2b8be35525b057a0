"""Losses that look at what became of each cell."""
