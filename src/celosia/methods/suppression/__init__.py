"""Methods that leave records or cells out."""
