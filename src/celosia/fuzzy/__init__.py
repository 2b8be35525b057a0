"""fuzzy."""
