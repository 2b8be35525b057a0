"""The words of the gateway in three languages; numbers are written by :mod:`celosia.show.formats`."""

from __future__ import annotations

from typing import Any

from celosia.show.look import texts


def words(language: str) -> dict[str, Any]:
    """The words of the pages and of the explanations."""
    return texts("celosia.gateway.site", language)
