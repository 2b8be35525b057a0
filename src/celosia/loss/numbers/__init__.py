"""Losses that compare numbers and distributions."""
