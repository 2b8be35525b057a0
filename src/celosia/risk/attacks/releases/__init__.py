"""Attacks that combine a release with earlier ones."""
