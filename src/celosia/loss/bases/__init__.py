"""Base classes and computations shared by several losses."""
