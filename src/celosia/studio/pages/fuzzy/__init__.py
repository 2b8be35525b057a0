"""Fuzzy sets: drag their points, and see how many records each holds and what Q-anonymity that gives."""

from celosia.studio.pages.fuzzy.routes import PAGE

__all__ = ["PAGE"]
