"""What each part is, in the three languages of the report: derived from the catalogue, so that none is forgotten."""

from __future__ import annotations

import re

import pytest

from celosia.parts import find, kinds, parts, summary
from celosia.release.report.texts import description, title, words
from celosia.show.look import LANGUAGES

KINDS = ("model", "risk", "attack", "loss", "method", "mechanism")
TRANSLATED = tuple(language for language in LANGUAGES if language != "en")


def own(kind):
    """The parts of Celosia itself; other packages bring theirs in English."""
    return {name: cls for name, cls in parts(kind).items() if cls.__module__.startswith("celosia.")}


EVERY = [
    (kind, name)
    for kind in KINDS
    for name in own(kind)
    if all(name in words(language)["meanings"].get(kind, {}) for language in TRANSLATED)
]
"""The parts that are translated; ``python tools/translations.py`` lists the others, which are shown in English."""


def test_only_hierarchies_are_not_told_in_a_report():
    assert set(kinds()) - {"hierarchy"} == set(KINDS)


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("kind", KINDS)
def test_only_parts_are_translated(language, kind):
    told = set(words(language)["meanings"][kind])
    assert sorted(told - set(own(kind))) == [], "sentences about parts that are no more"


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_part_is_told_in_one_plain_sentence_of_each_language(kind, name):
    told = {language: description(find(kind, name), words(language)) for language in LANGUAGES}
    for text in told.values():
        assert text.endswith(".")
        assert text[0].isupper()
        assert not re.search(r"`|:math:|\\", text), "markup would be seen in the report"
        assert 20 < len(text) < 200
    assert len(set(told.values())) == len(LANGUAGES), "each language has its own words"


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_short_names_of_the_field_and_figures_are_kept(kind, name):
    def kept(text):
        return set(re.findall(r"\b\w*[A-Z]{2,}\w*\b|\d+ %|\[0, 1\]", text))

    english = kept(summary(find(kind, name)))
    for language in TRANSLATED:
        assert kept(description(find(kind, name), words(language))) == english


def test_a_name_that_two_kinds_share_is_told_by_its_kind():
    for language in LANGUAGES:
        w = words(language)
        assert description(find("method", "randomised-response"), w) != description(
            find("mechanism", "randomised-response"), w
        )


def test_a_part_without_a_translation_is_shown_in_english():
    untranslated = {language: words(language) | {"meanings": {}, "names": {}} for language in LANGUAGES}
    cls = find("model", "k-anonymity")
    for w in untranslated.values():
        assert description(cls, w) == summary(cls).replace("``", "")
        assert title(cls, w) == "k-anonymity"
