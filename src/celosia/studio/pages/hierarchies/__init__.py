"""Hierarchies: the generalisation levels of a column, edited by hand."""

from celosia.studio.pages.hierarchies.routes import PAGE

__all__ = ["PAGE"]
