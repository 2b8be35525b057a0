"""Compare: explore candidates between risk and loss, and show any two of them side by side."""

from celosia.studio.pages.compare.routes import PAGE

__all__ = ["PAGE"]
