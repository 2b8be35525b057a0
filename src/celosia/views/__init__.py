"""Computations on tables that parts of several kinds share: coverage, regions, encodings, persons, populations."""
