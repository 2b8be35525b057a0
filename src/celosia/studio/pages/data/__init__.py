"""Data: every column with a sketch, its role, and the reason for the proposed role."""

from celosia.studio.pages.data.routes import PAGE

__all__ = ["PAGE"]
