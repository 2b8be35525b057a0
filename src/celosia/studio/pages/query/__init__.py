"""Questions about the data, answered with noise: the gateway with its ledger, and a budget that stays spent."""

from celosia.studio.pages.query.routes import PAGE

__all__ = ["PAGE"]
