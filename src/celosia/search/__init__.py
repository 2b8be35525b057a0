"""Search over hierarchy levels: what a candidate looks like, what it costs, and which one is best."""
