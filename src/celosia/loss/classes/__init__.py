"""Losses that look at the classes."""
