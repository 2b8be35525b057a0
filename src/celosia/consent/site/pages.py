"""Consent pages from Jinja templates in three languages, without scripts."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from celosia.consent.owners.store import Preferences
from celosia.consent.publication.edition import FEWEST
from celosia.consent.rules.rules import LANGUAGES, Catalogue, translation
from celosia.errors import InputError
from celosia.show.look import texts, tokens

if TYPE_CHECKING:
    import jinja2


def words(language: str) -> dict[str, Any]:
    """Return the texts of the pages in a language."""
    return texts("celosia.consent", language)


class LocalText(NamedTuple):
    """Text with its language, which is empty for that of the page."""

    text: str
    language: str = ""


def local_text(sentences: Mapping[str, str], language: str) -> LocalText:
    """Return a sentence for a page, with its language for screen readers if it is another one.

    >>> local_text({"en": "Find out where I live"}, "ca")
    LocalText(text='Find out where I live', language='en')
    """
    text = translation(sentences, language)
    code = next((code for code, sentence in sentences.items() if sentence == text), "")
    return LocalText(text, "" if sentences.get(language) == text else code)


def day(at: str, language: str) -> str:
    """Format a time for people.

    >>> day("2026-04-03T09:05:00.000000Z", "ca")
    "3 d'abril de 2026, 09:05 (UTC)"
    """
    w, (year, month, number) = words(language), at[:10].split("-")
    return str(w["date"]).format(day=int(number), month=w["months"][int(month) - 1], year=year, time=at[11:16])


MAX_CHARACTERS = 200


@dataclass(frozen=True)
class About:
    """Organisation that stores the choices, and its contact: a mail or web address, or any text. Both may be empty.

    >>> About("Registry", "privacy@example.org").address
    'mailto:privacy@example.org'
    """

    organisation: str = ""
    contact: str = ""

    def __post_init__(self) -> None:
        for name, text in (("organisation", self.organisation), ("contact", self.contact)):
            if len(text) > MAX_CHARACTERS or not text.isprintable():
                raise InputError(f"the {name} is a line of at most {MAX_CHARACTERS} printable characters.")

    @property
    def address(self) -> str:
        """Target of a link to the contact; empty if it is no address."""
        if re.fullmatch(r"[^\s@/:?&]+@[^\s@/:?&]+", self.contact):
            return f"mailto:{self.contact}"
        return self.contact if re.fullmatch(r"https?://\S+", self.contact) else ""


NO_CONTACT = About()


class Pages:
    """Pages of data subjects as HTML."""

    def __init__(self, catalogue: Catalogue, store: Preferences, about: About = NO_CONTACT) -> None:
        self._catalogue, self._store, self._about = catalogue, store, about

    def _draw(self, name: str, language: str, here: str = "?", **values: object) -> str:
        return draw(name, language, here, self._about, **values)

    def sign_in(self, language: str, done: str = "") -> str:
        """Render the page about signing in."""
        return self._draw("sign_in", language, done=done)

    def refusal(self, language: str, why: str, back: str = "/") -> str:
        """Render a refusal with its reason and a link back."""
        there = urlencode({"why": why, "back": back})
        return self._draw("refused", language, f"/refused?{there}&", why=why, back=back)

    def link(self, language: str, token: str) -> str:
        """Render the page of a sign-in link: a button, since programs that scan mail open links too."""
        return self._draw("link", language, token=token)

    def choices(self, owner: str, form: str, language: str, *, saved: bool = False) -> str:
        """Render the inferences with the choices of an owner."""
        chosen = self._store.choices(owner, self._catalogue.ids())
        items = [
            {
                "id": inference.id,
                "sentence": local_text(inference.description, language),
                "example": local_text(inference.example, language) if inference.example else None,
                "block": choice.block,
                "at": choice.at,
            }
            for inference, choice in zip(self._catalogue.inferences, chosen, strict=True)
        ]
        names = {item["id"]: item["sentence"] for item in items}
        history = [
            {**row, "sentence": names.get(row["inference"], LocalText(row["inference"]))}
            for row in reversed(self._store.history(owner))
        ]
        meaning = "block" if self._store.default else "allow"
        values = {"items": items, "owner": owner, "form": form, "saved": saved, "history": history, "meaning": meaning}
        return self._draw("choices", language, "?saved=1&" if saved else "?", **values)

    def questions(self, language: str, group: str = "", *, done: bool = False, signed: bool = False) -> str:
        """Render the questionnaire."""
        from celosia.consent.owners.questionnaire import class_names, questions

        asked = questions()
        classes = {
            self.class_name(category, language): {k: q for k, q in asked.items() if q.category == category}
            for category in class_names()
        }
        trust = {key: question for key, question in asked.items() if not question.category}
        kept = {"group": group} if group else {}
        here = f"?{urlencode(kept | ({'done': '1'} if done else {}))}&"
        values = {"group": group, "done": done, "signed": signed, "least": FEWEST}
        return self._draw("questions", language, here, classes=classes, trust=trust, **values)

    def class_name(self, category: str, language: str) -> LocalText:
        """Return the name of a class of the taxonomy, translated unless the catalogue renames it."""
        from celosia.consent.owners.questionnaire import class_names

        translations = class_names().get(category, {})
        named = self._catalogue.taxonomy.get(category, translations.get("en", category))
        return local_text(translations, language) if named == translations.get("en") else LocalText(named)


def draw(name: str, language: str, here: str = "?", about: About = NO_CONTACT, /, **values: object) -> str:
    """Render a template; ``here`` is the address of the page for links to other languages."""
    switch = {code: (words(code)["language"], f"{here}lang={code}") for code in LANGUAGES}
    page = _environment().get_template(f"{name}.html.j2")
    keeper = about.organisation or words(language)["organisation"]
    return page.render(w=words(language), code=language, switch=switch, day=day, about=about, keeper=keeper, **values)


def styles() -> str:
    """Return the style sheet of the pages."""
    return tokens() + (resources.files("celosia.consent") / "templates" / "style.css").read_text("utf-8")


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    loader = jinja2.PackageLoader("celosia.consent", "templates")
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
