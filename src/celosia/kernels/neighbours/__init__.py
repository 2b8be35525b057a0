"""Compiled loops over distances: nearest records, groups, clusters, swaps."""
