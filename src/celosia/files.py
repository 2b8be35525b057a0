"""Reading of files and of TOML and JSON documents from users, with one type of error for each.

Only regular files are opened: to read a FIFO could wait for ever, and a device may have no end.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import stat
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

Json: TypeAlias = Any
"""Value of a JSON document, which its reader validates."""
Text = TypeVar("Text", str, bytes, str | bytes)
Document = TypeVar("Document")
LARGEST_TEXT = 1 << 28
"""Bytes of the largest text that is read at once: policies, hierarchies, evidence, but not records of data."""
BLOCK = 1 << 20
"""Bytes of a block of a text."""
DEEPEST = 100
"""Largest depth of a policy, a certificate or any other document of Celosia."""
TOO_DEEP = f"it is nested more than {DEEPEST} times"


def status(path: str | Path) -> os.stat_result:
    """Return the status of a path; raise ``OSError`` for any invalid path."""
    try:
        return Path(path).stat()
    except ValueError:  # a null byte, or a surrogate
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None


def regular_file(path: str | Path) -> Path:
    """Return the path of a regular file; raise ``OSError`` with the reason for any other path.

    >>> regular_file("/dev/zero")
    Traceback (most recent call last):
    OSError: [Errno 22] it is not a regular file (device, FIFO or socket): '/dev/zero'
    """
    mode = status(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory, not a file", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file (device, FIFO or socket)", str(path))
    return Path(path)


def text(path: str | Path, encoding: str = "utf-8", largest: int = LARGEST_TEXT) -> str:
    """Read the text of a regular file; raises only ``OSError`` and ``UnicodeDecodeError``."""
    with regular_file(path).open("rb") as file:
        content = bytearray()
        # in blocks, because ``read`` allocates the requested size, whatever the size of the file
        while len(content) <= largest and (block := file.read(BLOCK)):
            content += block
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest} bytes", str(path))
    return content.decode(encoding)


def toml_document(written: str) -> dict[str, Any]:
    """Parse a TOML text; raises only ``ValueError``.

    >>> toml_document("a = " + "[" * 500 + "]" * 500)
    Traceback (most recent call last):
    ValueError: it is nested more than 100 times
    """
    for line in written.splitlines():  # the parser is quadratic in the length of a key
        key = line.partition("=")[0]
        if key.count(".") > DEEPEST and not any(" " in piece.strip() for piece in key.strip("[] \t").split(".")):
            raise ValueError(TOO_DEEP)
    return _parse_shallow(tomllib.loads, written)


def json_document(written: str | bytes) -> Json:
    """Parse a JSON text; raises only ``ValueError``.

    A repeated key of an object is refused: other parsers could use the other value, under the same signature.

    >>> json_document('{"k": 500, "k": 1}')
    Traceback (most recent call last):
    celosia.files.DuplicateKey: the key 'k' occurs twice in one object
    """
    return _parse_shallow(functools.partial(json.loads, object_pairs_hook=_unique), written)


class DuplicateKey(ValueError):
    """A JSON object has a key twice."""


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DuplicateKey(f"the key {twice!r:.60} occurs twice in one object")
    return document


def _parse_shallow(parse: Callable[[Text], Document], written: Text) -> Document:
    """Parse a text; raise if it is nested too deeply for recursive functions."""
    try:
        document = parse(written)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    layer: list[object] = [document]
    depth = 0
    while layer := [inner for value in layer for inner in _inside(value)]:
        depth += 1
        if depth > DEEPEST:
            raise ValueError(TOO_DEEP)
    return document


def _inside(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
