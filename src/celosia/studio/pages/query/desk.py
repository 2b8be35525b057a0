"""The gateway of a project, opened once and again when its declaration or its data change."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.gateway.commands import ledger_of
from celosia.gateway.gateway import Gateway
from celosia.gateway.metadata import DatasetFacts
from celosia.studio.pages.query.declaring import FILE

if TYPE_CHECKING:
    from celosia.studio.project import Project

ANALYST = "owner"


class Desk:
    """Where questions are asked; the ledger beside the declaration is the one that the commands use too."""

    def __init__(self, project: Project) -> None:
        self.path = project.folder / FILE
        self._lock = threading.Lock()
        self._open: tuple[tuple[float, ...], Gateway] | None = None

    @property
    def declared(self) -> bool:
        """Whether there is a declaration."""
        return self.path.is_file()

    def gateway(self) -> Gateway:
        """The gateway of the declaration as it is now."""
        with self._lock:
            facts = DatasetFacts.load(self.path)
            files = [self.path, *(Path(each.source) for each in facts.tables.values() if each.source)]
            state = tuple(file.stat().st_mtime for file in files if file.is_file())
            if self._open is not None and self._open[0] == state:
                return self._open[1]
            if self._open is not None:
                self._open[1].close()
                self._open = None
            opened = Gateway.load(self.path, ledger_of(self.path, None))
            self._open = (state, opened)
            return opened
