"""Uniqueness in the sample and in the population, with its uncertainty."""
