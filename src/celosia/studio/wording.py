"""The words of the pages in three languages; numbers are written by :mod:`celosia.show.formats`."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from celosia.release.report.telling import words as report_words
from celosia.show.look import texts
from celosia.show.messages import translate


def words(language: str, page: str = "") -> dict[str, Any]:
    """The words that all pages share, or those of a page."""
    return texts(f"celosia.studio.pages.{page}" if page else "celosia.studio", language)


def translated(language: str, sentence: str, *, begins: bool = True) -> Markup:
    """A sentence of the library as a page shows it: translated where it can be, else marked as English.

    ``begins`` is whether it begins a sentence.

    >>> translated("es", "choose a file first.")
    Markup('Elija antes un fichero.')
    >>> translated("es", "no file 'a.csv'.")
    Markup('<span lang="en">No file &#39;a.csv&#39;.</span>')
    """
    foreign = None
    if language != "en":
        foreign = translate(sentence, language)
        foreign = foreign or report_words(language)["guard_of"].get(sentence)
    shown = foreign or sentence
    shown = shown[:1].upper() + shown[1:] if begins else shown
    return Markup("{}").format(shown) if foreign or language == "en" else _english(shown)


def _english(text: str) -> Markup:
    return Markup('<span lang="en">{}</span>').format(text)
