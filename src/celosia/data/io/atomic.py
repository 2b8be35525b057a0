"""Atomic writes: one file, or several files together, are written completely or not at all.

The content goes to a draft in the directory of the target, which is synced to the disk before it is renamed. Several
files are replaced in one step by a *journal*: as soon as it is on the disk the new release counts, and the first
process that finds it (the writer, or the next command after a kill) renames the drafts. Before that the old release
counts. A lock on the journal serialises processes with the same target.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypedDict

from celosia import files
from celosia.errors import DataError, OutputError

PART = ".part-"
JOURNAL = "release.json"
"""Suffix of the hidden file that lists the drafts of a release."""


class _Entry(TypedDict):
    """Line of a journal: the draft to rename to ``file``; without a draft the file is deleted."""

    draft: str | None
    file: str
    inode: int


@contextlib.contextmanager
def replace_file(path: str | Path, mode: int | None = None) -> Iterator[Path]:
    """Yield a temporary path in the same directory and move it to ``path`` after the block.

    An error inside the block leaves ``path`` unchanged and removes the temporary file. ``mode`` is the file mode of the
    result (``0o600`` for private records), by default that of a new file.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as place:
    ...     target = pathlib.Path(place) / "a.txt"
    ...     with replace_file(target) as draft:
    ...         _ = draft.write_text("whole")
    ...     target.read_text(), len(list(pathlib.Path(place).iterdir()))
    ('whole', 1)
    """
    target = Path(path)
    with _drafts([target]) as (draft,):
        try:
            yield draft
            _sync_file(draft, mode)
            draft.replace(target)
            _sync_directory(target.parent)
        except OSError as error:
            raise _write_error(target, error) from error


@contextlib.contextmanager
def replace_files(
    targets: Mapping[str, Path],
    journal: Path,
    modes: Mapping[str, int] | None = None,
    *,
    stale: Callable[[], Iterable[Path]] = tuple,
    fresh: bool = False,
) -> Iterator[dict[str, Path]]:
    """Yield a draft for each of several files in one directory, and replace all of them after the block, or none.

    ``stale`` is called after the block for other files of that directory to delete in the same step: those of an
    earlier release that the new one lacks. With ``fresh`` no file is replaced, even if it was written in the meantime.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as place:
    ...     paths = {name: pathlib.Path(place) / name for name in ("a", "b")}
    ...     with replace_files(paths, pathlib.Path(place) / ".release.json") as drafts:
    ...         for name, draft in drafts.items():
    ...             _ = draft.write_text(name)
    ...     sorted(path.name for path in pathlib.Path(place).iterdir())
    ['a', 'b']
    """
    finish_journal(journal)
    with _drafts(list(targets.values()), journal) as removed:
        drafts = dict(zip(targets, removed, strict=True))
        try:
            yield drafts
            for name, draft in drafts.items():
                _sync_file(draft, (modes or {}).get(name))
            with _lock_journal(journal):
                _follow(journal)  # of a process that was killed while this one was writing
                deleted = [path for path in stale() if path.is_file()]
                if fresh:
                    refuse_existing([*targets.values(), *deleted])
                entries = [_entry(targets[name], draft) for name, draft in drafts.items()]
                entries += [_entry(path) for path in deleted]
                removed.clear()  # with the journal the drafts are the release, and stay
                _write_journal(journal, entries)
                _follow(journal)
        except OSError as error:
            raise _write_error(next(iter(targets.values())), error) from error


def refuse_existing(paths: Iterable[Path]) -> None:
    """Raise if one of the paths exists."""
    for path in paths:
        if path.exists():
            raise OutputError(
                f"{path.name!r} is there already: choose another path, or replace it with --overwrite "
                "(in Python overwrite=True)."
            )


def journals(directory: Path) -> list[Path]:
    """List the journals in a directory."""
    return [path for path in directory.glob(f".*{JOURNAL}") if not path.name.startswith(PART)]


def finish_journal(journal: Path) -> None:
    """Finish an interrupted release if there is a journal: rename the drafts, then remove the journal.

    A directory may come from a third party, so only files in it whose inodes are in the journal are renamed or removed;
    any other journal is refused.
    """
    try:
        if journal.exists():
            with _lock_journal(journal):
                _follow(journal)
    except OSError as error:
        raise _write_error(journal, error) from error


def _follow(journal: Path) -> None:
    entries = _entries(journal)
    if entries is None:
        return
    for draft, file, _ in entries:
        with contextlib.suppress(FileNotFoundError):  # it was renamed, or deleted, before
            file.unlink() if draft is None else draft.replace(file)
    _sync_directory(journal.parent)
    journal.unlink(missing_ok=True)
    _sync_directory(journal.parent)


def refuse_originals(path: str | Path, originals: Iterable[str | Path]) -> None:
    """Raise if ``path`` is one of the originals, by any name or link."""
    target = Path(path)
    for original in map(Path, originals):
        if target.exists() and original.exists() and target.samefile(original):
            raise OutputError(
                f"{str(target)!r} is an original: it is never overwritten. Give another path for the result."
            )


@contextlib.contextmanager
def _drafts(targets: list[Path], *more: Path) -> Iterator[list[Path]]:
    """Create empty drafts for targets in one directory; those still in the list after the block are removed."""
    for target in targets:
        _refuse_special(target)
    drafts: list[Path] = []
    with contextlib.ExitStack() as stack:
        stack.callback(_remove, drafts)
        try:
            directory = os.open(targets[0].parent, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, directory)
            _sweep(directory, [*targets, *more])
            for target in targets:
                descriptor, name = tempfile.mkstemp(prefix=PART, suffix=f"-{target.name}", dir=target.parent)
                os.close(descriptor)
                drafts.append(Path(name))
        except OSError as error:
            raise _write_error(targets[len(drafts)], error) from error
        yield drafts


def _refuse_special(target: Path) -> None:
    """Raise for a target that exists and is not a regular file: a rename would replace a device by a file."""
    try:
        str(target).encode()
        files.regular_file(target)
    except UnicodeEncodeError:
        raise OutputError(f"cannot write {str(target)!r}: its name is no UTF-8 text.") from None
    except FileNotFoundError:
        return
    except IsADirectoryError:
        raise OutputError(f"cannot write {str(target)!r}: it is a directory. Give the path of a file.") from None
    except OSError as error:
        raise _write_error(target, error) from None


def _remove(drafts: list[Path]) -> None:
    for draft in drafts:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def _lock_journal(journal: Path) -> Iterator[None]:
    """Exclude other processes from a journal, by a lock on a second file, which is removed afterwards."""
    import fcntl

    lock = journal.with_name(f"{PART}lock{journal.name}")
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is(lock, os.fstat(descriptor).st_ino):
            break
        os.close(descriptor)  # its owner has removed the file, so that the lock excludes no other process
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _entry(file: Path, draft: Path | None = None) -> _Entry:
    return {"draft": draft.name if draft else None, "file": file.name, "inode": (draft or file).stat().st_ino}


def _write_journal(journal: Path, entries: list[_Entry]) -> None:
    try:
        _sync_directory(journal.parent)  # the names of the drafts before the journal
        with replace_file(journal, 0o600) as draft:
            draft.write_text(json.dumps(entries), encoding="utf-8")
    except BaseException:
        if not journal.exists():
            _remove([journal.with_name(entry["draft"]) for entry in entries if entry["draft"]])
        raise


def _sweep(directory: int, targets: list[Path]) -> None:
    """Remove drafts of killed processes for the targets, unless a running process is writing in the directory.

    Each writer has a shared lock on the directory, which is released when it ends. Drafts of a journal stay.
    """
    import fcntl

    place = targets[0].parent
    with contextlib.suppress(OSError, DataError):  # locked, no locks in this file system, or an invalid journal
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        pending = {draft for journal in journals(place) for draft, _, _ in _entries(journal) or () if draft}
        for target in targets:
            _remove([old for old in place.glob(f"{PART}*-{glob.escape(target.name)}") if old not in pending])
    with contextlib.suppress(OSError):
        fcntl.flock(directory, fcntl.LOCK_SH)


def _entries(journal: Path) -> list[tuple[Path | None, Path, int]] | None:
    """Read and validate a journal: draft (None to delete the file), file and inode of each entry; None without one."""
    try:
        recorded: list[_Entry] = json.loads(journal.read_text(encoding="utf-8"))
        entries = [
            (
                journal.with_name(entry["draft"]) if entry["draft"] else None,
                journal.with_name(entry["file"]),
                int(entry["inode"]),
            )
            for entry in recorded
        ]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError, RecursionError):
        entries = []
    if not any(draft for draft, _, _ in entries) or not all(_is_current(*entry) for entry in entries):
        raise DataError(
            f"{journal.name} in {str(journal.parent)!r} tells of files that are not those it was written about. Remove "
            "it if the directory came from elsewhere; otherwise make the release again after removing it."
        )
    return entries


def _is_current(draft: Path | None, file: Path, inode: int) -> bool:
    """Return whether an entry is about the file with its inode, before or after the rename."""
    if draft is None:
        return _is(file, inode) or not os.path.lexists(file)
    return draft.name.startswith(PART) and (_is(draft, inode) or _is(file, inode))


def _is(path: Path, inode: int) -> bool:
    """Return whether a path is the regular file with this inode."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_ino == inode


def _sync_file(draft: Path, mode: int | None) -> None:
    """Set the mode of a draft and sync it: after a power cut a renamed file could be empty otherwise."""
    draft.chmod(_default_mode() if mode is None else mode)
    with draft.open("rb") as file:
        os.fsync(file.fileno())


def _sync_directory(directory: Path) -> None:
    """Sync the names in a directory to the disk, if the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_error(target: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot write {str(target)!r}: {error.strerror or error}.")


def _default_mode() -> int:
    """Return the mode of a new file."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
