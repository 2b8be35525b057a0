"""FCRM playground: fuzzy c-regression on points, step by step, with loss and disclosure risk."""

from celosia.studio.pages.fcrm.routes import PAGE

__all__ = ["PAGE"]
