"""SQL queries: read, checked, turned into aggregate queries with stated sensitivity, and read back."""
