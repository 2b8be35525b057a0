"""Query: differentially private answers from the gateway, with its ledger and budget."""

from celosia.studio.pages.query.routes import PAGE

__all__ = ["PAGE"]
