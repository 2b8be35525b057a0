"""The people and what they chose."""
