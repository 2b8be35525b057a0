"""Compiled loops over groups of records: counts, combinations, frequencies."""
