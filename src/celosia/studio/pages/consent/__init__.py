"""The publisher's side of consent: the catalogue of inferences, and the way to the console that edits it."""

from celosia.studio.pages.consent.routes import PAGE

__all__ = ["PAGE"]
