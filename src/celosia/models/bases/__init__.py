"""Base classes of several models."""
