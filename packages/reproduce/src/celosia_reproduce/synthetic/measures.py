"""Loss and risk of synthetic columns as the source measures them: PIL, and DR with both linkages and the intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.parts import build

if TYPE_CHECKING:
    from celosia.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """Measures of one setting, in percent: means over the starts, and the spread of the loss."""

    pil: float
    dr: float
    pil_alone: float
    """The loss with each column judged alone."""
    dr_relative: float
    """The risk with intervals of ± p/2 per cent of the value."""
    dr_alone: float | None = None
    """The risk with each column judged alone; None where it was not measured so."""
    dr_alone_relative: float | None = None
    spread: float = 0.0
    change: float | None = None
    objective: float | None = None

    @property
    def score(self) -> float:
        """Half the loss and half the risk."""
        return (self.pil + self.dr) / 2

    def data(self) -> dict[str, float | None]:
        """Return the point as plain data."""
        return {**vars(self), "score": self.score}

    def readings(self) -> list[tuple[float, float]]:
        """Loss and risk in every reading that the source allows."""
        pairs = [(pil, dr) for pil in (self.pil, self.pil_alone) for dr in (self.dr, self.dr_relative)]
        if self.dr_alone is not None and self.dr_alone_relative is not None:
            pairs += [(self.pil_alone, self.dr_alone), (self.pil_alone, self.dr_alone_relative)]
        return pairs


def table_of(x: Floats, names: Sequence[str] | None = None) -> Table:
    """Numbers as a table."""
    import polars as pl

    from celosia.table import read

    return read(pl.DataFrame(x, schema=list(names or [f"v{j}" for j in range(1, x.shape[1] + 1)])))


def risks(original: Table, synthetic: Table, columns: Sequence[str]) -> tuple[float, float]:
    """DR with intervals of ranks and with relative ones; the linkages are those of the first, done once."""
    part = build("attack", {"use": "classical-disclosure-risk", "columns": columns}).evidence(original, synthetic)
    other = build("attack", {"use": "interval-disclosure", "columns": columns, "window": "relative"})
    relative = part["value"] + 0.5 * (other.value(original, synthetic) - part["parts"]["id"]["value"])
    return 100 * float(part["value"]), 100 * float(relative)


def losses(original: Table, synthetic: Table, columns: Sequence[str]) -> tuple[float, float]:
    """PIL of all columns together, and of each alone; the same for one column."""
    alone, joint = (
        100
        * build("loss", {"use": "probabilistic-loss", "columns": columns, "scope": scope}).value(original, synthetic)
        for scope in ("per-column", "joint" if len(columns) > 1 else "per-column")
    )
    return joint, alone


def measured(original: Table, synthetic: Table, columns: Sequence[str], **more: Any) -> Point:
    """Loss and risk of some columns."""
    pil, alone = losses(original, synthetic, columns)
    rank, relative = risks(original, synthetic, columns)
    return Point(pil, rank, alone, relative, **more)


def measured_alone(x: Floats, values: Floats) -> Point:
    """Loss and risk of all columns together, and the mean over files of one column each."""
    original, synthetic = table_of(x), table_of(values)
    each = np.array([risks(original, synthetic, [name]) for name in original.names]).mean(axis=0)
    return measured(original, synthetic, original.names, dr_alone=float(each[0]), dr_alone_relative=float(each[1]))


def mean(points: Sequence[Point]) -> Point:
    """Return the mean over several starts, and the spread of the loss."""

    def of(name: str) -> Any:
        values = [getattr(p, name) for p in points]
        return None if values[0] is None else float(np.mean(values))

    names = [name for name in vars(points[0]) if name != "spread"]
    return Point(**{name: of(name) for name in names}, spread=float(np.std([p.pil for p in points])))
