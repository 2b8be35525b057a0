"""Hierarchies: how the values of a column become coarser, drawn and dragged by hand."""

from celosia.studio.pages.hierarchies.routes import PAGE

__all__ = ["PAGE"]
