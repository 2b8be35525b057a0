"""Protect: requirements, steps, a live preview on a sample, and the full run."""

from celosia.studio.pages.protect.routes import PAGE

__all__ = ["PAGE"]
