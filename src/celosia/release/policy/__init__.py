"""The policy: its sections, how it is read, and whether an engine supports it."""
