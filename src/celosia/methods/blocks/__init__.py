"""Methods that apply another method to parts of a table."""
