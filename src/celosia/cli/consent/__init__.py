"""``celosia consent``: inference rules, preferences of data owners, publication requests."""

from celosia.cli.consent import owners, request, rules  # defining a command adds it
from celosia.cli.consent.application import consent_app

__all__ = ["consent_app", "owners", "request", "rules"]
