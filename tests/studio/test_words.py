"""Three languages say the same things with the same blanks to fill."""

from __future__ import annotations

import ast
import re

import pytest

from celosia.demo import prepare
from celosia.show.look import LANGUAGES
from celosia.show.messages import catalogue
from celosia.studio.pages import pages
from celosia.studio.project import Project
from celosia.studio.studio import HOME
from celosia.studio.translations import translate, words


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


def own_refusals():
    """The fixed sentences by which the studio refuses something."""
    for file in HOME.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                said = node.exc.args[0]
                kind = isinstance(node.exc.func, ast.Name) and isinstance(said, ast.Constant)
                if kind and isinstance(said.value, str) and " " in said.value:
                    yield said.value


def test_what_the_studio_itself_refuses_is_told_in_every_language():
    sentences = set(own_refusals())
    assert len(sentences) > 50
    for language in LANGUAGES[1:]:
        assert sentences <= set(catalogue(language)), language
        assert all("<" not in translate(language, sentence) for sentence in sentences)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    from tests.studio.conftest import Desk

    return Desk(Project(prepare(tmp_path_factory.mktemp("words") / "clinic", 120).parent))


@pytest.mark.parametrize(("language", "seen"), [("es", "valores que tienen menos de 3 personas"), ("ca", "valors que")])
def test_the_guard_speaks_the_language_of_the_page(clinic, language, seen):
    shown = clinic.get("/data/guard", language).text
    assert seen in shown
    assert "values that fewer" not in shown


def test_charts_write_numbers_as_the_language_does(clinic):
    """Of a hundred and twenty persons all are alone, so that the shares of the first page are whole numbers."""
    for address, written in (("/risk/overview", r">\d+ ?%<"), ("/compare/pair", r">\d+\.\d ?%<")):
        english, spanish = (clinic.get(address, language).text for language in ("en", "es"))
        assert re.search(written, english), address
        assert not re.search(r"\d\.\d\s?%", spanish), address


def test_a_sentence_in_english_is_marked_on_a_page_in_another_language(clinic):
    answer = clinic.post("/data/role", language="ca", column="agge", role="quasi")
    assert re.search(r'<div id="refusal".*<p><span lang="en">[^<]*agge', answer.text)
    assert 'lang="en"' not in clinic.post("/compare/apply", language="ca", index="0").text.partition("refusal")[2]
    assert 'lang="en">' not in clinic.post("/data/role", column="agge", role="quasi").text.partition("refusal")[2]
