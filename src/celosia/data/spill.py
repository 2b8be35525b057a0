"""Private folder of a process for data that does not fit into memory, deleted when the process ends.

A process has a lock on its folder. A kill releases the lock, so that the next run, or the next process that needs a
folder, removes the folders without a lock.
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
    """Return the folder of this process in the temporary directory (``TMPDIR``); the first call creates it."""
    return _folder_of(os.getpid(), Path(tempfile.gettempdir()))


@functools.cache
def _folder_of(process: int, place: Path) -> Path:
    folder, _ = _create_locked(place, PREFIX)
    atexit.register(_remove, process, folder)
    return folder


@contextlib.contextmanager
def private_folder(place: Path, prefix: str) -> Iterator[Path]:
    """Create a folder that is deleted after the block; folders of killed processes are deleted first."""
    folder, lock = _create_locked(place, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _create_locked(place: Path, prefix: str) -> tuple[Path, int]:
    """Delete the folders without a lock, then create one and lock it."""
    import fcntl

    sweep(place, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return folder, lock


def sweep_here() -> None:
    """Remove the folders of killed processes in the temporary directory."""
    sweep(Path(tempfile.gettempdir()))


def _remove(process: int, folder: Path) -> None:
    if os.getpid() == process:  # not in a child that inherited the exit handler
        shutil.rmtree(folder, ignore_errors=True)


def sweep(place: Path, prefix: str = PREFIX) -> None:
    """Remove the folders of processes that have ended."""
    import fcntl

    for folder in place.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):  # locked by a running process, or of another user
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


__all__ = ["private_folder", "spill_folder", "sweep", "sweep_here"]
