"""What a file says about its data besides the cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

UNPACKED = 1 << 28
"""Bytes to which any file may unpack; a larger one must not be packed more than MOST_PACKED times."""
MOST_PACKED = 50


@dataclass(frozen=True)
class MissingCode:
    """A value, or a range of values, that a file declares to mean *missing*.

    ``tag`` is the letter of a tagged missing value (``.a`` in Stata and SAS); such a cell has no number of its
    own, so ``low`` and ``high`` are then the stand-in that :mod:`celosia.data.io.statistical` gives it.

    >>> MissingCode(97, 99).covers(98)
    True
    """

    low: float | str
    high: float | str
    tag: str | None = None

    def covers(self, value: float | str) -> bool:
        """Say whether a cell with this value is missing by this code."""
        if isinstance(value, str) or isinstance(self.low, str) or isinstance(self.high, str):
            return value == self.low
        return self.low <= value <= self.high


@dataclass(frozen=True)
class FileFacts:
    """What the reader learnt about a file: how it is written and what its columns mean.

    A writer that is given the facts of the original writes in the same way: the same separator, value labels
    that are brought up to date, the same missing codes and formats.

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
    #: What :func:`file_version` gave when the file was opened.
    version: tuple[int, ...] | None = None
    #: Whether any reader of CSV that is told the separator and the types reads the same: UTF-8, decimal points, a
    #: header with these names, no marks, no blanks to strip.
    plain: bool = False
    #: Per column, the marks in a text file that were read as missing (``NA``, ``?``, …).
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Per column, the sign of thousands and the decimal mark of numbers in a text file that were read by them.
    grouping: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: Per column, the text that stands for each code.
    labels: Mapping[str, Mapping[float | str, str]] = field(default_factory=dict)
    #: Per column, the sentence that explains the column.
    descriptions: Mapping[str, str] = field(default_factory=dict)
    #: Per column, the codes that the file declares as missing.
    missing: Mapping[str, tuple[MissingCode, ...]] = field(default_factory=dict)
    #: Per column, the display format of a statistical file.
    formats: Mapping[str, str] = field(default_factory=dict)
    #: Per column, the level of measurement of an SPSS file: nominal, ordinal or scale.
    measures: Mapping[str, str] = field(default_factory=dict)


def file_version(path: Path) -> tuple[int, ...] | None:
    """Return what changes when a file is replaced or written to, or None where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@dataclass(frozen=True)
class Scan:
    """A source opened for reading: the frame (lazy where the source allows it), its facts and where it came from.

    ``frame`` is a polars ``LazyFrame``, or a DuckDB relation for a DuckDB database. ``origin`` can be shown to
    people: a password in a database URL is left out. ``connection`` is that of a DuckDB relation.
    """

    frame: Any
    facts: FileFacts
    origin: str
    connection: Any = None
