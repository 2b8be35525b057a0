"""Methods that add noise."""
