"""Tables, fields and constants that a SQL query uses, read from its text."""
