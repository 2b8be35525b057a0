"""The plain sections of a policy as forms, and the settings that no page shows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from celosia.errors import UnknownName
from celosia.parts import grammar
from celosia.release.policy.sections import About, History, Output, Run
from celosia.studio import editing, forms
from celosia.studio.studio import Page

SECTIONS: dict[str, type[BaseModel]] = {"about": About, "output": Output, "history": History, "run": Run}
ELSEWHERE = {"run": ("without",)}
"""Settings of these sections that another page shows."""
SECRET = {"run.seed"}
FORMS = tuple(
    f"{section}.{name}"
    for section, cls in SECTIONS.items()
    for name in cls.model_fields
    if name not in ELSEWHERE.get(section, ())
)
"""The settings that these forms show: of a section that takes further options, those have none."""


def fields(text: str, section: str) -> list[forms.Field]:
    """The form of a section."""
    shown = forms.form(_section(section), editing.get(text, (section,), {}), prefix=f"{section}.")
    return [field for field in shown if field.name.removeprefix(f"{section}.") not in ELSEWHERE.get(section, ())]


def saved(text: str, section: str, sent: Mapping[str, Any]) -> str:
    """The policy with a section as a form sent it; what the form does not show stays."""
    cls = _section(section)
    values = forms.read(cls, sent, f"{section}.")
    for name in cls.model_fields:
        if name in ELSEWHERE.get(section, ()):
            continue
        place = (section, name)
        text = editing.put(text, place, values[name]) if name in values else editing.drop(text, place)
    return text


def kept_as_is(text: str, pages: Iterable[Page]) -> list[tuple[str, str]]:
    """The settings that no page shows, with their values: they stay in the file as they are, and hold.

    >>> page = Page("data", 1, "job", lambda *_: None, ("input.path",))
    >>> kept_as_is('[input]\\npath = "a.csv"\\nseparator = ";"', [page])
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
