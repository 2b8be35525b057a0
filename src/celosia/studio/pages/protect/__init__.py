"""Protect: what must hold, the steps that are done, a live preview on a sample, the full run."""

from celosia.studio.pages.protect.routes import PAGE

__all__ = ["PAGE"]
