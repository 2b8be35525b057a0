"""Fuzzy sets: drag their points and see the cardinality of each set and the resulting Q-anonymity."""

from celosia.studio.pages.fuzzy.routes import PAGE

__all__ = ["PAGE"]
