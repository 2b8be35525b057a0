"""Shared parts of the methods: cells, groups, conditions, codes, models of the data."""
