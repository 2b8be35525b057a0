"""Undo and redo: the policies of a project, on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from celosia.data.io.atomic import replaced

MOST = 500
"""Policies that are kept on either side."""


class Past:
    """Two piles of files: what was before, and what was taken back."""

    def __init__(self, folder: Path) -> None:
        self._undo, self._redo = folder / "undo", folder / "redo"
        for pile in (self._undo, self._redo):
            pile.mkdir(parents=True, exist_ok=True)

    @property
    def can_undo(self) -> bool:
        """Whether something can be taken back."""
        return bool(_files(self._undo))

    @property
    def can_redo(self) -> bool:
        """Whether something that was taken back can be made again."""
        return bool(_files(self._redo))

    def remember(self, text: str) -> None:
        """A new change: the policy before it is kept, and what was taken back is gone."""
        _push(self._undo, text)
        for file in _files(self._redo):
            file.unlink()

    def back(self, now: str, write: Callable[[str], None]) -> None:
        """Write the policy before the last change; ``now`` is kept for a way forward."""
        _move(self._undo, self._redo, now, write)

    def forward(self, now: str, write: Callable[[str], None]) -> None:
        """Write the policy that was taken back last."""
        _move(self._redo, self._undo, now, write)


def _files(pile: Path) -> list[Path]:
    return sorted(pile.glob("*.toml"))


def _push(pile: Path, text: str) -> None:
    files = _files(pile)
    number = int(files[-1].stem) + 1 if files else 0
    with replaced(pile / f"{number:08}.toml", 0o600) as draft:
        draft.write_text(text, encoding="utf-8")
    for old in files[: max(0, len(files) + 1 - MOST)]:
        old.unlink()


def _move(source: Path, target: Path, now: str, write: Callable[[str], None]) -> None:
    """Both policies are kept until the other one is written: a kill in between loses none."""
    files = _files(source)
    if files:
        _push(target, now)
        write(files[-1].read_text(encoding="utf-8"))
        files[-1].unlink()
