"""Base classes and computations shared by several risks or attacks."""
