"""Edits of a policy: from text to text, comments and everything unknown kept as they are.

Each edit is a plain function; :meth:`celosia.studio.project.Project.change` checks what it makes before it is written.
A place in the file is a path of keys and positions: ``("schema", "kinds", "age")``, ``("step", 0, "k")``.
"""

from __future__ import annotations

import copy
import functools
import tomllib
from collections.abc import Iterable, Sequence
from typing import Any

from celosia.data.schema import SINGLE, Role
from celosia.data.toml_text import inline, table
from celosia.errors import InputError

Place = Sequence[str | int]
LISTS = {
    Role.IDENTIFIER: "identifiers",
    Role.QUASI: "quasi",
    Role.SENSITIVE: "sensitive",
    Role.INSENSITIVE: "insensitive",
}


def get(text: str, place: Place, default: Any = None) -> Any:
    """What stands at a place, as plain data.

    >>> get('[schema]\\nquasi = ["age"]', ("schema", "quasi"))
    ['age']
    """
    here: Any = _read(text)
    for key in place:
        try:
            here = here[key]
        except (KeyError, IndexError, TypeError):
            return default
    return copy.deepcopy(here)


@functools.lru_cache(maxsize=8)
def _read(text: str) -> dict[str, Any]:
    """The sections of a policy; a page asks for many of them."""
    return tomllib.loads(text)


def put(text: str, place: Place, value: Any) -> str:
    """Set a value; tables on the way are made where there are none.

    >>> print(put('[input]\\npath = "a.csv" # mine\\n', ("schema", "quasi"), ["age"]), end="")
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
        _add(here, last, written)
    else:
        here[last] = written
    return tomlkit.dumps(document)


def drop(text: str, place: Place) -> str:
    """Take a value away; a table that is empty then goes too. What is not there changes nothing."""
    import tomlkit

    if get(text, place) is None:
        return text
    document = tomlkit.parse(text)
    for length in range(len(place), 0, -1):
        here = _parent(document, place[:length])
        if length == len(place) or not here[place[length - 1]]:
            del here[place[length - 1]]
    return tomlkit.dumps(document)


def append(text: str, name: str | Place, entry: Any) -> str:
    """Add an entry at the end of a list: a ``[[step]]``, a ``[[require]]``, one of ``("measure", "risks")``.

    >>> append('[measure]\\nrisks = ["prosecutor"]\\n', ("measure", "risks"), {"use": "marketer"})
    '[measure]\\nrisks = ["prosecutor", {use = "marketer"}]\\n'
    """
    import tomlkit

    place = _place(name)
    if get(text, place) is None and len(place) > 1:
        return put(text, place, [entry])
    document = tomlkit.parse(text)
    listed: Any = document.get(place[0]) if len(place) == 1 else _parent(document, place)[place[-1]]
    if listed is None:
        listed = tomlkit.aot()
        document.append(str(place[0]), listed)
    listed.append(table(entry) if isinstance(listed, tomlkit.items.AoT) else inline(entry))
    return tomlkit.dumps(document)


def replace(text: str, name: str | Place, position: int, entry: Any) -> str:
    """Give an entry of a list other parameters; those that stay keep their line and its comment."""
    import tomlkit

    document = tomlkit.parse(text)
    listed = _listed(document, name)
    _check(listed, name, position)
    there = listed[position]
    if not isinstance(there, tomlkit.items.Table):
        listed[position] = inline(entry)
        return tomlkit.dumps(document)
    for key in [key for key in there if key not in entry]:
        del there[key]
    for key, value in entry.items():
        if key not in there:
            there.add(key, inline(value))
        elif there[key] != value:
            there[key] = inline(value)
    return tomlkit.dumps(document)


def remove(text: str, name: str | Place, position: int) -> str:
    """Take an entry out of a list."""
    return reorder(text, name, [i for i in range(_length(text, name)) if i != position])


def move(text: str, name: str | Place, position: int, target: int) -> str:
    """Move an entry of a list to another position."""
    order = list(range(_length(text, name)))
    _check(order, name, position)
    order.insert(max(0, min(target, len(order) - 1)), order.pop(position))
    return reorder(text, name, order)


def reorder(text: str, name: str | Place, order: Iterable[int]) -> str:
    """The entries of a list in another order; those that are not named go."""
    import tomlkit

    document = tomlkit.parse(text)
    place, entries = _place(name), list(_listed(document, name))
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
    """Give a column one role and no other; an empty one leaves it out of the release.

    >>> text = '[schema]\\nquasi = ["age", "zip"]\\n'
    >>> get(set_role(text, "zip", "sensitive"), ("schema",))
    {'quasi': ['age'], 'sensitive': ['zip']}
    """
    for role_key in LISTS.values():
        names = get(text, ("schema", role_key), [])
        if column in names:
            text = _without(text, ("schema", role_key), names.index(column))
    for single in map(str, SINGLE):
        if get(text, ("schema", single)) == column:
            text = drop(text, ("schema", single))
    if not role:
        for facts in ("bounds", "missing", "hierarchies", "orders", "kinds"):
            text = drop(text, ("schema", facts, column))
        return text
    if role in map(str, SINGLE):
        return put(text, ("schema", role), column)
    key = LISTS.get(Role(role))
    return _with(text, ("schema", str(key)), column)


def _with(text: str, place: Place, value: str) -> str:
    """Add a value to a list; one line per value, where it is written so."""
    import tomlkit

    if get(text, place) is None:
        return put(text, place, [value])
    document = tomlkit.parse(text)
    listed: Any = _parent(document, place)[place[-1]]
    if "\n" in listed.as_string():
        listed.add_line(value, indent="  ")
    else:
        listed.append(value)
    return tomlkit.dumps(document)


def _without(text: str, place: Place, position: int) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    here = _parent(document, place)
    del here[place[-1]][position]
    if not here[place[-1]]:
        del here[place[-1]]
    return tomlkit.dumps(document)


def _add(here: Any, key: str, written: Any) -> None:
    """Add a key to a table before its inner tables: after them it would belong to the last of those."""
    import tomlkit

    inner = [name for name, each in here.items() if isinstance(each, tomlkit.items.Table | tomlkit.items.AoT)]
    if not inner or isinstance(here, tomlkit.items.InlineTable):
        here.add(key, written)
        return
    taken = [(name, here[name]) for name in inner]
    for name in inner:
        here.remove(name)
    here.add(key, written)
    for name, each in taken:
        here.add(name, each)


def _parent(document: Any, place: Place) -> Any:
    """The table or list in which a place lies."""
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


def _place(name: str | Place) -> Place:
    return (name,) if isinstance(name, str) else name


def _listed(document: Any, name: str | Place) -> Any:
    place = _place(name)
    here = _parent(document, place)
    return here.get(place[-1], [])


def _length(text: str, name: str | Place) -> int:
    return len(get(text, _place(name), []))


def _check(listed: Sequence[Any], name: str | Place, position: int) -> None:
    if not 0 <= position < len(listed):
        raise InputError(f"there is no {_place(name)[-1]} {position + 1}.")
