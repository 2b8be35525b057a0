"""Samples of the data in memory, for what must answer at once; numbers that count come from the whole data.

A sample is kept by what it depends on: the input as the policy describes it, and the columns. It is drawn once, by
every n-th record of a fixed shuffle, so that the same sample is seen after a reload.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.release.policy.policy import Policy
from celosia.studio import editing
from celosia.studio.project import Project
from celosia.table import Table, read

if TYPE_CHECKING:
    from celosia.proposals import ColumnSuggestion

SAMPLE = 2_000
"""Records of a sample."""
LARGE, SMALL = 2, 200
"""How many whole tables and samples are kept, and how many counts and pictures."""


@dataclass(frozen=True)
class Sample:
    """A part of the data, and how much of it that is."""

    table: Table
    rows: int
    """Records of the whole data."""

    @property
    def size(self) -> int:
        """Records of the sample."""
        return len(self.table)

    @property
    def whole(self) -> bool:
        """Whether the sample is the whole data."""
        return self.size == self.rows


class Samples:
    """The samples and whole tables of a project, a few of them at a time."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Any] = OrderedDict()

    def sample(self, policy: Policy | None = None) -> Sample:
        """A sample of the input under the schema of the policy."""
        policy = policy or self._project.policy()
        frame, rows = self._frame(policy)
        key = "sample " + _digest(policy, "input", "schema")
        drawn: Sample = self._once(
            key, lambda: Sample(read(frame, policy.schema).identified().computed(), rows), 4 * LARGE
        )
        return drawn

    def table(self, policy: Policy | None = None) -> Table:
        """The whole input under the schema of the policy, read once."""
        policy = policy or self._project.policy()
        key = "table " + _digest(policy, "input", "schema")
        table: Table = self._once(key, lambda: policy.table().identified().computed(), LARGE)
        return table

    def once(self, policy: Policy, what: str, make: Callable[[], Any]) -> Any:
        """Something that depends on the input and the columns, made once and kept in memory: counts, pictures."""
        return self._once(f"{what} {_digest(policy, 'input', 'schema')}", make)

    def read_once(self, policy: Policy, what: str, make: Callable[[], Any]) -> Any:
        """The same for what depends on the input alone, whatever its columns are."""
        return self._once(f"{what} {_digest(policy, 'input')}", make)

    def raw(self, policy: Policy) -> Table:
        """The whole input as it is read, whatever its columns are."""
        from celosia.data.schema import Schema

        table: Table = self._once("raw " + _digest(policy, "input"), lambda: policy.table(Schema()), LARGE)
        return table

    def proposals(self, policy: Policy) -> dict[str, ColumnSuggestion]:
        """What is proposed for each column of the input; it does not change with what the policy says of them."""
        from celosia.proposals import suggest

        listed = self.read_once(policy, "proposals", lambda: suggest(self.raw(policy)))
        return {proposal.name: proposal for proposal in listed}

    def _frame(self, policy: Policy) -> tuple[Any, int]:
        """The records of the sample, whatever the columns are, and the number of all."""

        def draw() -> tuple[Any, int]:
            table = self.raw(policy)
            rows = len(table)
            frame = table.polars()
            return (frame.sample(SAMPLE, seed=1) if rows > SAMPLE else frame), rows

        drawn: tuple[Any, int] = self._once("frame " + _digest(policy, "input"), draw, LARGE)
        return drawn

    def _once(self, key: str, make: Callable[[], Any], most: int = SMALL) -> Any:
        """What a key stands for, made where it is not kept; of its sort (the first word) so many are kept."""
        sort = key.split()[0]
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make()
        with self._lock:
            self._kept[key] = value
            alike = [other for other in self._kept if other.split()[0] == sort]
            for old in alike[: max(0, len(alike) - most)]:
                del self._kept[old]
        return value


def _digest(policy: Policy, *sections: str) -> str:
    """A name for sections of a policy, and for the file that it reads."""
    depends = [repr(editing.get(policy.text, (name,))) for name in sections]
    path = policy.input.path
    if path is not None and path.exists():
        stat = path.stat()
        depends.append(f"{stat.st_mtime_ns} {stat.st_size}")
    return hashlib.sha256("\0".join(depends).encode()).hexdigest()
