"""The first page: how a project begins, and where it stands."""

from celosia.studio.pages.start.routes import PAGE

__all__ = ["PAGE"]
