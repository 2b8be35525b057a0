"""The gateway of a project, reopened when its declaration or data change."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.gateway.commands import ledger_of
from celosia.gateway.gateway import Gateway
from celosia.gateway.metadata import DatasetFacts
from celosia.studio.pages.query.declaration import FILE

if TYPE_CHECKING:
    from celosia.studio.project import Project

ANALYST = "owner"
DUCKDB = "duckdb"
"""Database of a declaration whose tables are files."""


class Desk:
    """The gateway of a project; its ledger is shared with the commands."""

    def __init__(self, project: Project) -> None:
        self._project, self.path = project, project.folder / FILE
        self._lock = threading.Lock()
        self._open: tuple[tuple[float, ...], Gateway] | None = None

    @property
    def declared(self) -> bool:
        """Whether a declaration exists."""
        return self.path.is_file()

    def gateway(self) -> Gateway:
        """Return the gateway of the current declaration."""
        with self._lock:
            facts = DatasetFacts.load(self.path)
            if facts.database.rstrip(":/") != DUCKDB:
                self._project.check_reference(facts.database, Path.cwd())
            for name, table in facts.tables.items():
                self._project.resolve(table.source or f"{name}.csv")
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
