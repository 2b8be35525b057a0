"""What losses share."""
