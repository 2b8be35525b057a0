"""Compare and explore: many ways to protect between risk and loss, and any two of them side by side."""

from celosia.studio.pages.compare.routes import PAGE

__all__ = ["PAGE"]
