"""Samples of the data in memory for previews; measured values come from the whole data.

The cache key is a hash of the sections of the policy that a value depends on. Samples use a fixed seed, so that a
reload shows the same records.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from celosia.release.policy.policy import Policy
from celosia.studio import toml_edit
from celosia.studio.project import Project
from celosia.table import Table, read
from celosia.table.derive import with_record_ids
from celosia.table.materialise import materialise

if TYPE_CHECKING:
    from celosia.proposals import ColumnSuggestion

T = TypeVar("T")
SAMPLE = 2_000
"""Records of a sample."""
LARGE, SMALL = 2, 200
"""Cached entries per kind: whole tables, and small values such as counts and pictures."""


@dataclass(frozen=True)
class Sample:
    """A sample of the data and the size of the whole."""

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
    """Cached samples, tables and derived values of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, Any] = OrderedDict()

    def sample(self, policy: Policy | None = None) -> Sample:
        """Return a sample of the input under the schema of the policy."""
        policy = policy or self._project.policy()
        frame, rows = self._frame(policy)
        key = "sample " + _digest(policy, "input", "schema")
        return self._get(key, lambda: Sample(materialise(with_record_ids(read(frame, policy.schema))), rows), 4 * LARGE)

    def table(self, policy: Policy | None = None) -> Table:
        """Return the whole input under the schema of the policy, get."""
        policy = policy or self._project.policy()
        key = "table " + _digest(policy, "input", "schema")
        return self._get(key, lambda: materialise(with_record_ids(policy.table())), LARGE)

    def get(self, policy: Policy, name: str, make: Callable[[], T]) -> T:
        """Return a get value that depends on the input and the schema, such as counts or a picture."""
        return self._get(f"{name} {_digest(policy, 'input', 'schema')}", make)

    def cached_by_input(self, policy: Policy, name: str, make: Callable[[], T]) -> T:
        """Return a get value that depends on the input only, not on the schema."""
        return self._get(f"{name} {_digest(policy, 'input')}", make)

    def raw(self, policy: Policy) -> Table:
        """Return the whole input without a schema."""
        from celosia.data.schema import Schema

        return self._get("raw " + _digest(policy, "input"), lambda: policy.table(Schema()), LARGE)

    def proposals(self, policy: Policy) -> dict[str, ColumnSuggestion]:
        """Return the proposals for each column; they depend on the data, not on the schema of the policy."""
        from celosia.proposals import suggest

        listed = self.cached_by_input(policy, "proposals", lambda: suggest(self.raw(policy)))
        return {proposal.name: proposal for proposal in listed}

    def _frame(self, policy: Policy) -> tuple[Any, int]:
        """Return the sampled records without a schema, and the number of all records."""

        def draw() -> tuple[Any, int]:
            table = self.raw(policy)
            rows = len(table)
            frame = table.polars()
            return (frame.sample(SAMPLE, seed=1) if rows > SAMPLE else frame), rows

        return self._get("frame " + _digest(policy, "input"), draw, LARGE)

    def _get(self, key: str, make: Callable[[], T], limit: int = SMALL) -> T:
        """Return a get value or make it; at most ``limit`` values per kind (first word of the key) are kept."""
        kind = key.split()[0]
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                value: T = self._cache[key]
                return value
        value = make()
        with self._lock:
            self._cache[key] = value
            alike = [other for other in self._cache if other.split()[0] == kind]
            for old in alike[: max(0, len(alike) - limit)]:
                del self._cache[old]
        return value


def _digest(policy: Policy, *sections: str) -> str:
    """Return a hash of sections of a policy, and of the modification time and size of its input file."""
    depends = [repr(toml_edit.get(policy.text, (name,))) for name in sections]
    path = policy.input.path
    if path is not None and path.exists():
        stat = path.stat()
        depends.append(f"{stat.st_mtime_ns} {stat.st_size}")
    return hashlib.sha256("\0".join(depends).encode()).hexdigest()
