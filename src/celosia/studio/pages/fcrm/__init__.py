"""The playground of fuzzy c-regression: points, regressions that find their clusters, and what they lose and tell."""

from celosia.studio.pages.fcrm.routes import PAGE

__all__ = ["PAGE"]
