"""Losses measured on equivalence classes."""
