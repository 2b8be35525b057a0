"""The consent pages as text: Jinja templates in three languages, without scripts."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from celosia.consent.rules import LANGUAGES, Catalogue, spoken
from celosia.consent.store import Preferences

if TYPE_CHECKING:
    import jinja2

FEWEST = 5
"""Smaller counts are withheld on the administrator's page."""


@functools.cache
def words(language: str) -> dict[str, str]:
    """The words of the pages in a language."""
    return tomllib.loads((resources.files("celosia.consent") / "words" / f"{language}.toml").read_text("utf-8"))


def preferred(asked: str | None, cookie: str | None, header: str) -> str:
    """The language to use: asked for, remembered, or the first of the browser's that there is.

    >>> preferred(None, None, "fr, ca;q=0.8, en;q=0.5"), preferred("es", "ca", "en"), preferred(None, None, "")
    ('ca', 'es', 'en')
    """
    listed = [part.split(";")[0].strip().lower()[:2] for part in header.split(",")]
    return next((one for one in (asked, cookie, *listed) if one in LANGUAGES), "en")


class Pages:
    """Everything the pages need to be drawn."""

    def __init__(self, catalogue: Catalogue, store: Preferences) -> None:
        self._catalogue, self._store = catalogue, store

    def sign_in(self, language: str, problem: str = "", done: str = "") -> str:
        """How to sign in, after a refusal with the reason."""
        return self._draw("sign_in", language, problem=problem, done=done)

    def link(self, language: str, token: str) -> str:
        """The page of a link: a button, since programs that look into mail open links too."""
        return self._draw("link", language, token=token)

    def choices(self, owner: str, form: str, language: str, *, saved: bool = False) -> str:
        """The inferences with what the owner chose."""
        items = []
        for one, choice in zip(
            self._catalogue.inferences, self._store.choices(owner, self._catalogue.ids()), strict=True
        ):
            items.append(
                {
                    "id": one.id,
                    "sentence": one.sentence(language),
                    "example": spoken(one.example, language) if one.example else "",
                    "block": choice.block,
                    "at": choice.at[:16].replace("T", " "),
                }
            )
        names = {item["id"]: item["sentence"] for item in items}
        history = [
            {**row, "sentence": names.get(row["inference"], row["inference"]), "at": row["at"][:16].replace("T", " ")}
            for row in reversed(self._store.history(owner))
        ]
        default = "default_block" if self._store.default else "default_allow"
        return self._draw(
            "choices", language, items=items, owner=owner, form=form, saved=saved, history=history, default=default
        )

    def admin(self, form: str, language: str) -> str:
        """Inferences, rules and counts; nobody's own choice."""
        counts = self._store.counts(self._catalogue.ids())
        rows = []
        for one in self._catalogue.inferences:
            shown = {key: _counted(value) for key, value in counts[one.id].items()}
            rows.append(
                {
                    "id": one.id,
                    "sentence": one.sentence(language),
                    "category": self._catalogue.taxonomy.get(one.category or "", ""),
                    "rules": len(one.rules),
                    "active": sum(rule.active for rule in one.rules),
                    "elements": sum(rule.size() for rule in one.rules),
                    **shown,
                }
            )
        trail = self._store.trail(50)
        default = "default_block" if self._store.default else "default_allow"
        owners = self._store.count()
        return self._draw("admin", language, rows=rows, trail=trail, form=form, owners=owners, default=default)

    def questions(self, language: str, group: str = "", *, done: bool = False) -> str:
        """The questionnaire on how private things are."""
        from celosia.consent import questionnaire as q

        known = q.keys()
        classes = [
            (self._catalogue.taxonomy.get(c, c), [(f"item:{c}:{i}", t) for i, t in enumerate(texts)])
            for c, texts in q.ITEMS.items()
        ]
        trust = [(key, text) for key, (text, _, _) in known.items() if key.startswith("trust")]
        return self._draw(
            "questions",
            language,
            group=group,
            done=done,
            classes=classes,
            trust=trust,
            trust_words=q.TRUST,
            private_words=q.PRIVATE,
        )

    def _draw(self, name: str, language: str, **values: Any) -> str:
        return (
            _environment()
            .get_template(f"{name}.html.j2")
            .render(
                w=words(language),
                code=language,
                languages={code: words(code)["language"] for code in LANGUAGES},
                **values,
            )
        )


def styles() -> str:
    """The style sheet of the pages."""
    return (resources.files("celosia.consent") / "templates" / "style.css").read_text("utf-8")


def same_words() -> Mapping[str, set[str]]:
    """The keys of each language, for the test that they are the same."""
    return {code: set(words(code)) for code in LANGUAGES}


def _counted(n: int) -> str:
    return f"< {FEWEST}" if 0 < n < FEWEST else str(n)


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    loader = jinja2.PackageLoader("celosia.consent", "templates")
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
