"""Texts of the pages in three languages; numbers are formatted by :mod:`celosia.show.formats`."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from celosia.release.report.texts import words as report_words
from celosia.show import messages
from celosia.show.look import texts


def words(language: str, page: str = "") -> dict[str, Any]:
    """Return the texts shared by all pages, or those of one page."""
    return texts(f"celosia.studio.pages.{page}" if page else "celosia.studio", language)


def translate(language: str, sentence: str, *, begins: bool = True) -> Markup:
    """Return a message of the library in a language, or marked as English if it has no translation.

    ``begins`` capitalises the first letter.

    >>> translate("es", "choose a file first.")
    Markup('Elija antes un fichero.')
    >>> translate("es", "no file 'a.csv'.")
    Markup('<span lang="en">No file &#39;a.csv&#39;.</span>')
    """
    foreign = None
    if language != "en":
        foreign = messages.translate(sentence, language)
        foreign = foreign or report_words(language)["guard_of"].get(sentence)
    shown = foreign or sentence
    shown = shown[:1].upper() + shown[1:] if begins else shown
    return Markup("{}").format(shown) if foreign or language == "en" else _mark_english(shown)


def _mark_english(text: str) -> Markup:
    return Markup('<span lang="en">{}</span>').format(text)
