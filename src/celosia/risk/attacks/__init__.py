"""The attacks: what an intruder reaches with the original at hand."""
