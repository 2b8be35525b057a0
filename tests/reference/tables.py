"""Small random tables, and what is done to them: the situations in which every part must tell the same.

A :class:`Situation` is a table of plain rows and a few *moves*. Each move is written twice: as a step that Celosia
applies (:meth:`Situation.read`), and as a loop over plain rows (:meth:`Situation.plain`).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import celosia
from celosia.checker.models import MODELS, k_anonymity
from celosia.checker.rows import STAR, Plain, Row
from celosia.errors import RequirementError

if TYPE_CHECKING:
    from celosia.table import Table

TREES = {
    "q": (("a", "ab", STAR), ("b", "ab", STAR), ("c", "cd", STAR), ("d", "cd", STAR)),
    "r": (("1", "low", STAR), ("2", "low", STAR), ("3", "high", STAR), ("4", "high", STAR)),
    "s": (("flu", "mild", STAR), ("cold", "mild", STAR), ("hiv", "grave", STAR), ("tbc", "grave", STAR)),
}
ORDER = ("never", "low", "mid", "high")
"""Not the alphabet's order, and one grade that never occurs."""
TYPES = {"q": pl.String, "r": pl.Int64, "s": pl.String, "o": pl.String, "v": pl.Int64, "i": pl.Int64, "n": pl.Int64}
TYPES |= {"w": pl.Float64, "h": pl.Int64}
Move = tuple[Any, ...]


@dataclass(frozen=True)
class Situation:
    """A table and what is done to it: ("subset", n), ("suppress", k), ("recode", column, level), ("map", column, {…})."""

    name: str
    table: Plain
    moves: tuple[Move, ...] = ()

    def __str__(self) -> str:
        return self.name

    def frame(self) -> pl.DataFrame:
        """The input as a data frame."""
        return frame_of(self.table)

    def schema(self) -> celosia.Schema:
        """What the columns are, in Celosia's words."""
        return schema_of(self.table)

    def steps(self) -> list[dict[str, Any]]:
        """The moves as methods."""
        return [_step(move) for move in self.moves]

    def input(self, engine: str = "polars") -> Table:
        """The table that Celosia reads."""
        return celosia.read(self.frame(), self.schema(), engine=engine)

    def read(self, engine: str = "polars") -> Table:
        """The table after the moves, by Celosia."""
        table = self.input(engine)
        return celosia.protect(table, *self.steps(), seed=1) if self.moves else table

    def plain(self) -> Plain:
        """The table after the moves, by loops over the rows."""
        table = self.table if not self.moves else replace(self.table, before=self.table.rows)
        for move in self.moves:
            table = _moved(table, move)
        return table


def frame_of(table: Plain) -> pl.DataFrame:
    """Plain rows as a data frame."""
    others = (table.person, table.weight, table.household)
    names = list(table.rows[0]) if table.rows else [*table.quasi, *table.sensitive, "n", *filter(None, others)]
    columns = {name: [row[name] for row in table.rows] for name in names}
    return pl.DataFrame(columns, schema={name: TYPES[name] for name in names})


def schema_of(table: Plain) -> celosia.Schema:
    """The schema that describes plain rows."""
    return celosia.Schema.of(
        quasi=table.quasi,
        sensitive=table.sensitive,
        person=table.person,
        weight=table.weight,
        household=table.household,
        missing=table.missing,
        orders=table.orders,
        kinds=dict.fromkeys(table.orders, "ordinal"),
        hierarchies={column: {"use": "levels", "rows": rows} for column, rows in table.trees.items()},
    )


def _step(move: Move) -> dict[str, Any]:
    kind, *details = move
    if kind == "subset":
        return {"use": "subset", "where": f"n < {details[0]}"}
    if kind == "suppress":
        return {"use": "suppress-records", "require": [{"use": "k-anonymity", "k": details[0]}]}
    column, how = details
    return {"use": "recode", "column": column, "level" if kind == "recode" else "mapping": how}


def _moved(table: Plain, move: Move) -> Plain:
    kind, *details = move
    if kind == "subset":
        kept = [i for i, row in enumerate(table.rows) if row["n"] < details[0]]
        hidden = frozenset(new for new, old in enumerate(kept) if old in table.suppressed)
        return replace(table, rows=tuple(table.rows[i] for i in kept), suppressed=hidden)
    if kind == "suppress":
        while small := frozenset(i for i in table.unsuppressed if table.frequency(i) < details[0]):
            stars = dict.fromkeys(table.quasi, STAR)
            rows = tuple({**row, **stars} if i in small else row for i, row in enumerate(table.rows))
            table = replace(table, rows=rows, suppressed=table.suppressed | small)
        if (
            table.unsuppressed
            and k_anonymity(table, details[0])[1]
            and not MODELS["k-anonymity"](table, k=details[0])[1]
        ):
            blank = dict.fromkeys(table.sensitive)  # too few suppressed records: they show no sensitive value
            rows = tuple({**row, **blank} if i in table.suppressed else row for i, row in enumerate(table.rows))
            table = replace(table, rows=rows)
        return table
    column, how = details

    def label(row: Row) -> Row:
        value = row[column]
        if kind == "recode":
            return {**row, column: table.path(column, value)[how]}
        return {**row, column: how.get(str(value), value)}

    stay = table.suppressed if column in table.quasi else frozenset()  # suppressed records keep their stars
    rows = tuple(row if i in stay else label(row) for i, row in enumerate(table.rows))
    before = tuple(label(row) for row in table.before or ())
    return replace(table, recoded=table.recoded | {column}, rows=rows, before=before)


def random_table(
    seed: int,
    rows: int = 12,
    *,
    persons: bool = False,
    weights: bool = False,
    missing: str | None = None,
    sensitive: tuple[str, ...] = ("s", "o", "v"),
    gaps: bool = False,
    letters: str = "abc",
) -> Plain:
    """A table of two quasi-identifiers (q text, r numbers) and up to three sensitive columns (s nominal with a tree, o
    ordinal, v numbers); ``missing`` is the reading of missing values, ``gaps`` leaves sensitive cells out too.
    """
    rng = np.random.default_rng(seed)
    draw = {
        "q": lambda: str(rng.choice(list(letters))),
        "r": lambda: int(rng.integers(1, 4)),
        "s": lambda: str(rng.choice(["flu", "flu", "cold", "hiv", "tbc"])),
        "o": lambda: str(rng.choice(ORDER[1:])),
        "v": lambda: int(rng.choice([1, 2, 2, 5, 9])),
    }
    people = max(1, rows * 3 // 5)
    made = []
    for n in range(rows):
        row: Row = {name: draw[name]() for name in ("q", "r", *sensitive)}
        open_cells = [*(["q", "r"] if missing else []), *(sensitive if gaps else [])]
        for name in open_cells:
            row[name] = None if rng.random() < 0.2 else row[name]
        row["n"] = n
        if persons:
            row["i"] = int(rng.integers(1, people + 1))
        if weights:
            row |= {"w": float(rng.integers(1, 9)), "h": int(rng.integers(1, people + 1))}
        made.append(row)
    return Plain(
        rows=tuple(made),
        quasi=("q", "r"),
        sensitive=sensitive,
        person="i" if persons else None,
        weight="w" if weights else None,
        household="h" if weights else None,
        missing={"q": missing, "r": missing} if missing else {},
        orders={"o": ORDER} if "o" in sensitive else {},
        numeric=frozenset({"r", "v"} & {"r", *sensitive}),
        trees={name: rows for name, rows in TREES.items() if name in ("q", "r", *sensitive)},
    )


def situations(seed: int) -> list[Situation]:
    """One table of every sort, drawn from the seed."""
    plain = random_table(seed)
    persons = random_table(seed + 1, 16, persons=True, weights=True)
    holes = random_table(seed + 2, missing="category", gaps=True)
    both = random_table(seed + 3, 16, persons=True, missing="category", gaps=True)
    one = random_table(seed + 4, 1)
    return [
        Situation("plain", plain),
        Situation("persons", persons),
        Situation("missing", holes),
        Situation("persons-missing", both),
        Situation("wildcard", random_table(seed + 5, missing="wildcard")),
        Situation("conservative", random_table(seed + 6, missing="conservative")),
        Situation("persons-wildcard", random_table(seed + 7, persons=True, missing="wildcard")),
        Situation("persons-conservative", random_table(seed + 8, persons=True, missing="conservative")),
        Situation("subset", plain, (("subset", 9),)),
        Situation("persons-subset", persons, (("subset", 11),)),
        Situation("suppressed", plain, (("suppress", 2),)),
        Situation("persons-suppressed", both, (("suppress", 2),)),
        Situation("all-suppressed", plain, (("suppress", len(plain.rows)),)),
        Situation("generalised", plain, (("recode", "q", 1),)),
        Situation("generalised-suppressed", holes, (("recode", "q", 1), ("recode", "r", 1), ("suppress", 3))),
        Situation("recoded", plain, (("recode", "s", 1),)),
        Situation("persons-recoded", both, (("recode", "s", 1),)),
        Situation("recoded-suppressed", plain, (("recode", "s", 1), ("suppress", 2))),
        Situation("recoded-subset", plain, (("recode", "s", 1), ("subset", 9))),
        Situation("subset-recoded", plain, (("subset", 9), ("recode", "s", 1))),
        Situation("merged", plain, (("map", "s", {"cold": "flu", "tbc": "hiv"}),)),
        Situation("numbers-recoded", plain, (("map", "v", {"1": "few", "2": "few", "5": "many", "9": "many"}),)),
        Situation("one-row", one),
        Situation("one-class", replace(plain, rows=tuple({**row, "q": "a", "r": 1} for row in plain.rows))),
        Situation("doubled", replace(plain, rows=tuple({**r, "n": n} for n, r in enumerate(plain.rows * 2)))),
        Situation("one-person", replace(persons, rows=tuple({**row, "i": 1} for row in persons.rows))),
        Situation("unknown-person", replace(persons, rows=_blanked(persons.rows, "i"))),
        Situation("one-value", replace(plain, rows=tuple({**r, "s": "flu", "o": "low", "v": 1} for r in plain.rows))),
    ]


def random_situation(seed: int) -> Situation:
    """A table of any sort and size, also an empty one, one record, one value, a column without any; up to four moves."""
    rng = np.random.default_rng(seed)
    often, seldom = (lambda: rng.random() < 0.5), (lambda: rng.random() < 0.15)
    missing = [None, None, "category", "category", "wildcard", "conservative"][rng.integers(6)]
    letters = ["a", "abc", "abcd"][rng.integers(3)]
    rows = [0, 1, 2, 5, 9, 14][rng.integers(6)]
    table = random_table(seed, rows, persons=often(), weights=often(), missing=missing, gaps=often(), letters=letters)
    for alike in ({"s": "flu"}, {"s": None}, {"v": None}, *([{"q": None}, {"q": None, "r": None}] if missing else [])):
        if seldom():
            table = replace(table, rows=tuple(row | alike for row in table.rows))
    if table.person and seldom():
        table = replace(table, rows=_blanked(table.rows, "i"))
    moves: dict[str, Move] = {}
    for n in range(rng.integers(5)):
        column = "qrs"[rng.integers(3)]
        kind, move = (
            (f"subset {n}", ("subset", int(rng.integers(1, 15)))),
            (f"suppress {n}", ("suppress", int(rng.integers(2, 4)))),
            (column, ("recode", column, int(rng.integers(1, 3)))),
            ("s", ("map", "s", {"cold": "flu", "tbc": "hiv"})),
            ("v", ("map", "v", {"1": "few", "2": "few", "5": "many", "9": "many"})),
        )[rng.integers(5)]
        if rows or move[0] != "subset":  # none of nobody is refused
            moves.setdefault(kind, move)  # a column is recoded once
    return Situation(f"{seed}", table, tuple(moves.values()))


def drawn(seeds: range, engine: str = "polars") -> list[tuple[Situation, Table]]:
    """Random situations with the tables that Celosia makes of them; where nobody is left to suppress it refuses."""
    found = []
    for situation in map(random_situation, seeds):
        with contextlib.suppress(RequirementError):
            found.append((situation, situation.read(engine)))
    assert len(found) > len(seeds) // 2
    return found


def _blanked(rows: tuple[Row, ...], column: str) -> tuple[Row, ...]:
    """Every third row without a value in the column."""
    return tuple({**row, column: None if i % 3 == 0 else row[column]} for i, row in enumerate(rows))


def plain_of(table: Table, like: Plain) -> Plain:
    """A table that Celosia made, as plain rows: the roles and the input are those of another one."""
    hidden = frozenset(np.flatnonzero(table.counts.suppressed_mask).tolist())
    before = like.rows if like.before is None else like.before
    return replace(like, rows=tuple(table.polars().to_dicts()), suppressed=hidden, before=before)
