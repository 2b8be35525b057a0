"""A project: a folder with a policy, its inputs by hash, its results by the hash of the policy."""

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

from celosia.data.io.atomic import replaced
from celosia.data.io.filetypes import type_of
from celosia.data.spill import private_folder
from celosia.errors import CelosiaError, InputError
from celosia.release.policy.policy import Policy
from celosia.studio.past import Past
from celosia.studio.paths import named_paths, paths_of

POLICY = "policy.toml"
INSIDE = ".studio"
"""Where the studio keeps the history of policies and its jobs."""
WRITTEN = (
    *(POLICY, INSIDE, "inputs", "results", "publications", "consent.db"),
    *("gateway.toml", "ledger.db", "keys.json", "inferences.toml", "inferences.xml"),
)
"""Names in the folder that the pages read and write without being given a path."""
LAST_VALID = "past/last-valid.toml"
UPLOAD = "upload-"
"""How the folders begin that hold uploads on their way."""
BLOCK = 1 << 20


class Changed(CelosiaError):
    """The policy is no longer the one that an edit was made for."""


class Project:
    """The folder. Nothing outside it is read or written by name, and nothing is kept elsewhere."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in WRITTEN:  # a folder from a third party may hold symbolic links
            self.inside(name)
        self.own = self.folder / INSIDE
        self.own.mkdir(mode=0o700, exist_ok=True)
        self.own.chmod(0o700)
        _refuse_links(self.own)
        self.past = Past(self.own / "past")
        self._lock, self._depth = threading.RLock(), 0
        self._parsed: tuple[str, Policy | None] = "", None  # a page asks for the same policy several times
        self._valid = self.last_valid

    @property
    def name(self) -> str:
        """What people call it."""
        return self.folder.name

    @property
    def path(self) -> Path:
        """The file of the policy."""
        return self.inside(POLICY)

    @property
    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""

    @property
    def text(self) -> str:
        """The policy as it is written; empty where there is none yet. Bytes that are not UTF-8 are shown as U+FFFD."""
        return _universal(self._bytes.decode("utf-8", "replace"))

    @property
    def version(self) -> str:
        """The hash of the policy: what results are kept by, and what an edit says it was made for."""
        content = self._bytes
        try:
            return version_of(_universal(content.decode("utf-8")))
        except UnicodeDecodeError:
            return hashlib.sha256(content).hexdigest()[:16]

    @property
    def ready(self) -> bool:
        """Whether there is a policy."""
        return bool(self._bytes)

    @property
    def last_valid(self) -> str:
        """Text of the last policy that could be read; empty where there is none."""
        try:
            return (self.own / LAST_VALID).read_text("utf-8")
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def policy(self, text: str | None = None) -> Policy:
        """The policy, checked; its paths lie in the folder."""
        written = self._decoded() if text is None else text
        if not written:
            raise InputError("there is no policy yet: start with a file, a query or the demonstration.")
        parsed, policy = self._parsed
        if policy is None or parsed != written:
            policy = Policy.parse(written, self.folder, POLICY)
            for path in named_paths(written):
                self.inside(path)
            self._parsed = written, policy
        if text is None and written != self._valid:
            self._valid = written
            with replaced(self.own / LAST_VALID, 0o600) as draft:
                draft.write_text(written, encoding="utf-8")
        return policy

    def _decoded(self) -> str:
        """Text of the policy; bytes that are not UTF-8 are refused by their line."""
        content = self._bytes
        try:
            return _universal(content.decode("utf-8"))
        except UnicodeDecodeError as problem:
            line = content.count(b"\n", 0, problem.start) + 1
            raise InputError(f"{POLICY}: line {line} is not UTF-8 text. Save the file as UTF-8.") from None

    def drafted(self, sections: Mapping[str, Any], text: str) -> Policy:
        """A policy that is only looked at, checked as well: of sections that differ from a text in what is drafted."""
        policy = Policy.of(sections, self.folder, POLICY, text)
        for path in paths_of(sections):
            self.inside(path)
        return policy

    def change(self, edit: Callable[[str], str], version: str | None = None) -> Policy:
        """Replace the policy by what an edit makes of it; one that does not hold water changes nothing.

        ``version`` is the policy that the edit was made for: when another tab changed it meanwhile, it is refused.
        """
        with self.alone():
            self.check(version)
            before = self.text
            after = edit(before)
            if "\N{REPLACEMENT CHARACTER}" in after:
                self._decoded()  # raises where that character replaces what could not be read
            policy = self.policy(after)
            if after != before:
                self.past.remember(before)
                self._write(after)
            return policy

    def check(self, version: str | None) -> None:
        """Refuse what was made for another policy than the present one; None is for any."""
        if version is not None and version != self.version:
            raise Changed("the policy was changed meanwhile, perhaps in another tab: look at it and try again.")

    def undo(self, version: str | None = None) -> None:
        """Take the last change back; ``version`` is the policy that was seen when it was asked for."""
        with self.alone():
            self.check(version)
            self.past.back(self.text, self._write)

    def redo(self, version: str | None = None) -> None:
        """Make a change again that was taken back."""
        with self.alone():
            self.check(version)
            self.past.forward(self.text, self._write)

    def _write(self, text: str) -> None:
        if not text:
            self.path.unlink(missing_ok=True)
            return
        with replaced(self.path, 0o600) as draft:
            draft.write_text(text, encoding="utf-8")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others out of the folder while it is changed: threads, and another studio on the same folder."""
        with self._lock, (self.own / "lock").open("w") as file:
            if not self._depth:  # another lock of the same process would wait for this one
                fcntl.flock(file, fcntl.LOCK_EX)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def inside(self, path: str | Path) -> Path:
        """A path of the folder; one that leads out of it is refused, by dots or by links."""
        wanted = (self.folder / path).resolve()
        if not wanted.is_relative_to(self.folder):
            raise InputError(
                f"{str(path)!r} lies outside the project's folder, where the studio reads and writes nothing: copy the "
                "file into the folder."
            )
        return wanted

    def keep(self, name: str, content: IO[bytes], check: Callable[[Path], object] | None = None) -> Path:
        """Keep an uploaded file under its hash; returns its path. ``check`` raises where the content is wrong."""
        name = file_name(name)
        with private_folder(self.own, UPLOAD) as folder:
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
            place = self.inside(Path("inputs", digest.hexdigest()[:16])) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            draft.replace(place)
        return place

    def results(self, version: str | None = None) -> Path:
        """The folder of the results of a policy; a link out of the project's folder is refused."""
        return self.inside(Path("results", version or self.version))


def _refuse_links(folder: Path) -> None:
    """Refuse symbolic links in a folder that belongs to the studio alone."""
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            place = Path(parent, name)
            if place.is_symlink():
                raise InputError(f"{INSIDE}/{place.relative_to(folder)} is a symbolic link: delete it and start again.")


def _universal(text: str) -> str:
    """Text with the line ends of Unix, as files are read in text mode."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def version_of(text: str) -> str:
    """The hash of a policy, short enough for a folder's name."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def file_name(name: str) -> str:
    r"""The name of an uploaded file without folders and signs that file systems mind; the type must be known.

    >>> file_name("../../etc/My data (1).csv")
    'My data _1_.csv'
    """
    plain = re.sub(r"[^\w .-]", "_", name.replace("\\", "/").rsplit("/", 1)[-1]).strip(" .")[-100:]
    if not plain:
        raise InputError("the file needs a name.")
    type_of(plain)
    return plain
