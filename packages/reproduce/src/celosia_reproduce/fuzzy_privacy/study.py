"""Subject of the study: the columns, their pairs, the sensitive ones, and the printed numbers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, ParameterError, UnknownName
from celosia_reproduce.fuzzy_privacy.codings import CLASSES, PAIRS

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Row = dict[str, float | None]
Results = dict[tuple[int, int], Row]
Pairs = tuple[tuple[int, int], ...]

COLUMNS = [
    *("AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC"),
    *("POTHVAL", "INTVAL", "PEARNVAL", "FICA", "WSALVAL", "ERNVAL"),
]
"""The real names by position; the source printed an alphabetical list, wrong from the fourth on."""
SENSITIVE = (10, 12)


@dataclass(frozen=True)
class Study:
    """Columns as numbers, and what is done with them."""

    x: Floats
    names: tuple[str, ...]
    pairs: Pairs
    """Positions of the columns, from 1, as the source counts them."""
    sensitive: tuple[int, ...]
    classes: int = CLASSES
    printed: dict[str, Results] | None = None
    """By block what the source prints; None for another file."""

    @property
    def attributes(self) -> list[int]:
        """The columns that occur in pairs."""
        return sorted({position for pair in self.pairs for position in pair})

    def column(self, position: int) -> Floats:
        """Return a column by its position, from 1."""
        return self.x[:, position - 1]

    def plane(self, pair: tuple[int, int]) -> Floats:
        """Return the two columns of a pair."""
        return self.x[:, [position - 1 for position in pair]]

    def title(self, pair: tuple[int, int]) -> str:
        """Return the names of a pair."""
        return " × ".join(self.names[position - 1] for position in pair)

    def codes(self) -> list[tuple[Codes, int]]:
        """Return the sensitive columns as codes in value order, with their number of values."""
        coded = []
        for position in self.sensitive:
            values, codes = np.unique(self.column(position), return_inverse=True)
            coded.append((codes, len(values)))
        return coded


def read_census(path: Path) -> Floats:
    """Return the 1080 × 13 numbers of the census file, checked to be that file."""
    header, rows = _lines(path)
    if header != COLUMNS or rows != 1080:
        raise DataError(
            f"{path}: this is not the census reference file. It has 1080 records and the columns {', '.join(COLUMNS)} "
            f"in this order; got {rows} records and {len(header)} columns."
        )
    return np.loadtxt(path, delimiter=",", skiprows=1)


def is_census(path: Path) -> bool:
    """Whether this is the file of which the source prints numbers."""
    return _lines(path) == (COLUMNS, 1080)


def _lines(path: Path) -> tuple[list[str], int]:
    """Return the header of a text file and the number of its records; no header for a file of another kind."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            return next(rows, []), sum(1 for _ in rows)
    except (OSError, ValueError, csv.Error):
        return [], 0


def census(path: Path, pairs: Pairs | None = None) -> Study:
    """Return the study of the source; ``pairs`` limits it to some pairs of attributes (1 … 13)."""
    return census_of(read_census(path), pairs)


def census_of(x: Floats, pairs: Pairs | None = None) -> Study:
    """Return the study of the source on the numbers of the census file."""
    chosen = pairs or PAIRS
    said = {block: {pair: printed(block)[pair] for pair in chosen} for block in ("independent", "joint")}
    return Study(x, tuple(COLUMNS), chosen, SENSITIVE, printed=said)


def printed(block: str) -> Results:
    """Return the numbers of the source for ``independent`` or ``joint`` coding; a dash is None."""
    text = files("celosia_reproduce.fuzzy_privacy").joinpath(f"printed_{block}.csv").read_text(encoding="utf-8")
    return {
        (int(r["a"]), int(r["b"])): {k: None if v == "-" else float(v) for k, v in r.items() if k not in "ab"}
        for r in csv.DictReader(text.splitlines())
    }


def own(path: Path, columns: Sequence[str] | None, sensitive: Sequence[str] | None, classes: int = CLASSES) -> Study:
    """Return a study of any numeric file: all pairs of ``columns``, coded in ``classes`` classes each.

    Without ``columns`` these are all numeric columns without missing values that have values enough for the classes and
    are not sensitive. Without sensitive columns diversity and closeness are left out.
    """
    from celosia.table import read

    if classes < 2:
        raise ParameterError(
            f"fuzzy-privacy: k, the number of classes of an attribute, must be at least 2, got {classes}."
        )
    table = read(path)
    secret = list(sensitive or [])
    for name in (*(columns or []), *secret):
        if name not in table.names:
            raise UnknownName.of("column", name, table.names)
    fits = {
        name: _different(table.numeric([name])) > classes
        for name in table.names
        if table.column(name).dtype.is_numeric()
    }
    chosen = [name for name in columns or fits if columns or (fits[name] and name not in secret)]
    for name in (*chosen, *secret):
        if not fits.get(name, False):
            raise DataError(
                f"column {name!r} cannot be coded: it needs numbers, none of them missing, and more than {classes} "
                "different ones."
            )
    if len(chosen) < 2 or set(chosen) & set(secret):
        raise ParameterError(
            f"fuzzy-privacy: at least two numeric columns that are not sensitive are needed, got {len(chosen)}: name "
            "them with --columns."
        )
    names = [*chosen, *secret]
    pairs = tuple(combinations(range(1, len(chosen) + 1), 2))
    return Study(table.numeric(names), tuple(names), pairs, tuple(range(len(chosen) + 1, len(names) + 1)), classes)


def _different(values: Floats) -> int:
    """How many different values there are; none where one is missing."""
    return 0 if np.isnan(values).any() else len(np.unique(values))
