"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from celosia.errors import OutputError


@contextlib.contextmanager
def replaced(path: str | Path, mode: int | None = None) -> Iterator[Path]:
    """Give a temporary path in the same directory and move it to ``path`` when the block ends well.

    An error inside the block leaves what was at ``path`` as it was and removes the temporary file. ``mode`` is the
    file mode of the result (``0o600`` for private records); without it the mask of the process decides.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as place:
    ...     target = pathlib.Path(place) / "a.txt"
    ...     with replaced(target) as draft:
    ...         _ = draft.write_text("whole")
    ...     target.read_text(), len(list(pathlib.Path(place).iterdir()))
    ('whole', 1)
    """
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"cannot write {str(target)!r}: it is a directory. Give the path of a file.")
    try:
        descriptor, name = tempfile.mkstemp(prefix=".part-", suffix=f"-{target.name}", dir=target.parent)
    except OSError as error:
        raise OutputError(f"cannot write {str(target)!r}: {error.strerror or error}.") from error
    os.close(descriptor)
    draft = Path(name)
    try:
        yield draft
        # The data must be on the disk before the name points to them, or a power cut leaves an empty file.
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.chmod(_masked() if mode is None else mode)
        draft.replace(target)
    except OSError as error:
        raise OutputError(f"cannot write {str(target)!r}: {error.strerror or error}.") from error
    finally:
        draft.unlink(missing_ok=True)


def refuse_originals(path: str | Path, originals: Iterable[str | Path]) -> None:
    """Raise when ``path`` is one of the originals, by whatever name or link."""
    target = Path(path)
    for original in map(Path, originals):
        if target.exists() and original.exists() and target.samefile(original):
            raise OutputError(
                f"{str(target)!r} is an original: it is never overwritten. Give another path for the result."
            )


def _masked() -> int:
    """Return the mode that ``open`` would give a new file."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
