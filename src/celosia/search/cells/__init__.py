"""Searches for the cells to blank."""
