"""Entry points: open a file or a database for reading, write a frame to one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from celosia.data.credentials import is_reference
from celosia.data.io import database
from celosia.data.io.atomic import refuse_originals, replace_file
from celosia.data.io.facts import FileFacts, Scan, file_version
from celosia.data.io.filetypes import check_options, lazy_frame, type_of
from celosia.errors import DataError, OutputError

REMOTE = frozenset(
    {"abfs", "abfss", "adl", "az", "azure", "dbfs", "file", "ftp", "ftps", "gcs", "gs", "hdfs", "hf", "http", "https"}
    | {"r2", "s3", "s3a", "s3n", "sftp", "ssh", "webhdfs"}
)
"""Schemes of URLs of files."""


def scan(source: str | Path, *, type: str | None = None, **options: object) -> Scan:  # noqa: A002
    """Open a file or a database for reading.

    ``source`` is a path, whose suffix is the type unless ``type`` is given, or a database URL such as
    ``sqlite:///people.db`` with ``query="SELECT …"`` or ``table="people"``. The other options are those of the
    reader.

    Raises ``DataError`` if the source cannot be read, ``UnknownName`` for an unknown type.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = pathlib.Path(place) / "people.csv"
    ...     _ = file.write_text("age;income\\n34;1200,5\\n51;900\\n")
    ...     opened = scan(file)
    ...     opened.frame.collect().rows(), opened.facts.separator, opened.facts.decimal
    ([(34, 1200.5), (51, 900.0)], ';', ',')
    """
    if is_url(source):
        refuse_remote(str(source))
        check_options("database", database.scan, options, 1)
        checked: dict[str, Any] = options
        return database.scan(str(source), **checked)
    kind = type_of(source, type)
    if kind.read is None:
        raise OutputError(f"{kind.summary} cannot be read.")
    check_options(kind.name, kind.read, options, 1)
    before = file_version(Path(source))
    opened = kind.read(source, **options)
    return replace(opened, facts=replace(opened.facts, version=before))


def write(
    frame: object,
    path: str | Path,
    facts: FileFacts | None = None,
    *,
    type: str | None = None,  # noqa: A002
    originals: Iterable[str | Path] = (),
    overwrite: bool = False,
    mode: int | None = None,
    **options: object,
) -> None:
    """Write a frame completely or not at all: to a temporary file in the same directory, then a rename.

    With the ``facts`` of the original its separator, value labels, missing codes and formats are kept. An existing file
    is replaced only with ``overwrite=True``, an original (the source of the facts and ``originals``) never.

    Raises ``OutputError`` if the result cannot be written.
    """
    if is_url(path):
        check_options("database", database.write, options, 2)
        checked: dict[str, Any] = options
        database.write(lazy_frame(frame), str(path), **checked)
        return
    target = Path(path)
    kind = type_of(target, type)
    if kind.write is None:
        raise OutputError(f"{kind.summary} can be read but not written. Write CSV, Parquet, SPSS or Stata.")
    refuse_originals(target, [*originals, *([facts.source] if facts is not None and facts.source else [])])
    if target.exists() and not overwrite:
        raise OutputError(
            f"{str(target)!r} is there already. Give another path, or replace it with --overwrite "
            "(in Python overwrite=True)."
        )
    check_options(kind.name, kind.write, options, 3)
    with replace_file(target, mode) as draft:
        kind.write(lazy_frame(frame), draft, facts, **options)


def refuse_remote(url: str) -> None:
    """Raise for the URL of a file: only local files and databases are read."""
    scheme = url.partition("://")[0].lower()
    if scheme in REMOTE:
        raise DataError(
            f"{scheme}:// addresses are not read: Celosia reads local files and databases only. Download the file and "
            "give its path."
        )


def is_url(source: str | Path) -> bool:
    """Return whether a source is a database URL, or a reference to one.

    >>> is_url("sqlite:///people.db"), is_url("env:DATABASE"), is_url("people.csv")
    (True, True, False)
    """
    return isinstance(source, str) and ("://" in source or is_reference(source))
