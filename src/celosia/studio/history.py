"""Undo and redo: earlier and later versions of the policy, as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from celosia.data.io.atomic import replace_file

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
