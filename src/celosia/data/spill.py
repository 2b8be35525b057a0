"""Where an engine puts what does not fit into memory: one private folder per process, gone with it.

A process holds a lock on its folder. A kill releases the lock, so that the next process that needs a folder knows
those that nobody holds, and removes them.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "celosia-spill-"


def spill_folder() -> Path:
    """The folder of this process, made when it is first asked for; ``TMPDIR`` says where."""
    return _folder_of(os.getpid(), Path(tempfile.gettempdir()))


@functools.cache
def _folder_of(process: int, place: Path) -> Path:
    import fcntl

    sweep(place)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    fcntl.flock(os.open(folder, os.O_RDONLY | os.O_DIRECTORY), fcntl.LOCK_SH)
    atexit.register(_removed, process, folder)
    return folder


def _removed(process: int, folder: Path) -> None:
    if os.getpid() == process:  # not in a child that inherited the exit handler
        shutil.rmtree(folder, ignore_errors=True)


def sweep(place: Path) -> None:
    """Remove the folders of processes that are gone."""
    import fcntl

    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # held by a process that lives, or of another user
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


__all__ = ["spill_folder", "sweep"]
