"""Explicit level tables, from rows or from a file in the format of ARX."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, model_validator

from celosia import files
from celosia.errors import DataError
from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy
from celosia.parts import Place

if TYPE_CHECKING:
    import polars as pl


class LevelTable(Hierarchy):
    """One row per raw value: the value and its label on each level.

    A file needs no header; its separator (``;`` as in ARX, tab, ``|`` or comma) is detected. The domain is every row.
    Refused if rows differ in length, if a value has two different rows or if the levels do not nest.

    >>> table = LevelTable(rows=[["Writer", "Artist", "*"], ["Dancer", "Artist", "*"], ["Lawyer", "Legal", "*"]])
    >>> table.levels(["Dancer", "Lawyer"]).labels(1)
    ['Artist', 'Legal']
    >>> table.levels(["Dancer", "Poet"])
    Traceback (most recent call last):
    celosia.errors.SchemaError: 1 of 2 distinct values are not covered by the hierarchy. ...
    """

    name: ClassVar[str] = "levels"

    path: Annotated[Path | None, Place()] = Field(
        default=None, description="file with one row per value, level 0 first"
    )
    rows: tuple[tuple[str, ...], ...] = Field(default=(), description="the rows themselves, level 0 first")
    separator: str | None = Field(default=None, description="separator of the file; found by itself when not given")
    encoding: str = Field(default="utf-8-sig", description="encoding of the file")

    @model_validator(mode="after")
    def _one_source(self) -> LevelTable:
        if (self.path is None) == (not self.rows):
            raise ValueError("levels: give either path or rows.")
        return self

    def _domain_levels(self, values: pl.Series, counts: pl.Series) -> Levels:  # noqa: ARG002
        if self.path is None:
            return _from_rows(self.rows)
        try:
            changed = files.status(self.path).st_mtime_ns
        except OSError as error:
            raise DataError(f"levels: cannot read the hierarchy {self.path}: {error.strerror}.") from None
        return _from_file(self.path.resolve(), changed, self.separator, self.encoding)


@lru_cache(maxsize=64)
def _from_file(path: Path, _changed: int, separator: str | None, encoding: str) -> Levels:
    try:
        text = files.text(path, encoding)
    except OSError as error:
        raise DataError(f"levels: cannot read the hierarchy {path}: {error.strerror}.") from None
    except LookupError:
        raise DataError(f"levels: no encoding named {encoding!r}; try utf-8 or latin-1.") from None
    except UnicodeDecodeError:
        raise DataError(f"levels: {path.name} is not {encoding}; name its encoding, such as latin-1.") from None
    lines = text.splitlines()
    try:
        rows = tuple(tuple(row) for row in csv.reader(lines, delimiter=separator or detect_separator(lines)) if row)
    except csv.Error as error:  # a field of more than 131 072 characters; the message has no cell
        raise DataError(f"levels: {path.name} is no table of levels: {error}.") from None
    if not rows:
        raise DataError(f"levels: {path.name} is empty.")
    return _from_rows(rows, path.name)


@lru_cache(maxsize=64)
def _from_rows(rows: tuple[tuple[str, ...], ...], source: str = "the rows") -> Levels:
    width = len(rows[0])
    if not width:
        raise DataError(f"levels: the first row of {source} is empty; it needs a value and its levels.")
    for at, row in enumerate(rows, start=1):
        if len(row) != width:
            raise DataError(f"levels: row {at} of {source} has {len(row)} fields, the first row has {width}.")
    distinct = tuple(dict.fromkeys(rows))
    if len({row[0] for row in distinct}) < len(distinct):
        twice = len(distinct) - len({row[0] for row in distinct})
        raise DataError(f"levels: {twice} value(s) of {source} have two different rows; keep one row per value.")
    columns = list(zip(*distinct, strict=True))
    return Levels.of(columns[0], columns[1:])


def detect_separator(lines: list[str]) -> str:
    """Return the separator that splits the first lines into equal numbers of fields, more than one.

    >>> detect_separator(["1;0-4;*", "2;0-4;*"]), detect_separator(["a,b", "c,d"]), detect_separator(["a;x,y", "b;x"])
    (';', ',', ';')
    """
    head = [line for line in lines[:200] if line.strip()]
    for separator in ";\t|,":
        widths = {len(row) for row in csv.reader(head, delimiter=separator)}
        if len(widths) == 1 and widths != {1}:
            return separator
    return ";"
