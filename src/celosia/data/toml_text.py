"""How TOML is written: values, tables and lists of tables with comments, whoever writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import AoT, Array, Item, Table


def inline(value: Any) -> Item:
    """A plain value on one line; tables are inline ones, an entry that is None is left out.

    >>> inline({"use": "intervals", "width": 5, "breaks": [1, 2.5], "a b": True}).as_string()
    '{use = "intervals", width = 5, breaks = [1, 2.5], "a b" = true}'
    """
    import tomlkit

    if isinstance(value, Mapping):
        written = tomlkit.inline_table()
        for key, each in value.items():
            if each is not None:
                written.append(str(key), inline(each))
        return written
    if isinstance(value, list | tuple):
        listed = tomlkit.array()
        for each in value:
            listed.append(inline(each))
        return listed
    return tomlkit.item(value if isinstance(value, bool | int | float) else str(value))


def table(entries: Mapping[str, Any], reasons: Mapping[str, str] | None = None, about: Iterable[str] = ()) -> Table:
    """A table, one line per entry: what it is about first, and the reason of an entry beside it."""
    import tomlkit

    section = tomlkit.table()
    add_comments(section, about)
    for key, value in entries.items():
        if value is None:
            continue
        written = inline(value)
        if reasons and reasons.get(key):
            written.comment(one_line(reasons[key]))
        section.add(str(key), written)
    return section


def tables(entries: Iterable[Mapping[str, Any] | Table]) -> AoT:
    """A list of tables: ``[[step]]`` and the like."""
    import tomlkit

    listed = tomlkit.aot()
    for entry in entries:
        listed.append(entry if isinstance(entry, tomlkit.items.Table) else table(entry))
    return listed


def column(values: Mapping[str, str]) -> Array:
    """A list of texts, one per line with its reason beside it."""
    import tomlkit

    listed = tomlkit.array()
    for value, reason in values.items():
        listed.add_line(value, indent="  ", comment=one_line(reason))
    listed.add_line(indent="")
    return listed


def add_comments(place: TOMLDocument | Table, lines: Iterable[str]) -> None:
    """Add lines of comment; an empty one is an empty line."""
    import tomlkit

    for line in lines:
        place.add(tomlkit.comment(one_line(line)) if line else tomlkit.nl())


def one_line(text: str) -> str:
    """A text without control characters, as a comment must be."""
    return re.sub(r"[\x00-\x1f\x7f]+", " ", text)


def steps_text(steps: Iterable[Mapping[str, Any]]) -> str:
    """Methods as the steps of a policy.

    >>> print(steps_text([{"use": "noise", "columns": ["age"], "p": 0.2}]), end="")
    [[step]]
    use = "noise"
    columns = ["age"]
    p = 0.2
    """
    import tomlkit

    document = tomlkit.document()
    document.add("step", tables(steps))
    return tomlkit.dumps(document)
