"""Verification of a release: each claim of its certificate is computed again from the written file."""
