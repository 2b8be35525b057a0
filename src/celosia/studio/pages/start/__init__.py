"""Start: create a project, or show its state."""

from celosia.studio.pages.start.routes import PAGE

__all__ = ["PAGE"]
