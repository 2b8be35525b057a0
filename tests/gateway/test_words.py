"""Every text of the gateway's pages is there in every language, and every refusal has its translation."""

from __future__ import annotations

import ast
import re
import string
from importlib import resources
from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes

import celosia.gateway
from celosia.gateway.site.refusals import translated
from celosia.gateway.site.wording import words
from celosia.show.look import LANGUAGES, texts

ROOM = Path(celosia.gateway.__file__).parent
TEMPLATES = sorted((ROOM / "site" / "templates").glob("*.j2"))
OTHERS = [code for code in LANGUAGES if code != "en"]
SAME = {"text"}
"""Words that are written alike in English and another language."""


def flat(value, name=""):
    if isinstance(value, str):
        return {name: value}
    return {path: text for key, one in value.items() for path, text in flat(one, f"{name}.{key}".lstrip(".")).items()}


def blanks(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("language", OTHERS)
def test_the_languages_say_the_same_things(language):
    english, other = flat(words("en")), flat(words(language))
    assert list(other) == list(english)
    assert [key for key, text in other.items() if blanks(text) != blanks(english[key])] == []
    left = [key for key, text in other.items() if text.casefold() == english[key].casefold() and text not in SAME]
    assert left == [], "left in English"


def test_templates_name_words_that_there_are_and_no_word_is_idle():
    named = set()
    for template in TEMPLATES:
        tree = jinja2.Environment().parse(template.read_text("utf-8"))
        for node in tree.find_all(nodes.Getattr):
            if isinstance(node.node, nodes.Name) and node.node.name == "w":
                named.add(node.attr)
    assert len(named) > 40
    assert sorted(named - set(words("en"))) == []
    code = "".join(path.read_text("utf-8") for path in ROOM.rglob("*.py"))
    quoted = set(re.findall(r'["\'](\w+)["\']', code))
    assert sorted(set(words("en")) - named - quoted) == [], "words that no page says"


def test_templates_hold_no_text_of_their_own():
    for template in TEMPLATES:
        bare = re.sub(r"\{[%{].*?[%}]\}", "", template.read_text("utf-8"), flags=re.DOTALL)
        assert re.findall(r'(?:aria-label|title|alt|placeholder)="(?!CSV)[^"]*[^\W\d_]', bare) == [], template.name
        assert set(re.findall(r"[^\W\d_]+", re.sub(r"<[^>]*>", "", bare))) <= {"CSV"}, template.name


# Refusals.

RAISED = ("Refused", "BudgetError", "NoAnswer", "Unavailable")
ASKING = ("gateway.py", "noising.py", "metadata.py", "site/site.py", "site/view.py")
NOT_SHOWN = {
    "there is no file {}.",
    "cannot read the data set {}: {}.",
    "{} is not a TOML file: {}.",
    "the declaration of the data set is wrong at {}: {}.",
}
"""What is said when the gateway starts, before anybody can visit it."""


def template(node):
    """The English form of a sentence in the source, with {} for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def sentences():
    """Every sentence with which a question can be refused."""
    for path in sorted({*(ROOM / "sql").glob("*.py"), *(ROOM / name for name in ASKING)}):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                name = node.func.id
                if name in RAISED or (name == "InputError" and str(path.relative_to(ROOM)) in ASKING):
                    yield template(node.args[0])
        if path.name == "expressions.py":
            (hints,) = [
                node.value
                for node in ast.walk(ast.parse(path.read_text("utf-8")))
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HINTS"
            ]
            yield from (value.value for value in hints.values)


SENTENCES = sorted({text for text in sentences() if text} - NOT_SHOWN)


def test_the_sentences_are_seen():
    assert len(SENTENCES) > 90


@pytest.mark.parametrize("language", OTHERS)
def test_every_refusal_has_its_translation(language):
    listed = texts("celosia.gateway.site", f"refusals.{language}")["sentences"]
    values = {"{} must be a {}, got {}.": "{} must be a number above 0, such as 0.1, got {}."}
    assert [text for text in SENTENCES if values.get(text, text) not in listed] == []
    assert [key for key, text in listed.items() if key.count("{}") != text.count("{}")] == []


def test_the_languages_translate_the_same_sentences():
    spanish, catalan = (texts("celosia.gateway.site", f"refusals.{code}")["sentences"] for code in OTHERS)
    assert list(spanish) == list(catalan)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_that_is_filled_in_is_recognised(sentence):
    filled = sentence.replace("{} must be a {}, got {}.", "epsilon must be a number above 0, such as 0.1, got {}.")
    while "{}" in filled:
        filled = filled.replace("{}", "'x 7.5'", 1)
    for language in OTHERS:
        other = translated(filled, language)
        assert other.language == "", f"{language}: {filled}"
        assert other.text != filled
        assert "{" not in other.text
        assert other.text.count("'x 7.5'") == filled.count("'x 7.5'")


def test_what_is_filled_in_is_translated_too():
    unknown = "unanswerable: no column 'agee' is declared for questions. Did you mean 'age' or 'ages'?"
    assert translated(unknown, "ca").text.endswith("Volíeu dir 'age' o 'ages'?")
    kept = "unanswerable: 'a or b' is not among the declared categories of this column. There are: F, M."
    assert "'a or b'" in translated(kept, "es").text, "what somebody typed stays as it is"


def test_a_sentence_without_translation_is_marked_as_english():
    assert translated("Something new.", "es") == ("Something new.", "en")
    assert translated("Something new.", "en") == ("Something new.", "")


def test_the_words_are_part_of_the_package():
    assert (resources.files("celosia.gateway.site") / "words" / "refusals.ca.toml").is_file()
