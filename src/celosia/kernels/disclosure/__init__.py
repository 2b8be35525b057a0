"""Disclosure in numbers: uniqueness, estimates and their intervals."""
