"""The policy: what it may say, how it is read, and whether an engine can do what it asks."""
