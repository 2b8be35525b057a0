"""One case of bad input: a command line, the files it meets, and what may come of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

CANARIES = ("Qanary", "Ctown", "Sick", "pa55word")
"""How every cell of the data begins, and the password: none of them may be in a message."""


@dataclass(frozen=True)
class Case:
    """A command in a directory of its own, which is a copy of the template with some things put there."""

    entrance: str
    name: str
    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    """What else is put there: ``fifo``, ``directory``, ``gone``, or the target of a link."""
    variables: Mapping[str, str] = field(default_factory=dict)
    may_pass: bool = False
    """The input may be usable after all: then only faults, leaks and hangs are failures."""
    largest_file: int | None = None
    """A file may not grow beyond so many bytes: what a full disk does."""

    def place(self, template: Path, folder: Path) -> None:
        """Make the directory."""
        shutil.copytree(template, folder)
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        for name, what in self.made.items():
            target = folder / name
            target.unlink(missing_ok=True)
            if what == "fifo":
                os.mkfifo(target)
            elif what == "directory":
                target.mkdir(parents=True)
            elif what != "gone":
                target.symlink_to(what)


def truncated(content: bytes, parts: int = 8) -> Iterator[tuple[str, bytes]]:
    """The content cut off at some places."""
    for i in range(parts):
        yield f"cut after {i} of {parts} parts", content[: len(content) * i // parts]


def spoilt(content: bytes, times: int = 8) -> Iterator[tuple[str, bytes]]:
    """The content with bytes changed at some places, the same in every run."""
    for i in range(times):
        at = (len(content) * (2 * i + 1)) // (2 * times)
        yield f"bytes changed at {i} of {times}", content[:at] + bytes([255, 0, 200 - i]) + content[at + 3 :]


NONSENSE: dict[str, bytes] = {
    "empty": b"",
    "one byte": b"\x00",
    "blank": b" \n \n",
    "all bytes": bytes(range(256)) * 40,
    "zeros": bytes(100_000),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "a page": b"<!doctype html><html><body>Qanary001</body></html>",
    "a program": b"\x7fELF\x02\x01\x01" + bytes(5_000),
    "another encoding": "Qanary001, ñandú, \u20ac".encode("utf-16"),
    "damaged text": b"name,age\nQanary001 \xc3\x28\xa0\xa1,7\n\xff\xfe",
    "an archive": b"PK\x03\x04" + bytes(range(256)) * 10,
    "one long line": b"Qanary001" * 200_000,
    "deep brackets": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000,
}
"""What is no file of any kind that is asked for."""
