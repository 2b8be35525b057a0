"""Checks that no block is ignored: misspelt inferences and columns, unregistered data subjects, other spellings."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from celosia.consent.owners.store import Preferences
    from celosia.consent.protection.marks import Marks
    from celosia.consent.rules.rules import Catalogue
    from celosia.consent.sql.elements import Columns

REGISTER = "celosia consent owners"
RENAME = "celosia consent rename OLD NEW"
ALIKE = 0.85
"""Similarity from which a column that a rule names counts as a misspelling of an existing one."""


def nearest(names: Iterable[str], existing: Iterable[str], *, others: bool = False) -> str:
    """List unknown names with the known ones that they resemble; the rest only if ``others`` is set.

    >>> nearest(["residenc", "1-0001"], ["residence", "grant"])
    "'residenc' (did you mean 'residence'?)"
    """
    shown, existing = [], list(existing)
    for name in sorted(names):
        near = difflib.get_close_matches(name, existing, n=1)
        if near or others:
            shown.append(f"{name!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
    return ", ".join(shown[:5]) + (", …" if len(shown) > 5 else "")


def refuse_uncatalogued(chosen: pl.DataFrame, inferences: Iterable[str]) -> None:
    """Refuse choices of unknown inferences. A name that resembles none may be that of a person: it is not shown."""
    import polars as pl

    inferences = sorted(inferences)
    unknown = chosen.filter(~pl.col("inference").is_in(inferences))
    if len(unknown):
        shown = nearest(unknown["inference"].unique(), inferences)
        raise DataError(
            f"{len(unknown)} of {len(chosen)} choices name an inference that the catalogue has not"
            f"{f': {shown}' if shown else ''}. It has {', '.join(inferences)}. Nothing was stored."
        )


def refuse_unknown(store: Preferences, catalogue: Catalogue) -> None:
    """Raise if a stored block is of an inference that the catalogue does not have."""
    ids = catalogue.ids()
    unknown = [name for name in store.blocked_inferences() if name not in ids]
    if not unknown:
        return
    blocking = store.blocking_owners(unknown).values()
    blocks, owners = sum(map(len, blocking)), len({owner for some in blocking for owner in some})
    raise DataError(
        f"{_many(blocks, 'block')} of {_many(owners, 'owner')} would be ignored: the catalogue has no "
        f"{nearest(unknown, ids, others=True)}. Name it there: with its rules, or without any when it is given up. "
        f"When it has another name now, give the choices that name ({RENAME})."
    )


def refuse_misnamed(store: Preferences, catalogue: Catalogue, columns: Columns) -> None:
    """Raise if a rule of a blocked inference misspells a column of the tables of the query.

    A rule may name columns that this database does not have; one that resembles a column of the same table is taken
    for a misspelling, with which the rule would not fire.
    """
    blocked = set(store.blocked_inferences()) if not store.default else set(catalogue.ids())
    slips = {
        f"{table}.{field}": f"{table}.{near[0]}"
        for inference in catalogue.inferences
        if inference.id in blocked
        for rule in inference.rules
        for table, fields in rule.tables.items()
        for existing in (_columns_of(table, columns),)
        for field in fields
        if existing
        and field.casefold() not in existing
        and (near := difflib.get_close_matches(field.casefold(), existing, n=1, cutoff=ALIKE))
    }
    if slips:
        corrections = ", ".join(f"{wrong!r} (did you mean {right!r}?)" for wrong, right in sorted(slips.items())[:5])
        raise DataError(
            f"blocks would be ignored: rules of the catalogue name {_many(len(slips), 'column')} that the database has "
            f"not: {corrections}. Mend the rules, or switch them off (active = false)."
        )


def _columns_of(table: str, columns: Columns) -> list[str]:
    """Return the known columns of a table in lower case."""
    from celosia.consent.sql.elements import same_table

    return [field.casefold() for name, fields in columns.items() if same_table(name, table) for field in fields]


def refuse_unfound(marks: Marks, store: Preferences, key: str | None) -> None:
    """Raise if rows of a data subject who blocks may be in the result without being recognised.

    An owner who is not in the result is no reason: a query need not read everybody. If blocking is the default, every
    unrecognised row is blocked anyway.
    """
    if store.default:
        return
    present = set(marks.owner.drop_nulls().unique())
    missing = absent_owners(marks, store)
    if key is not None:
        without = missing - set(store.aliases(key).values())
        if without and marks.unknown:
            raise DataError(
                f"data subjects without a key of the kind {key!r} block what the query lets others deduce: "
                f"{_many(marks.unknown, 'row')} of the result may be theirs. Register their keys ({REGISTER})."
            )
    if not marks.rows or not present:
        return
    registered = store.owners()
    if missing and not present & registered:
        raise DataError(
            f"none of the {len(present)} owners in the result is registered, but data subjects block what the query "
            f"lets others deduce. Is it the right column, or another kind of key? If it is, register them ({REGISTER})."
        )
    strangers = {_fold(owner) for owner in present - registered}
    # all registered owners are compared, not those who block: else the refusal would disclose a choice
    if any(_fold(owner) in strangers for owner in (registered | missing) - present):
        raise DataError(
            "keys of registered data subjects are written otherwise in the result (upper and lower case, spaces, "
            "punctuation, leading zeros, other forms of a character). Write them alike; register both if it is two "
            "people."
        )


def absent_owners(marks: Marks, store: Preferences) -> set[str]:
    """Return the owners who block an active inference and are not in the result."""
    if store.default:
        return set()
    blocking = {owner for inference in marks.rows for owner in store.exceptions(inference)}
    return blocking - set(marks.owner.drop_nulls().unique())


def _fold(owner: str) -> str:
    """Return the letters and digits of a key, without differences of case, form, leading zeros and ``.0``.

    >>> _fold(" B-007.0"), _fold("007"), _fold("--")
    ('b007', '7', '--')
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", owner).casefold())
    characters = [
        str(unicodedata.decimal(character, character)) for character in text if character.isalnum() or character == "."
    ]
    letters = "".join(characters).removesuffix(".0").replace(".", "")
    return letters.lstrip("0") or ("0" if letters else owner)


def _many(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
