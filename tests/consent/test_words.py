"""Every text of the consent pages is there in every language, and none is left in English."""

from __future__ import annotations

import re
import string
import tomllib
from html.parser import HTMLParser
from importlib import resources

import jinja2
import pytest
from jinja2 import nodes

from celosia.consent.owners.questionnaire import answer, class_names, questions
from celosia.consent.owners.store import Preferences
from celosia.consent.rules.rules import LANGUAGES, read_toml
from celosia.consent.site.overview import Overview
from celosia.consent.site.pages import Pages, words

PLACE = resources.files("celosia.consent")
TEMPLATES = [
    one for one in (PLACE / "templates").iterdir() if one.name.endswith(".j2") and "publication" not in one.name
]
SAME = {"Personal"}
"""Words that are written alike in English and another language."""
OTHERS = [code for code in LANGUAGES if code != "en"]


def flat(value, name=""):
    """Texts by the path of their keys."""
    if isinstance(value, str):
        return {name: value}
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return {path: text for key, one in pairs for path, text in flat(one, f"{name}.{key}".lstrip(".")).items()}


def placeholders(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", OTHERS)
def test_the_languages_say_the_same_things(language):
    english, other = flat(words("en")), flat(words(language))
    assert list(other) == list(english)
    assert [key for key, text in other.items() if not text.strip()] == []
    assert [key for key, text in other.items() if placeholders(text) != placeholders(english[key])] == []
    left = [key for key, text in other.items() if text.casefold() == english[key].casefold() and text not in SAME]
    assert left == [], "left in English"


def test_the_questionnaire_is_there_in_every_language():
    found = tomllib.loads((PLACE / "words" / "questionnaire.toml").read_text("utf-8"))
    assert set(found) == {"private", "trust", "entity", "class", "item"}
    texts = [*class_names().values(), *(q.text for q in questions().values())]
    texts += [text for q in questions().values() for text in q.scale.values()]
    assert len(questions()) == 49
    for text in texts:
        assert set(text) == set(LANGUAGES)
        assert all(one.strip() == one != "" for one in text.values())
        assert [one for code, one in text.items() if code != "en" and one == text["en"] and one not in SAME] == []
    assert set(found["class"]) == set(found["item"]) == set(class_names())
    for language in LANGUAGES:
        for category in class_names():
            asked = [q.sentence(language) for q in questions().values() if q.category == category]
            assert len(set(asked)) == len(asked), "two questions of a class read alike"


def used(template):
    """The keys of words that a template names, and the openings of those that it puts together."""
    keys, openings = set(), set()
    tree = jinja2.Environment().parse(template.read_text("utf-8"))
    for node in tree.find_all((nodes.Getattr, nodes.Getitem)):
        if not (isinstance(node.node, nodes.Name) and node.node.name == "w"):
            continue
        if isinstance(node, nodes.Getattr):
            keys.add(node.attr)
        elif isinstance(node.arg, nodes.Concat):
            openings.add(node.arg.nodes[0].value)
    return keys, openings


def test_templates_name_words_that_there_are_and_no_word_is_idle():
    named, openings = set(), set()
    for template in TEMPLATES:
        keys, some = used(template)
        for language in LANGUAGES:
            missing = sorted(key for key in keys if key not in words(language))
            assert missing == [], f"{template.name} in {language}"
            assert all({f"{o}block", f"{o}allow"} <= set(words(language)) for o in some), template.name
        named |= keys
        openings |= some
    assert len(named) > 50
    assert openings == {"default_", "open_", "admin_"}
    code = "".join(one.read_text("utf-8") for one in (PLACE / "site").iterdir() if one.name.endswith(".py"))
    refusals = set(re.findall(r'"(refused_\w+)"', code))
    assert refusals | {"refused_title"} == {key for key in words("en") if key.startswith("refused_")}
    quoted = set(re.findall(r'"(\w+)"', code)) | {o + m for o in openings for m in ("block", "allow")}
    assert sorted(set(words("en")) - named - quoted) == [], "words that no page says"


def test_templates_hold_no_text_of_their_own():
    for template in TEMPLATES:
        text = template.read_text("utf-8")
        bare = re.sub(r"\{[%{].*?[%}]\}", "", text, flags=re.DOTALL)
        assert re.findall(r'(?:aria-label|title|alt|placeholder)="[^"]*[^\W\d_]', bare) == [], template.name
        assert re.findall(r"[^\W\d_]+", re.sub(r"<[^>]*>", "", bare)) == [], template.name


class Text(HTMLParser):
    """The texts that a page shows, without code and without what is marked as being in another language."""

    def __init__(self, page):
        super().__init__()
        self.found, self._open = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link", "input", "br"):
            self._open.append(tag if tag == "code" or (tag != "html" and "lang" in dict(attrs)) else "")
        self.found |= {v for k, v in attrs if k in ("aria-label", "title", "alt") and v}

    def handle_endtag(self, tag):
        self._open.pop()

    def handle_data(self, data):
        if not any(self._open) and data.strip():
            self.found.add(data.strip().rstrip(":"))


@pytest.fixture
def shown(tmp_path, students):
    """Every page with everything it can show, by language."""
    store = Preferences.create(tmp_path / "c.db")
    store.add_owners([f"B{i}" for i in range(40)])
    store.choose("B1", {"residence": True, "timetable": False}, ["residence", "timetable"])
    for default in (True, False):
        store.set_default(block=default)
    store.note("publication", "publisher", "2 inferences, 31 rows marked")
    store.note("import", "import", "21 choices")
    store.forget("B2")
    for i in range(6):
        answer(store, {"item:titles:0": i % 5, "trust:1": 2}, "A" if i else "", owner=f"X{i}")
    for i in range(6):
        answer(store, {"item:titles:0": i % 5}, owner=f"Y{i}")
    catalogue = read_toml(students.CATALOGUE)
    pages, overview = Pages(catalogue, store), Overview(catalogue, store)

    def every(language):
        refusals = [key for key in words("en") if key.startswith("refused_") and key != "refused_title"]
        yield from (pages.refusal(language, why, back) for why in refusals for back in ("/", "/questions"))
        yield from (pages.sign_in(language, done) for done in ("", "forgotten", "ended"))
        yield from (pages.choices(owner, "f", language, saved=True) for owner in ("B1", "B3"))
        yield from (pages.questions(language, done=done) for done in (True, False))
        yield pages.questions(language, signed=True)
        yield from (pages.link(language, "t"), overview.inferences("f", language), overview.answers("f", language))

    yield lambda language: set().union(*(Text(page).found for page in every(language)))
    store.close()


def test_no_page_shows_english_where_another_language_is_asked_for(shown):
    english = set(flat(words("en")).values()) | {q.sentence("en") for q in questions().values()}
    english |= {name["en"] for name in class_names().values()} | {
        a for q in questions().values() for a in q.answers().values()
    }
    names = {words(code)["language"] for code in LANGUAGES}
    said = shown("en")
    assert len(said & english) > 150, "the texts are found where they are"
    kinds = {"default", "import", "deletion", "publication", "owner", "publisher", "rows", "choices", "inferences"}
    for language in OTHERS:
        found = shown(language)
        assert sorted(found & english - names - SAME) == []
        assert [text for text in found if kinds & set(re.findall(r"\w+", text))] == []
        assert len(found) > 150
