"""Threads for queries, separate from those of the pages: a page or a budget never waits for a query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

T = TypeVar("T")
MOST_QUERIES = 32
"""Queries that run at once; a query occupies its thread until its answer is returned on the time grid."""
MOST_OF_ONE = 4
"""Queries of one analyst that run at once; others of theirs wait, those of other analysts do not."""


class Turns:
    """Runner of queries in threads of their own."""

    def __init__(self) -> None:
        self._all = CapacityLimiter(MOST_QUERIES)
        self._own: defaultdict[str, CapacityLimiter] = defaultdict(lambda: CapacityLimiter(MOST_OF_ONE))

    async def run(self, analyst: str, work: Callable[[], T]) -> T:
        """Run the work of an analyst when it is their turn."""
        async with self._own[analyst]:
            return await to_thread.run_sync(work, limiter=self._all)
