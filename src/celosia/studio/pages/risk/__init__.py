"""The risk: who could be recognised, by which columns, and what an intruder would find."""

from celosia.studio.pages.risk.routes import PAGE

__all__ = ["PAGE"]
