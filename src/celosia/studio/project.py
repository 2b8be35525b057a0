"""A project: a folder with a policy, uploaded inputs named by their hash, and results by the hash of the policy."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from celosia.data.credentials import is_reference, resolve_reference
from celosia.data.io.atomic import replace_file
from celosia.data.io.database import without_password
from celosia.data.io.filetypes import type_of
from celosia.data.spill import private_folder
from celosia.errors import CelosiaError, InputError
from celosia.parts import from_directory
from celosia.release.policy.policy import Policy
from celosia.studio.paths import is_server, named_references, path_in, references_of

POLICY = "policy.toml"
INSIDE = ".studio"
"""Folder of the studio for undo history, jobs and settings."""
WRITTEN = (
    *(POLICY, INSIDE, "inputs", "results", "publications", "consent.db"),
    *("gateway.toml", "ledger.db", "keys.json", "inferences.toml", "inferences.xml"),
)
"""Files and folders that pages read and write under fixed names."""
LAST_VALID = "past/last-valid.toml"
UPLOAD = "upload-"
"""Prefix of temporary folders for uploads."""
BLOCK = 1 << 20


class PolicyChanged(CelosiaError):
    """The policy changed since the form of an edit was loaded."""


class Project:
    """The folder of a project. Nothing outside it is read or written by name, and all state is in it.

    A policy may name the address of a database server with ``servers`` only, since a folder may be a third party's.
    """

    def __init__(self, folder: str | Path, servers: bool = False) -> None:
        self.folder, self.servers = Path(folder).resolve(), servers
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in WRITTEN:  # a folder from a third party may hold symbolic links
            self.resolve(name)
        self.state_folder = self.folder / INSIDE
        self.state_folder.mkdir(mode=0o700, exist_ok=True)
        self.state_folder.chmod(0o700)
        _refuse_links(self.state_folder)
        self.history = History(self.state_folder / "past")
        self._lock, self._depth = threading.RLock(), 0
        self._parsed: tuple[str, Policy | None] = "", None  # one page load parses the policy once
        self._valid = self.last_valid

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def path(self) -> Path:
        """Path of the policy file."""
        return self.resolve(POLICY)

    @property
    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""

    @property
    def text(self) -> str:
        """Text of the policy file; empty if there is none. Bytes that are not UTF-8 are shown as U+FFFD."""
        return _normalise_newlines(self._bytes.decode("utf-8", "replace"))

    @property
    def version(self) -> str:
        """Hash of the policy text: names the folder of its results and detects concurrent edits."""
        content = self._bytes
        try:
            return version_of(_normalise_newlines(content.decode("utf-8")))
        except UnicodeDecodeError:
            return hashlib.sha256(content).hexdigest()[:16]

    @property
    def has_policy(self) -> bool:
        """Whether a policy file exists."""
        return bool(self._bytes)

    @property
    def last_valid(self) -> str:
        """Text of the last valid policy; empty if there is none."""
        try:
            return (self.state_folder / LAST_VALID).read_text("utf-8")
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def policy(self, text: str | None = None) -> Policy:
        """Return the validated policy of the file, or of a text; paths outside the folder are refused."""
        written = self._decode() if text is None else text
        if not written:
            raise InputError("there is no policy yet: start with a file, a query or the demonstration.")
        parsed, policy = self._parsed
        if policy is None or parsed != written:
            policy = Policy.parse(written, self.folder, POLICY)
            for reference in named_references(written):
                self.check_reference(reference)
            self._parsed = written, policy
        if text is None and written != self._valid:
            self._valid = written
            with replace_file(self.state_folder / LAST_VALID, 0o600) as draft:
                draft.write_text(written, encoding="utf-8")
        return policy

    def _decode(self) -> str:
        """Return the text of the policy file; bytes that are not UTF-8 raise with their line number."""
        content = self._bytes
        try:
            return _normalise_newlines(content.decode("utf-8"))
        except UnicodeDecodeError as problem:
            line = content.count(b"\n", 0, problem.start) + 1
            raise InputError(f"{POLICY}: line {line} is not UTF-8 text. Save the file as UTF-8.") from None

    def draft(self, sections: Mapping[str, Any], text: str) -> Policy:
        """Return a validated policy that is not saved: ``text`` with the sections of an unsaved form."""
        policy = Policy.of(sections, self.folder, POLICY, text)
        for reference in references_of(sections):
            self.check_reference(reference)
        return policy

    def change(self, edit: Callable[[str], str], version: str | None = None) -> Policy:
        """Apply an edit to the policy text; an invalid result raises and changes nothing.

        ``version`` is the policy that the edit was made for; raises :class:`PolicyChanged` if it is no longer current.
        """
        with self.lock():
            self.check(version)
            before = self.text
            after = edit(before)
            if "\N{REPLACEMENT CHARACTER}" in after:
                self._decode()  # raises where that character replaces what could not be read
            policy = self.policy(after)
            if after != before:
                self.history.push(before)
                self._write(after)
            return policy

    def check(self, version: str | None) -> None:
        """Raise :class:`PolicyChanged` unless ``version`` is current; None always passes."""
        if version is not None and version != self.version:
            raise PolicyChanged("the policy was changed meanwhile, perhaps in another tab: check it and try again.")

    def undo(self, version: str | None = None) -> None:
        """Undo the last change; ``version`` is the policy that the page showed."""
        with self.lock():
            self.check(version)
            self.history.undo(self.text, self._write)

    def redo(self, version: str | None = None) -> None:
        """Redo the last undone change; ``version`` is the policy that the page showed."""
        with self.lock():
            self.check(version)
            self.history.redo(self.text, self._write)

    def _write(self, text: str) -> None:
        if not text:
            self.path.unlink(missing_ok=True)
            return
        with replace_file(self.path, 0o600) as draft:
            draft.write_text(text, encoding="utf-8")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock of the folder against other threads and other studios on the same folder."""
        with self._lock, (self.state_folder / "lock").open("w") as file:
            if not self._depth:  # another lock of the same process would wait for this one
                fcntl.flock(file, fcntl.LOCK_EX)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def resolve(self, path: str | Path) -> Path:
        """Resolve a path inside the folder; raise if dots or symbolic links lead out of it."""
        wanted = (self.folder / path).resolve()
        if not wanted.is_relative_to(self.folder):
            raise InputError(
                f"{str(path)!r} lies outside the project's folder, where the studio reads and writes nothing: copy the "
                "file into the folder."
            )
        return wanted

    def check_reference(self, reference: str | Path, start: Path | None = None) -> None:
        """Raise if a path, or the address of a database, leads out of the folder; ``start`` is where paths start.

        The address that a variable or a file holds is checked as well.
        """
        for path in path_in(reference):
            self.resolve((start or self.folder) / path)
        if isinstance(reference, Path):
            return
        plain = reference
        if is_reference(reference):
            try:
                plain = resolve_reference(from_directory(reference, start or self.folder))
            except InputError:
                return  # it has no address, and reading it says so
            for path in path_in(plain):
                self.resolve(path.absolute())
        if is_server(plain) and not self.servers:
            raise InputError(
                f"{without_password(reference)} is a database server, and a folder of a third party could query your "
                "databases this way. If you trust this folder, start the studio with --servers."
            )

    def keep_upload(self, name: str, content: IO[bytes], check: Callable[[Path], object] | None = None) -> Path:
        """Store an uploaded file under its hash and return its path; ``check`` raises if the content is invalid."""
        name = file_name(name)
        with private_folder(self.state_folder, UPLOAD) as folder:
            draft = folder / name
            draft.touch(0o600)  # others who use the machine cannot read it
            digest = hashlib.sha256()
            with draft.open("wb") as out:
                while block := content.read(BLOCK):
                    digest.update(block)
                    out.write(block)
                out.flush()
                os.fsync(out.fileno())
            if check is not None:
                check(draft)
            place = self.resolve(Path("inputs", digest.hexdigest()[:16])) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            draft.replace(place)
        return place

    def results(self, version: str | None = None) -> Path:
        """Return the folder of the results of a policy."""
        return self.resolve(Path("results", version or self.version))


def _refuse_links(folder: Path) -> None:
    """Refuse symbolic links in a folder that belongs to the studio lock."""
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            place = Path(parent, name)
            if place.is_symlink():
                raise InputError(f"{INSIDE}/{place.relative_to(folder)} is a symbolic link: delete it and start again.")


def _normalise_newlines(text: str) -> str:
    """Replace CR and CRLF by LF, as Python does when it reads a file in text mode."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def version_of(text: str) -> str:
    """Return the hash of a policy text, shortened for folder names."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def file_name(name: str) -> str:
    r"""Return a safe name for an uploaded file, without folders and special characters; raise for unknown types.

    >>> file_name("../../etc/My data (1).csv")
    'My data _1_.csv'
    """
    plain = re.sub(r"[^\w .-]", "_", name.replace("\\", "/").rsplit("/", 1)[-1]).strip(" .")[-100:]
    if not plain:
        raise InputError("the file needs a name.")
    type_of(plain)
    return plain


# Undo and redo: earlier and later versions of the policy, as files.


LIMIT = 500
"""Versions kept in each stack."""


class History:
    """The undo stack and the redo stack, one file per version."""

    def __init__(self, folder: Path) -> None:
        self._undo, self._redo = folder / "undo", folder / "redo"
        for stack in (self._undo, self._redo):
            stack.mkdir(parents=True, exist_ok=True)

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(_files(self._undo))

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone change to redo."""
        return bool(_files(self._redo))

    def push(self, text: str) -> None:
        """Store the policy before a new change and clear the redo stack."""
        _push(self._undo, text)
        for file in _files(self._redo):
            file.unlink()

    def undo(self, current: str, write: Callable[[str], None]) -> None:
        """Write the policy before the last change; ``current`` moves to the redo stack."""
        _move(self._undo, self._redo, current, write)

    def redo(self, current: str, write: Callable[[str], None]) -> None:
        """Write the policy that was undone last; ``current`` moves to the undo stack."""
        _move(self._redo, self._undo, current, write)


def _files(stack: Path) -> list[Path]:
    return sorted(stack.glob("*.toml"))


def _push(stack: Path, text: str) -> None:
    files = _files(stack)
    number = int(files[-1].stem) + 1 if files else 0
    with replace_file(stack / f"{number:08}.toml", 0o600) as draft:
        draft.write_text(text, encoding="utf-8")
    for old in files[: max(0, len(files) + 1 - LIMIT)]:
        old.unlink()


def _move(source: Path, target: Path, current: str, write: Callable[[str], None]) -> None:
    """Move the newest version between stacks. It is deleted last, so that a kill in between loses nothing."""
    files = _files(source)
    if files:
        _push(target, current)
        write(files[-1].read_text(encoding="utf-8"))
        files[-1].unlink()
