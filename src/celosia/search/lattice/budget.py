"""How long a search may go on, and how far it has come."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from celosia.parts.progress import advance


@dataclass
class Budget:
    """So many seconds, so many judged nodes, both or neither. A budget in nodes gives the same result everywhere.

    >>> Budget(nodes=10).spent(4), Budget(nodes=10).late(10), Budget().late(10**9)
    (0.4, True, False)
    """

    seconds: float | None = None
    nodes: int | None = None
    _start: float = field(default_factory=time.monotonic, repr=False)

    def spent(self, judged: int) -> float:
        """Give the share that is used up after so many nodes were judged; 0 without a limit."""
        by_nodes = 0.0 if self.nodes is None else judged / self.nodes
        by_time = 0.0 if self.seconds is None else (time.monotonic() - self._start) / self.seconds
        return max(by_nodes, by_time)

    def late(self, judged: int) -> bool:
        """Say whether the search must stop."""
        return self.spent(judged) >= 1

    def tell(self, judged: int, best: object, *, closed: float = 0.0) -> None:
        """Tell who listens how far the search is: the budget that is spent, or the share of the lattice closed."""
        shown = f", least loss {best:.4g}" if isinstance(best, float) and math.isfinite(best) else ""
        advance(max(self.spent(judged), closed), f"{judged:,} nodes judged{shown}")
