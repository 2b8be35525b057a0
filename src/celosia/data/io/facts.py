"""Metadata of a file: format, labels, missing codes and descriptions of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

UNPACKED = 1 << 28
"""Bytes to which any file may unpack; a larger one must not unpack to over MOST_PACKED times its size."""
MOST_PACKED = 50


@dataclass(frozen=True)
class MissingCode:
    """Value, or range of values, that a file declares to mean *missing*.

    ``tag`` is the letter of a tagged missing value (``.a`` in Stata and SAS); such a cell has no number of its
    own, so ``low`` and ``high`` are then the stand-in that :mod:`celosia.data.io.statistical` gives it.

    >>> MissingCode(97, 99).covers(98)
    True
    """

    low: float | str
    high: float | str
    tag: str | None = None

    def covers(self, value: float | str) -> bool:
        """Return whether a cell with this value is missing by this code."""
        if isinstance(value, str) or isinstance(self.low, str) or isinstance(self.high, str):
            return value == self.low
        return self.low <= value <= self.high


@dataclass(frozen=True)
class FileFacts:
    """Format of a file and metadata of its columns, from its reader.

    With the facts of the original a writer uses the same separator, updated value labels, and the same missing codes
    and formats.

    >>> FileFacts("csv", separator=";").separator
    ';'
    """

    type: str
    source: Path | None = None
    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    title: str | None = None
    #: :func:`file_version` when the file was opened.
    version: tuple[int, ...] | None = None
    #: Whether any CSV reader with the same separator and types reads the same cells: UTF-8, decimal points, a header
    #: with these names, no marks, no blanks to strip.
    plain: bool = False
    #: Per column, the marks in a text file that were read as missing (``NA``, ``?``, …).
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Per column, the sign of thousands and the decimal mark of numbers in a text file that were read by them.
    grouping: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: What the reader changed besides: columns renamed, text repaired.
    notes: tuple[str, ...] = ()
    #: Per column, the label of each code.
    labels: Mapping[str, Mapping[float | str, str]] = field(default_factory=dict)
    #: Per column, its description.
    descriptions: Mapping[str, str] = field(default_factory=dict)
    #: Per column, the codes that the file declares as missing.
    missing: Mapping[str, tuple[MissingCode, ...]] = field(default_factory=dict)
    #: Per column, the display format of a statistical file.
    formats: Mapping[str, str] = field(default_factory=dict)
    #: Per column, the level of measurement of an SPSS file: nominal, ordinal or scale.
    measures: Mapping[str, str] = field(default_factory=dict)


def distinct_names(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of columns with a number after those that occur again, and a note for each.

    >>> distinct_names(["a", "b", "a", "a_2"])
    (('a', 'b', 'a_3', 'a_2'), ("column 3 is the second 'a': renamed a_3",))
    """
    taken, seen, notes = set(names), Counter[str](), []
    result = []
    for place, name in enumerate(names, start=1):
        seen[name] += 1
        number = seen[name]
        new = name
        while number > 1 and new in taken:
            new = f"{name}_{number}"
            number += 1
        if new != name:
            taken.add(new)
            notes.append(f"column {place} is the {ordinal(seen[name])} {name!r}: renamed {new}")
        result.append(new)
    return tuple(result), tuple(notes)


def ordinal(number: int) -> str:
    """Return a number as an ordinal.

    >>> ordinal(2), ordinal(3), ordinal(11)
    ('second', 'third', '11th')
    """
    return {2: "second", 3: "third"}.get(number, f"{number}th")


def file_version(path: Path) -> tuple[int, ...] | None:
    """Return numbers that change if a file is replaced or written to, or None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@dataclass(frozen=True)
class Scan:
    """Source that is open for reading: its frame (lazy if possible), its facts and its origin.

    ``frame`` is a polars ``LazyFrame``, or a DuckDB relation for a DuckDB database. ``origin`` is for messages: a
    password in a database URL is left out. ``connection`` is that of a DuckDB relation.
    """

    frame: Any
    facts: FileFacts
    origin: str
    connection: Any = None
