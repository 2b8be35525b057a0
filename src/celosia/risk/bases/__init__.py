"""What risks and attacks share."""
