"""Lattice: every combination of generalisation levels, its loss, and whether it meets the requirements."""

from celosia.studio.pages.lattice.routes import PAGE

__all__ = ["PAGE"]
