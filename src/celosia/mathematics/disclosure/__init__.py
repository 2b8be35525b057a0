"""What an intruder reaches, in numbers: uniqueness, linkage, estimates and their intervals."""
