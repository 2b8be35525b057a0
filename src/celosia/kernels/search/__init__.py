"""Compiled loops of the searches: lattices, boxes, cells to blank."""
