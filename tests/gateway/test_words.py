"""Every text of the gateway's pages is there in every language, and every refusal has its translation."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes

import celosia.gateway
from celosia.errors import InputError, Message, UnknownName
from celosia.gateway.site.refusals import translate_refusal
from celosia.gateway.site.translations import words
from celosia.show.look import LANGUAGES
from celosia.show.messages import catalogue, translate

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
ASKING = ("gateway.py", "noise.py", "metadata.py", "site/site.py", "site/view.py")
NOT_SHOWN = {
    "there is no file {}.",
    "cannot read the data set {}: {}.",
    "{} is not a TOML file: {}.",
    "the declaration of the data set is wrong at {}: {}.",
}
"""Messages at the start of the gateway, before anybody can visit it."""


def templates():
    """Return the template of every message with which a query can be refused; an f-string has none."""
    for path in sorted({*(ROOM / "sql").glob("*.py"), *(ROOM / name for name in ASKING)}):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                name = node.func.id
                if (
                    name in RAISED
                    or name == "Message"
                    or (name == "InputError" and str(path.relative_to(ROOM)) in ASKING)
                ):
                    if isinstance(node.args[0], ast.Constant):
                        yield node.args[0].value
                    elif isinstance(node.args[0], ast.JoinedStr):
                        yield "".join(
                            part.value if isinstance(part, ast.Constant) else "{}" for part in node.args[0].values
                        )
        if path.name == "expressions.py":
            (hints,) = [
                node.value
                for node in ast.walk(ast.parse(path.read_text("utf-8")))
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HINTS"
            ]
            yield from (value.value for value in hints.values)


TEMPLATES_OF_REFUSALS = sorted(set(templates()) - NOT_SHOWN)


def test_the_templates_are_found():
    assert len(TEMPLATES_OF_REFUSALS) > 90


@pytest.mark.parametrize("language", OTHERS)
def test_every_refusal_has_its_translation(language):
    assert [text for text in TEMPLATES_OF_REFUSALS if text not in catalogue(language)] == []


def test_the_languages_translate_the_same_messages_with_the_same_parameters():
    spanish, catalan = (catalogue(code) for code in OTHERS)
    assert list(spanish) == list(catalan)
    for listed in (spanish, catalan):
        assert [key for key, text in listed.items() if set(blanks(key)) != set(blanks(text))] == []


@pytest.mark.parametrize("template", TEMPLATES_OF_REFUSALS)
def test_a_message_with_parameters_is_translated(template):
    parameters = dict.fromkeys(blanks(template), 7.5 if ":" in template else "x 7")
    message = Message(template, **parameters)
    for language in OTHERS:
        text = translate(message, language)
        assert text != message
        assert "{" not in text
        assert all(str(value) in text for value in parameters.values())


def test_parameters_that_are_messages_are_translated_too():
    assert translate_refusal(UnknownName.of("table in this data set", "vist", ["visit", "visits"]), "ca").text.endswith(
        "Volíeu dir 'visit' o 'visits'?"
    )


def test_what_a_user_typed_is_not_translated():
    refusal = UnknownName.of("table in this data set", "ledger", [])
    assert "'ledger'" in translate_refusal(refusal, "es").text


def test_a_message_without_translation_is_marked_as_english():
    assert translate_refusal(InputError("Something new."), "es") == ("Something new.", "en")
    assert translate_refusal(InputError("Something new."), "en") == ("Something new.", "")


def test_no_translated_message_has_gone_from_the_source():
    source = "".join(
        str(node.value)
        for path in ROOM.parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    composed = {"boolean or null", "number or null", "text or null", "date or null"}
    assert [text for text in catalogue("es") if text not in source and text not in composed] == []
