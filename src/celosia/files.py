"""Files and documents that somebody hands over: what is wrong with them comes out as one kind of error.

Only plain files are opened: a queue is waited for and a device never ends.
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
from typing import Any

LARGEST_TEXT = 1 << 28
"""Bytes of a text that is read whole: policies, hierarchies, evidence. Records of data are read in blocks."""
BLOCK = 1 << 20
"""Bytes that are read at once."""
DEEPEST = 100
"""How often a policy, a certificate or any other document of ours may be nested."""
TOO_DEEP = f"it is nested more than {DEEPEST} times"


def status(path: str | Path) -> os.stat_result:
    """What the file system says of a path; every fault of the path is an ``OSError`` that says what is wrong."""
    try:
        return Path(path).stat()
    except ValueError:  # a zero byte, or half a character
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None


def regular_file(path: str | Path) -> Path:
    """The path of a plain file that is there; anything else is an ``OSError`` that says what is wrong.

    >>> regular_file("/dev/zero")
    Traceback (most recent call last):
    OSError: [Errno 22] it is no plain file, but a device, a queue or a socket: '/dev/zero'
    """
    mode = status(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory, not a file", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no plain file, but a device, a queue or a socket", str(path))
    return Path(path)


def text(path: str | Path, encoding: str = "utf-8", largest: int = LARGEST_TEXT) -> str:
    """The text of a plain file; raises ``OSError`` and ``UnicodeDecodeError``, nothing else."""
    with regular_file(path).open("rb") as file:
        content = bytearray()
        # in blocks: a reader takes as much memory as it is asked to read, whatever the file holds
        while len(content) <= largest and (block := file.read(BLOCK)):
            content += block
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest} bytes", str(path))
    return content.decode(encoding)


def toml_document(written: str) -> dict[str, Any]:
    """What a TOML text says; raises ``ValueError``, nothing else.

    >>> toml_document("a = " + "[" * 500 + "]" * 500)
    Traceback (most recent call last):
    ValueError: it is nested more than 100 times
    """
    for line in written.splitlines():  # the parser takes time with the square of a key's length
        key = line.partition("=")[0]
        if key.count(".") > DEEPEST and not any(" " in piece.strip() for piece in key.strip("[] \t").split(".")):
            raise ValueError(TOO_DEEP)
    document: dict[str, Any] = _shallow(tomllib.loads, written)
    return document


def json_document(written: str | bytes) -> Any:
    """What a JSON text says; raises ``ValueError``, nothing else.

    A key that an object has twice is refused: other readers would take the other value, under the same signature.

    >>> json_document('{"k": 500, "k": 1}')
    Traceback (most recent call last):
    celosia.files.DuplicateKey: the key 'k' occurs twice in one object
    """
    return _shallow(functools.partial(json.loads, object_pairs_hook=_unique), written)


class DuplicateKey(ValueError):
    """A JSON object has a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DuplicateKey(f"the key {twice!r:.60} occurs twice in one object")
    return document


def _shallow(parse: Callable[[Any], Any], written: str | bytes) -> Any:
    """Parse a text that is not nested too deeply: whatever walks over it later may call itself at each step."""
    try:
        document = parse(written)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    layer, depth = [document], 0
    while layer := [inner for value in layer for inner in _inside(value)]:
        depth += 1
        if depth > DEEPEST:
            raise ValueError(TOO_DEEP)
    return document


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
