"""Edits of a policy text that keep comments, order and unknown keys.

Each edit is a function from text to text; :meth:`celosia.studio.project.Project.change` validates the result. A place
in the file is a sequence of keys and positions: ``("schema", "kinds", "age")``, ``("step", 0, "k")``.
"""

from __future__ import annotations

import copy
import functools
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from celosia.data.schema import SINGLE, Role
from celosia.data.toml_text import inline, table
from celosia.errors import InputError

Place = Sequence[str | int]
TomlValue = Any
"""A value, table or document of TOML, plain or of tomlkit."""
Table = dict[str, TomlValue]
"""A TOML table as plain data, such as a part with its parameters."""
LISTS = {
    Role.IDENTIFIER: "identifiers",
    Role.QUASI: "quasi",
    Role.SENSITIVE: "sensitive",
    Role.INSENSITIVE: "insensitive",
}


def get(text: str, place: Place, default: TomlValue = None) -> TomlValue:
    """Return a copy of the value at a place, as plain data.

    >>> get('[schema]\\nquasi = ["age"]', ("schema", "quasi"))
    ['age']
    """
    here: TomlValue = _read(text)
    for key in place:
        try:
            here = here[key]
        except (KeyError, IndexError, TypeError):
            return default
    return copy.deepcopy(here)


@functools.lru_cache(maxsize=8)
def _read(text: str) -> Table:
    """Return the parsed policy; cached, because one page reads many values."""
    return tomllib.loads(text)


def set_value(text: str, place: Place, value: object) -> str:
    """Set a value and create missing tables on its path.

    >>> print(set_value('[input]\\npath = "a.csv" # mine\\n', ("schema", "quasi"), ["age"]), end="")
    [input]
    path = "a.csv" # mine
    <BLANKLINE>
    [schema]
    quasi = ["age"]
    """
    import tomlkit

    document = tomlkit.parse(text)
    here, last = _parent(document, place), place[-1]
    written = inline(value)
    if isinstance(last, str) and last in here and here[last] == value:
        return text
    if isinstance(last, str) and last not in here and hasattr(here, "add"):
        _add_key(here, last, written)
    else:
        here[last] = written
    return tomlkit.dumps(document)


def drop(text: str, place: Place) -> str:
    """Delete a value and the tables that become empty; a missing value is no error."""
    import tomlkit

    if get(text, place) is None:
        return text
    document = tomlkit.parse(text)
    for length in range(len(place), 0, -1):
        here = _parent(document, place[:length])
        if length == len(place) or not here[place[length - 1]]:
            del here[place[length - 1]]
    return tomlkit.dumps(document)


def append(text: str, name: str | Place, entry: TomlValue) -> str:
    """Append an entry to a list such as ``[[step]]``, ``[[require]]`` or ``("measure", "risks")``.

    >>> append('[measure]\\nrisks = ["prosecutor"]\\n', ("measure", "risks"), {"use": "marketer"})
    '[measure]\\nrisks = ["prosecutor", {use = "marketer"}]\\n'
    """
    import tomlkit

    place = _as_place(name)
    if get(text, place) is None and len(place) > 1:
        return set_value(text, place, [entry])
    document = tomlkit.parse(text)
    listed: Any = document.get(place[0]) if len(place) == 1 else _parent(document, place)[place[-1]]
    if listed is None:
        listed = tomlkit.aot()
        document.append(str(place[0]), listed)
    listed.append(table(entry) if isinstance(listed, tomlkit.items.AoT) else inline(entry))
    return tomlkit.dumps(document)


def replace(text: str, name: str | Place, position: int, entry: Mapping[str, Any]) -> str:
    """Replace the parameters of a list entry; unchanged ones keep their line and comment."""
    import tomlkit

    document = tomlkit.parse(text)
    listed = _entries(document, name)
    _check(listed, name, position)
    old = listed[position]
    if not isinstance(old, tomlkit.items.Table):
        listed[position] = inline(entry)
        return tomlkit.dumps(document)
    for key in [key for key in old if key not in entry]:
        del old[key]
    for key, value in entry.items():
        if key not in old:
            old.add(key, inline(value))
        elif old[key] != value:
            old[key] = inline(value)
    return tomlkit.dumps(document)


def remove(text: str, name: str | Place, position: int) -> str:
    """Remove an entry from a list."""
    return reorder(text, name, [i for i in range(_length(text, name)) if i != position])


def move(text: str, name: str | Place, position: int, target: int) -> str:
    """Move an entry of a list to another position."""
    order = list(range(_length(text, name)))
    _check(order, name, position)
    order.insert(max(0, min(target, len(order) - 1)), order.pop(position))
    return reorder(text, name, order)


def reorder(text: str, name: str | Place, order: Iterable[int]) -> str:
    """Return the policy with the entries of a list in another order; positions that are not listed are removed."""
    import tomlkit

    document = tomlkit.parse(text)
    place, entries = _as_place(name), list(_entries(document, name))
    chosen = []
    for i in order:
        _check(entries, name, i)
        chosen.append(copy.deepcopy(entries[i]))
    here = _parent(document, place)
    if not chosen and len(place) == 1:
        del here[place[-1]]
        return tomlkit.dumps(document)
    reordered: Any = tomlkit.aot() if isinstance(here[place[-1]], tomlkit.items.AoT) else tomlkit.array()
    for entry in chosen:
        reordered.append(entry)
    here[place[-1]] = reordered
    return tomlkit.dumps(document)


def set_role(text: str, column: str, role: str) -> str:
    """Assign one role to a column; an empty role leaves it out of the release.

    >>> text = '[schema]\\nquasi = ["age", "zip"]\\n'
    >>> get(set_role(text, "zip", "sensitive"), ("schema",))
    {'quasi': ['age'], 'sensitive': ['zip']}
    """
    for role_key in LISTS.values():
        names = get(text, ("schema", role_key), [])
        if column in names:
            text = _remove_from_list(text, ("schema", role_key), names.index(column))
    for single in map(str, SINGLE):
        if get(text, ("schema", single)) == column:
            text = drop(text, ("schema", single))
    if not role:
        for facts in ("bounds", "missing", "hierarchies", "orders", "kinds"):
            text = drop(text, ("schema", facts, column))
        return text
    if role in map(str, SINGLE):
        return set_value(text, ("schema", role), column)
    key = LISTS.get(Role(role))
    return _add_to_list(text, ("schema", str(key)), column)


def _add_to_list(text: str, place: Place, value: str) -> str:
    """Add a value to a list, on a line of its own if the list is written that way."""
    import tomlkit

    if get(text, place) is None:
        return set_value(text, place, [value])
    document = tomlkit.parse(text)
    listed: Any = _parent(document, place)[place[-1]]
    if "\n" in listed.as_string():
        listed.add_line(value, indent="  ")
    else:
        listed.append(value)
    return tomlkit.dumps(document)


def _remove_from_list(text: str, place: Place, position: int) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    here = _parent(document, place)
    del here[place[-1]][position]
    if not here[place[-1]]:
        del here[place[-1]]
    return tomlkit.dumps(document)


def _add_key(here: TomlValue, key: str, value: object) -> None:
    """Add a key to a table before its subtables: after them it would belong to the last subtable."""
    import tomlkit

    inner = [name for name, each in here.items() if isinstance(each, tomlkit.items.Table | tomlkit.items.AoT)]
    if not inner or isinstance(here, tomlkit.items.InlineTable):
        here.add(key, value)
        return
    tables = [(name, here[name]) for name in inner]
    for name in inner:
        here.remove(name)
    here.add(key, value)
    for name, each in tables:
        here.add(name, each)


def _parent(document: TomlValue, place: Place) -> TomlValue:
    """Return the table or list that contains a place; create missing tables."""
    import tomlkit

    here = document
    for key in place[:-1]:
        if isinstance(key, str) and key not in here:
            if isinstance(here, tomlkit.items.InlineTable):
                here.append(key, tomlkit.inline_table())
            else:
                here.append(key, tomlkit.table())
        here = here[key]
    return here


def _as_place(name: str | Place) -> Place:
    return (name,) if isinstance(name, str) else name


def _entries(document: TomlValue, name: str | Place) -> TomlValue:
    place = _as_place(name)
    here = _parent(document, place)
    return here.get(place[-1], [])


def _length(text: str, name: str | Place) -> int:
    return len(get(text, _as_place(name), []))


def _check(listed: Sequence[Any], name: str | Place, position: int) -> None:
    if not 0 <= position < len(listed):
        raise InputError(f"there is no {_as_place(name)[-1]} {position + 1}.")
