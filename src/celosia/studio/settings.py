"""Forms for simple sections of a policy, and the settings that no page shows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from celosia.errors import UnknownName
from celosia.parts import grammar
from celosia.release.policy.sections import About, History, Output, Run
from celosia.studio import forms, toml_edit
from celosia.studio.studio import Page

SECTIONS: dict[str, type[BaseModel]] = {"about": About, "output": Output, "history": History, "run": Run}
ON_OTHER_PAGES = {"run": ("without",)}
"""Settings of these sections that another page edits."""
SECRET = {"run.seed"}
FORMS = tuple(
    f"{section}.{name}"
    for section, cls in SECTIONS.items()
    for name in cls.model_fields
    if name not in ON_OTHER_PAGES.get(section, ())
)
"""Settings shown in these forms; extra options of a section are not included."""


def fields(text: str, section: str) -> list[forms.Field]:
    """Return the form fields of a section."""
    shown = forms.fields(_section(section), toml_edit.get(text, (section,), {}), prefix=f"{section}.")
    return [field for field in shown if field.name.removeprefix(f"{section}.") not in ON_OTHER_PAGES.get(section, ())]


def save_section(text: str, section: str, sent: forms.Submitted) -> str:
    """Return the policy text with a section as sent by its form; settings outside the form stay."""
    cls = _section(section)
    values = forms.read(cls, sent, f"{section}.")
    for name in cls.model_fields:
        if name in ON_OTHER_PAGES.get(section, ()):
            continue
        place = (section, name)
        text = toml_edit.set_value(text, place, values[name]) if name in values else toml_edit.drop(text, place)
    return text


def hidden_settings(text: str, pages: Iterable[Page]) -> list[tuple[str, str]]:
    """Return the settings that no page shows, with their values; they stay in the file and apply.

    >>> page = Page("data", 1, "job", lambda *_: None, ("input.path",))
    >>> hidden_settings('[input]\\npath = "a.csv"\\nseparator = ";"', [page])
    [('input.separator', '";"')]
    """
    shown = [place for page in pages for place in page.shows]
    return [
        (place, "•••" if place in SECRET else grammar.show(value))
        for place, value in _leaves(tomllib.loads(text), "")
        if not any(place == each or place.startswith(f"{each}.") for each in shown)
    ]


def _leaves(value: Mapping[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        here = f"{place}.{key}" if place else key
        if isinstance(inner, dict) and "use" not in inner:
            yield from _leaves(inner, here)
        else:
            yield here, inner


def _section(name: str) -> type[BaseModel]:
    if name not in SECTIONS:
        raise UnknownName.of("section", name, SECTIONS)
    return SECTIONS[name]
