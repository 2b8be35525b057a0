"""Risk: class sizes, columns that cause uniqueness, and attacks by an intruder."""

from celosia.studio.pages.risk.routes import PAGE

__all__ = ["PAGE"]
