"""Methods that give groups of records one value."""
