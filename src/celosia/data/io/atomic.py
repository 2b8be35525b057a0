"""Files that are written whole or not at all, one by one or several together.

A draft beside the target takes the content; it is on the disk before the name points to it. Several files appear in one
step by a *journal*: once it is on the disk, the release is the new one, and whoever meets the journal first (the writer
itself, or the next command after a kill) gives the drafts their names. Before that the release is the old one. Whoever
writes or follows a journal holds a lock meanwhile, so that two processes with one target come one after the other.
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
from typing import Any

from celosia import files
from celosia.errors import DataError, OutputError

PART = ".part-"
JOURNAL = "release.json"
"""How the hidden file ends that says which drafts are a release."""


@contextlib.contextmanager
def replace_file(path: str | Path, mode: int | None = None) -> Iterator[Path]:
    """Give a temporary path in the same directory and move it to ``path`` when the block ends well.

    An error inside the block leaves what was at ``path`` as it was and removes the temporary file. ``mode`` is the
    file mode of the result (``0o600`` for private records); without it the mask of the process decides.

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
    """Give a draft for each of several files in one directory; all appear when the block ends well, else none.

    ``stale`` tells, at the end, which other files of that directory go in the same step: what an earlier release had
    and the new one has not. With ``fresh`` nothing is replaced: what another process wrote meanwhile stays.

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
                going = [path for path in stale() if path.is_file()]
                if fresh:
                    refuse_existing([*targets.values(), *going])
                entries = [_entry(targets[name], draft) for name, draft in drafts.items()] + [_entry(p) for p in going]
                removed.clear()  # with the journal the drafts are the release: then they stay, whatever happens
                _write_journal(journal, entries)
                _follow(journal)
        except OSError as error:
            raise _write_error(next(iter(targets.values())), error) from error


def refuse_existing(paths: Iterable[Path]) -> None:
    """Raise when one of the paths is there: nothing is replaced that nobody allowed to be."""
    for path in paths:
        if path.exists():
            raise OutputError(
                f"{path.name!r} is there already: choose another path, or replace it with --overwrite "
                "(in Python overwrite=True)."
            )


def journals(directory: Path) -> list[Path]:
    """The journals that lie in a directory."""
    return [path for path in directory.glob(f".*{JOURNAL}") if not path.name.startswith(PART)]


def finish_journal(journal: Path) -> None:
    """Finish what a journal says, if there is one: give the drafts their names, then remove the journal.

    A directory may come from elsewhere, so nothing is renamed or removed but the very files (by inode) that the journal
    was written about, inside its own directory; anything else is refused.
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
        with contextlib.suppress(FileNotFoundError):  # it has its name already, or is gone
            file.unlink() if draft is None else draft.replace(file)
    _sync_directory(journal.parent)
    journal.unlink(missing_ok=True)
    _sync_directory(journal.parent)


def refuse_originals(path: str | Path, originals: Iterable[str | Path]) -> None:
    """Raise when ``path`` is one of the originals, by whatever name or link."""
    target = Path(path)
    for original in map(Path, originals):
        if target.exists() and original.exists() and target.samefile(original):
            raise OutputError(
                f"{str(target)!r} is an original: it is never overwritten. Give another path for the result."
            )


@contextlib.contextmanager
def _drafts(targets: list[Path], *more: Path) -> Iterator[list[Path]]:
    """Empty drafts beside targets of one directory, in a list of what is removed at the end."""
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
    """Refuse a target that is there and no plain file: a rename would put a file in the place of a device."""
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
    """Keep other processes from the same journal, by a lock on a file beside it that goes afterwards."""
    import fcntl

    lock = journal.with_name(f"{PART}lock{journal.name}")
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is(lock, os.fstat(descriptor).st_ino):
            break
        os.close(descriptor)  # whoever held it has removed it: it keeps nobody out any more
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _entry(file: Path, draft: Path | None = None) -> dict[str, Any]:
    """A line of a journal: the draft that becomes a file; without one the file goes."""
    return {"draft": draft and draft.name, "file": file.name, "inode": (draft or file).stat().st_ino}


def _write_journal(journal: Path, entries: list[dict[str, Any]]) -> None:
    try:
        _sync_directory(journal.parent)  # the names of the drafts, before something tells of them
        with replace_file(journal, 0o600) as draft:
            draft.write_text(json.dumps(entries), encoding="utf-8")
    except BaseException:
        if not journal.exists():
            _remove([journal.with_name(entry["draft"]) for entry in entries if entry["draft"]])
        raise


def _sweep(directory: int, targets: list[Path]) -> None:
    """Remove drafts of the targets that a killed process left, unless a process that lives is writing in the directory.

    Each writer holds a shared lock on the directory, which ends with it however it ends. Drafts of a journal stay.
    """
    import fcntl

    place = targets[0].parent
    with contextlib.suppress(OSError, DataError):  # held by others, a file system without locks, an odd journal
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        pending = {draft for journal in journals(place) for draft, _, _ in _entries(journal) or () if draft}
        for target in targets:
            _remove([old for old in place.glob(f"{PART}*-{glob.escape(target.name)}") if old not in pending])
    with contextlib.suppress(OSError):
        fcntl.flock(directory, fcntl.LOCK_SH)


def _entries(journal: Path) -> list[tuple[Path | None, Path, int]] | None:
    """What a journal says, checked: drafts, the files they become, and which files they are. None without a journal.

    Where there is no draft the file itself goes.
    """
    try:
        recorded: Any = json.loads(journal.read_text(encoding="utf-8"))
        entries = [
            (
                entry["draft"] and journal.with_name(entry["draft"]),
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
    """Whether a line of a journal tells of the file that it was written about, before or after it was followed."""
    if draft is None:
        return _is(file, inode) or not os.path.lexists(file)
    return draft.name.startswith(PART) and (_is(draft, inode) or _is(file, inode))


def _is(path: Path, inode: int) -> bool:
    """Whether a plain file is there, and that one."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_ino == inode


def _sync_file(draft: Path, mode: int | None) -> None:
    """Give a draft its mode and put it on the disk, or a power cut after the rename would leave an empty file."""
    draft.chmod(_default_mode() if mode is None else mode)
    with draft.open("rb") as file:
        os.fsync(file.fileno())


def _sync_directory(directory: Path) -> None:
    """Put the names in a directory on the disk, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_error(target: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot write {str(target)!r}: {error.strerror or error}.")


def _default_mode() -> int:
    """Return the mode that ``open`` would give a new file."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
