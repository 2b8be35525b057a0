"""The data: what the columns are, what they look like, which role each has and why."""

from celosia.studio.pages.data.routes import PAGE

__all__ = ["PAGE"]
