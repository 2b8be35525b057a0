"""Release: findings of the guard, report, certificate, files and verification."""

from celosia.studio.pages.release.routes import PAGE

__all__ = ["PAGE"]
