"""Imports the catalogue of parts before the doctests, because pytest imports the first module of a run twice."""

import celosia.parts  # noqa: F401  # two copies of a module have two classes of each name, and marks are not recognised
