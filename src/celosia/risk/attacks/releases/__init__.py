"""Attacks that put a release together with earlier ones."""
