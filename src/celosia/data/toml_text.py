"""TOML items with comments: values, tables and lists of tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import AoT, Array, Item, Table


def inline(value: object) -> Item:
    """Build an item on one line; a mapping is an inline table, without entries that are None.

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


def table(entries: Mapping[str, object], reasons: Mapping[str, str] | None = None, about: Iterable[str] = ()) -> Table:
    """Build a table that begins with the comments ``about``; ``reasons`` are comments at the end of an entry."""
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


def tables(entries: Iterable[Mapping[str, object] | Table]) -> AoT:
    """Build an array of tables, such as ``[[step]]``."""
    import tomlkit

    listed = tomlkit.aot()
    for entry in entries:
        listed.append(entry if isinstance(entry, tomlkit.items.Table) else table(entry))
    return listed


def column(values: Mapping[str, str]) -> Array:
    """Build an array of texts, one per line with its reason as a comment."""
    import tomlkit

    listed = tomlkit.array()
    for value, reason in values.items():
        listed.add_line(value, indent="  ", comment=one_line(reason))
    listed.add_line(indent="")
    return listed


def add_comments(place: TOMLDocument | Table, lines: Iterable[str]) -> None:
    """Add lines of comments; an empty text is an empty line."""
    import tomlkit

    for line in lines:
        place.add(tomlkit.comment(one_line(line)) if line else tomlkit.nl())


def one_line(text: str) -> str:
    """Replace control characters by blanks, as they are not allowed in a comment."""
    return re.sub(r"[\x00-\x1f\x7f]+", " ", text)


def steps_text(steps: Iterable[Mapping[str, object]]) -> str:
    """Return the TOML of the steps of a policy.

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
