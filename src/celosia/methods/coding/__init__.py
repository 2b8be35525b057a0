"""Methods that write each value anew."""
