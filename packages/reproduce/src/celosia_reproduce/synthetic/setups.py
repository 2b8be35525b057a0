"""The set-ups of Cano Franco (2009): which columns of the census file are dependent, and the tables as printed."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

from celosia_reproduce.fuzzy_privacy.study import COLUMNS


@dataclass(frozen=True)
class Setup:
    """Dependent and independent columns, counted from 1 in the order of the file (v1 … v13)."""

    name: str
    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    numbers: tuple[int, ...]
    """The numbers of regressions c that the table prints."""

    @property
    def columns(self) -> tuple[list[str], list[str]]:
        """The names of the dependent and of the independent columns."""
        return [COLUMNS[v - 1] for v in self.dependent], [COLUMNS[v - 1] for v in self.independent]


@dataclass(frozen=True)
class OwnSetup:
    """Dependent and independent columns of another file, by name."""

    columns: tuple[list[str], list[str]]
    name: str = "own file"


S1 = Setup("S1", (1, 3, 4, 6, 7, 9, 11, 12, 13), (2, 5, 8, 10), tuple(range(2, 16)))
S2 = Setup(
    "S2",
    (4, 7, 12, 13),
    (1, 2, 3, 5, 6, 8, 9, 10, 11),
    (2, 4, 5, 6, 8, 9, 10, 14, 18, 20, 22, 24, 26, 28, 30, 34, 45, 56, 77, 81),
)


@dataclass(frozen=True)
class Row:
    """One line of a table: loss, risk and score in percent; convergence is what the source calls F.O."""

    pil: float
    dr: float
    score: float
    change: float | None = None


def printed(table: int) -> dict[str, Row]:
    """Return the lines of table 5, 6 or 7 by method or number of regressions.

    >>> printed(6)["2"].pil, printed(7)["IPSO-C"].dr
    (44.677, 11.022)
    """
    return {
        line["method_or_c"]: Row(
            float(line["PIL"]),
            float(line["DR"]),
            float(line["score"]),
            float(line["convergence_F_O"]) if line["convergence_F_O"] else None,
        )
        for line in _lines(table)
    }


def printed_s3() -> dict[tuple[int, int], Row]:
    """Return the lines of table 8 by (c, N)."""
    return {
        (int(line["c"]), int(line["n_independent"])): Row(float(line["PIL"]), float(line["DR"]), float(line["score"]))
        for line in _lines(8)
    }


def next_columns(v: int, n: int, columns: int = 13) -> list[int]:
    """Return the ``n`` columns after column ``v``, going on from the first after the last (counted from 1).

    >>> next_columns(12, 3)
    [13, 1, 2]
    """
    return [(v + i) % columns + 1 for i in range(n)]


def _lines(table: int) -> list[dict[str, str]]:
    text = files("celosia_reproduce.synthetic").joinpath(f"printed_table{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
