"""Methods that draw new values from a model of the data."""
