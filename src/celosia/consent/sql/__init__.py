"""What a query of the past says about columns and values."""
