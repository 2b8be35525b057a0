"""Losses that ask what the data are still good for."""
