"""Noise, rotations, transitions and shuffles of numbers."""
