"""Consent: the catalogue of inferences, and a link to the publisher's console that edits it."""

from celosia.studio.pages.consent.routes import PAGE

__all__ = ["PAGE"]
