"""The gateway of a project, reopened when its declaration or data change."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.data.credentials import resolve_reference
from celosia.gateway.commands import ledger_of
from celosia.gateway.gateway import Gateway
from celosia.gateway.metadata import DatasetFacts
from celosia.studio.pages.query.declaration import FILE
from celosia.studio.paths import path_in

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
            for place in _places(facts):
                self._project.resolve(place)
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


def _places(facts: DatasetFacts) -> Iterator[str | Path]:
    """Yield every file of a declaration: its database (references resolved) and its tables."""
    yield from path_in(facts.database)
    database = resolve_reference(facts.database)
    own = database.removeprefix(DUCKDB).removeprefix(":///")
    if not database.startswith(DUCKDB):
        yield from path_in(database)
    elif own:
        yield own
    else:
        yield from (table.source or f"{name}.csv" for name, table in facts.tables.items())
