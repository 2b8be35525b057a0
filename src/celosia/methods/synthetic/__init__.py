"""methods/synthetic."""
