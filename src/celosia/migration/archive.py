"""Untrusted archives and XML: read entry by entry, with bounds, and never unpacked under their own names.

A document type is refused: it could define entities that grow without end or that name files.
"""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from celosia.errors import DataError

LARGEST_XML = 1 << 24
LARGEST_TABLE = 1 << 26
LARGEST_DATA = 1 << 32
"""Bytes of an entry after it was unpacked: a description, a hierarchy, the data."""
HIGHEST_RATIO = 200
"""How many times larger than packed an entry of more than ``LARGEST_TABLE`` bytes may be."""
MOST_ENTRIES = 100_000
DEEPEST = 50
BLOCK = 1 << 20


@dataclass
class Element:
    """An element of an XML document: its name, the text in it and the elements in it."""

    name: str
    pieces: list[str] = field(default_factory=list)
    inner: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly in it."""
        return "".join(self.pieces)

    def all(self, name: str) -> list[Element]:
        """Return the direct children of a name."""
        return [element for element in self.inner if element.name == name]

    def value(self, name: str) -> str | None:
        """Return the text of the first direct child of a name."""
        return next((element.text for element in self.inner if element.name == name), None)


class Archive:
    """A zip file that is read entry by entry."""

    def __init__(self, file: zipfile.ZipFile, name: str) -> None:
        self._file = file
        self.name = name
        listed = file.infolist()
        if len(listed) > MOST_ENTRIES:
            raise DataError(f"{name} has {len(listed)} entries; a project has at most {MOST_ENTRIES}.")
        self._entries = {entry.filename: entry for entry in listed}
        if len(self._entries) < len(listed):
            raise DataError(f"{name} has two entries of one name. Remove one of them.")

    def __contains__(self, entry: str) -> bool:
        return entry in self._entries

    def blocks(self, entry: str, largest: int = LARGEST_DATA) -> Iterator[bytes]:
        """Yield the content of an entry block by block; raise when it exceeds its bound."""
        if entry not in self._entries:
            raise DataError(f"{self.name} has no {_short(entry)}.")
        info = self._entries[entry]
        if info.file_size > max(LARGEST_TABLE, HIGHEST_RATIO * info.compress_size):
            raise DataError(f"{self.name}: {_short(entry)} would grow {HIGHEST_RATIO} times or more. It is refused.")
        size = 0
        with archive_errors(self.name), self._file.open(info) as content:
            while block := content.read(BLOCK):
                size += len(block)
                if size > largest:
                    raise DataError(f"{self.name}: {_short(entry)} is larger than {largest} bytes.")
                yield block

    def content(self, entry: str, largest: int) -> bytes:
        """Return the whole content of an entry."""
        return b"".join(self.blocks(entry, largest))

    def document(self, entry: str) -> Element:
        """Return an entry as XML."""
        return parse_xml(self.content(entry, LARGEST_XML), f"{self.name}: {_short(entry)}")


@contextlib.contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a zip file; every error of it is a ``DataError``."""
    with archive_errors(path.name), zipfile.ZipFile(path) as file:
        yield Archive(file, path.name)


@contextlib.contextmanager
def archive_errors(name: str) -> Iterator[None]:
    """Raise a ``DataError`` with one sentence for every error of an archive."""
    try:
        yield
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, UnicodeDecodeError):
        raise DataError(f"{name} is not a zip file, or damaged: it cannot be read to its end.") from None
    except (NotImplementedError, RuntimeError):  # of zipfile: packed in another way, or under a password
        raise DataError(f"{name} is encrypted, or packed in a way that cannot be read here.") from None
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or 'it is damaged'}.") from None


def parse_xml(content: bytes, name: str) -> Element:
    """Parse XML without document type and entities; raise ``DataError`` and nothing else.

    >>> parse_xml(b"<a><b>1</b></a>", "x.xml").value("b")
    '1'
    >>> parse_xml(b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "x.xml")
    Traceback (most recent call last):
    celosia.errors.DataError: x.xml declares a document type, which no project needs. It is refused.
    """
    root = Element("")
    path = [root]

    def start(tag: str, _: dict[str, str]) -> None:
        if len(path) > DEEPEST:
            raise DataError(f"{name} is nested more than {DEEPEST} times.")
        path[-1].inner.append(Element(tag))
        path.append(path[-1].inner[-1])

    def end(_: str) -> None:
        path.pop()

    def words(text: str) -> None:
        path[-1].pieces.append(text)

    def refuse_doctype(*_: object) -> None:
        raise DataError(f"{name} declares a document type, which no project needs. It is refused.")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, words
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        line = getattr(error, "lineno", 1)
        raise DataError(f"{name} is not XML: line {line} cannot be read.") from None
    return root.inner[0]


def _short(entry: str) -> str:
    """Return the name of an entry, shortened for a message."""
    return repr(entry if len(entry) <= 80 else f"{entry[:40]}…{entry[-30:]}")
