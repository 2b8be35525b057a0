"""Methods that recode each value by itself."""
