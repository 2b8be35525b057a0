"""Three languages say the same things with the same blanks to fill."""

from __future__ import annotations

import re

import pytest

from celosia.show.look import LANGUAGES
from celosia.studio.pages import pages
from celosia.studio.wording import words


def flat(words, place=""):
    return {
        key: value
        for name, inner in words.items()
        for key, value in (
            flat(inner, f"{place}{name}.").items() if isinstance(inner, dict) else [(f"{place}{name}", inner)]
        )
    }


@pytest.mark.parametrize("page", ["", *pages()])
def test_every_sentence_is_there_in_every_language(page):
    english = flat(words("en", page))
    for language in LANGUAGES[1:]:
        other = flat(words(language, page))
        assert set(other) == set(english), language
        for key, sentence in other.items():
            assert sentence.strip() or not english[key].strip(), f"{language} {key}"
            assert re.findall(r"{\w+}", sentence) == re.findall(r"{\w+}", english[key]) or sorted(
                re.findall(r"{\w+}", sentence)
            ) == sorted(re.findall(r"{\w+}", english[key])), f"{language} {key}"
