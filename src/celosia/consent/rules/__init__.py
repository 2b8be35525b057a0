"""Inferences that data subjects may block, and the rules that match queries to them."""
