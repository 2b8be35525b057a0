"""Where an engine puts what does not fit into memory: one private folder per process, gone with it.

A process holds a lock on its folder. A kill releases the lock, so that the next run, or the next process that needs a
folder, knows those that nobody holds, and removes them.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "celosia-spill-"


def spill_folder() -> Path:
    """The folder of this process, made when it is first asked for; ``TMPDIR`` says where."""
    return _folder_of(os.getpid(), Path(tempfile.gettempdir()))


@functools.cache
def _folder_of(process: int, place: Path) -> Path:
    folder, _ = _create_locked(place, PREFIX)
    atexit.register(_remove, process, folder)
    return folder


@contextlib.contextmanager
def private_folder(place: Path, prefix: str) -> Iterator[Path]:
    """A folder for one piece of work, gone with it; those that killed processes left go first."""
    folder, lock = _create_locked(place, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _create_locked(place: Path, prefix: str) -> tuple[Path, int]:
    """A new folder and the lock on it, after those that nobody holds are swept."""
    import fcntl

    sweep(place, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return folder, lock


def sweep_here() -> None:
    """Remove what killed processes left where this one would put its own folder."""
    sweep(Path(tempfile.gettempdir()))


def _remove(process: int, folder: Path) -> None:
    if os.getpid() == process:  # not in a child that inherited the exit handler
        shutil.rmtree(folder, ignore_errors=True)


def sweep(place: Path, prefix: str = PREFIX) -> None:
    """Remove the folders of processes that are gone."""
    import fcntl

    for folder in place.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):  # held by a process that lives, or of another user
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


__all__ = ["private_folder", "spill_folder", "sweep", "sweep_here"]
