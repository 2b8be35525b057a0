"""A request for data, from the question to the files."""
