"""The words of the pages in three languages; numbers are written by :mod:`celosia.show.wording`."""

from __future__ import annotations

from typing import Any

from celosia.show.look import texts


def words(language: str, page: str = "") -> dict[str, Any]:
    """The words that all pages share, or those of a page."""
    return texts(f"celosia.studio.pages.{page}" if page else "celosia.studio", language)
