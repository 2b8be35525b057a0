"""Texts of the gateway in three languages; numbers are written by :mod:`celosia.show.formats`."""

from __future__ import annotations

from typing import Any

from celosia.show.look import texts

Words = dict[str, Any]
"""Texts by key; a value is a text or a table of texts."""


def words(language: str) -> Words:
    """Return the texts of the pages and of the explanations."""
    return texts("celosia.gateway.site", language)
