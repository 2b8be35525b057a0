"""Points of risk and loss: their intervals, the Pareto frontier, the best point under limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import OutputError, RequirementError
from celosia.frontier.candidates import Candidate
from celosia.parts import Loss, Threat, build, public_spec
from celosia.show.blocks import Block, Shown, number
from celosia.show.latex import latex_table
from celosia.show.pictures import Picture

if TYPE_CHECKING:
    import polars as pl

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its interval; without a second seed the interval is not known."""

    mean: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """Return the mean with Student's interval; neither risk nor loss is below zero.

        >>> Estimate.of([1.0, 1.0]), Estimate.of([2.0])
        (Estimate(mean=1.0, low=1.0, high=1.0), Estimate(mean=2.0, low=None, high=None))
        """
        x = np.asarray(values, dtype=np.float64)
        mean = float(x.mean())
        if len(x) < 2:
            return cls(mean, None, None)
        from scipy.stats import t

        half = float(t.ppf((1 + CONFIDENCE) / 2, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x)))
        return cls(mean, max(0.0, mean - half), mean + half)

    def spec(self) -> dict[str, object]:
        """Return the estimate as plain data."""
        return {"mean": self.mean, "interval": None if self.low is None else [self.low, self.high]}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Estimate:
        """Return the estimate of plain data."""
        low, high = spec["interval"] or (None, None)
        return cls(spec["mean"], low, high)


@dataclass(frozen=True)
class Point:
    """A candidate with its risk and its loss."""

    candidate: Candidate
    risk: Estimate
    loss: Estimate
    seeds: int
    decided: str = ""
    """The attack that decided the risk most often, where the risk is the strongest of several."""

    @property
    def label(self) -> str:
        """Text of the candidate."""
        return self.candidate.label

    def spec(self) -> dict[str, object]:
        """Return the point as plain data that may be published."""
        return {
            "candidate": self.candidate.public_spec(),
            "label": self.label,
            "risk": self.risk.spec(),
            "loss": self.loss.spec(),
            "seeds": self.seeds,
            **({"decided": self.decided} if self.decided else {}),
            **({"epsilon": self.candidate.epsilon} if self.candidate.epsilon is not None else {}),
        }


@dataclass(frozen=True, repr=False)
class Frontier(Shown):
    """Result of an exploration: the measured candidates and their frontier."""

    points: tuple[Point, ...]
    """Every candidate that could be measured."""
    original: tuple[float, float]
    """Risk and loss of the unprotected table."""
    risk: Threat
    loss: Loss
    failed: Mapping[str, str] = field(default_factory=dict)
    """Candidates that could not be measured, with the reason."""
    max_risk: float | None = None
    max_loss: float | None = None
    evaluated: int = 0
    """Evaluations of this run, without those from the store."""
    known: int = 0
    """Evaluations read from the store."""

    @property
    def frontier(self) -> tuple[Point, ...]:
        """The points that no other dominates in risk and loss, from low to high risk."""
        layers = pareto_layers([(p.risk.mean, p.loss.mean) for p in self.points])
        best = [point for point, layer in zip(self.points, layers, strict=True) if layer == 0]
        return tuple(sorted(best, key=lambda p: (p.risk.mean, p.loss.mean, p.label)))

    def admissible(
        self, max_risk: float | None = None, max_loss: float | None = None, *, sure: bool = False
    ) -> tuple[Point, ...]:
        """Return every point within both limits, the best score first. ``sure``: the whole interval must be within."""
        risk_limit = self.max_risk if max_risk is None else max_risk
        loss_limit = self.max_loss if max_loss is None else max_loss

        def is_within(estimate: Estimate, limit: float | None) -> bool:
            value = estimate.mean if not sure or estimate.high is None else estimate.high
            return limit is None or value <= limit

        kept = [p for p in self.points if is_within(p.risk, risk_limit) and is_within(p.loss, loss_limit)]
        return tuple(sorted(kept, key=lambda p: (self.score(p), p.label)))

    def best(self, max_risk: float | None = None, max_loss: float | None = None, *, sure: bool = False) -> Point:
        """Return the best point under limits: the least loss at a risk, the least risk at a loss, the best score under
        both.

        Limits that were given to the exploration hold unless others are given; without any the score decides. When no
        candidate is within them the message names the nearest.
        """
        risk_limit = self.max_risk if max_risk is None else max_risk
        loss_limit = self.max_loss if max_loss is None else max_loss
        kept = self.admissible(max_risk, max_loss, sure=sure)
        if not kept:
            raise RequirementError(self._nearest(risk_limit, loss_limit))
        if risk_limit is not None and loss_limit is None:
            return min(kept, key=lambda p: (p.loss.mean, p.risk.mean, p.label))
        if loss_limit is not None and risk_limit is None:
            return min(kept, key=lambda p: (p.risk.mean, p.loss.mean, p.label))
        return kept[0]

    def score(self, point: Point) -> float:
        """Half the risk and half the loss in percent; a loss without bound counts by its place among the points."""
        if self.loss.bounded:
            return 50 * (point.risk.mean + point.loss.mean)
        below = sum(p.loss.mean < point.loss.mean for p in self.points)
        return 50 * (point.risk.mean + below / max(1, len(self.points) - 1))

    def spec(self) -> dict[str, object]:
        """Return the exploration as plain data that may be published."""
        front = {id(p) for p in self.frontier}
        return {
            "risk": public_spec(self.risk),
            "loss": public_spec(self.loss),
            "limits": {"risk": self.max_risk, "loss": self.max_loss},
            "original": {"risk": self.original[0], "loss": self.original[1]},
            "points": [{**p.spec(), "score": self.score(p), "frontier": id(p) in front} for p in self.points],
            "failed": dict(self.failed),
            "evaluated": self.evaluated,
            "known": self.known,
        }

    def record(self) -> dict[str, object]:
        """Return the exploration as plain data for the data owner, with every parameter, so that it can be restored."""
        return {
            **self.spec(),
            "risk": self.risk.spec(),
            "loss": self.loss.spec(),
            "points": [{**point.spec(), "candidate": point.candidate.spec()} for point in self.points],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Frontier:
        """Return the exploration of a :meth:`record`.

        >>> point = Point(Candidate((build("method", "noise(columns=[a], p=0.1)"),)), Estimate(0.1, None, None),
        ...               Estimate(0.2, 0.1, 0.3), 5)
        >>> frontier = Frontier((point,), (1.0, 0.0), build("risk", "marketer"), build("loss", "entropy-loss"))
        >>> Frontier.from_record(frontier.record()).record() == frontier.record()
        True
        """
        points = [
            Point(
                Candidate(tuple(build("method", method) for method in point["candidate"])),
                Estimate.from_spec(point["risk"]),
                Estimate.from_spec(point["loss"]),
                point["seeds"],
                point.get("decided", ""),
            )
            for point in record["points"]
        ]
        return cls(
            tuple(points),
            (record["original"]["risk"], record["original"]["loss"]),
            build("risk or attack", record["risk"]),
            build("loss", record["loss"]),
            record["failed"],
            record["limits"]["risk"],
            record["limits"]["loss"],
            record["evaluated"],
            record["known"],
        )

    def blocks(self) -> list[Block]:
        """Return the blocks to show: the frontier, the best point, what failed."""
        decided = any(point.decided for point in self.points)
        formal = any(point.candidate.epsilon is not None for point in self.points)
        further = [name for name, present in (("decided by", decided), ("epsilon", formal)) if present]
        head = ("candidate", "risk", "loss", "score", *further)

        def row(point: Point) -> tuple[str, ...]:
            shown = (point.label, _format(point.risk), _format(point.loss), f"{self.score(point):.1f}")
            spent = "—" if point.candidate.epsilon is None else number(point.candidate.epsilon)
            further_cells = {"decided by": point.decided, "epsilon": spent}
            return (*shown, *(further_cells[name] for name in further))

        blocks = [
            Block(
                f"{len(self.points)} candidates measured by {self.risk.name} and {self.loss.name}, lower is better ↓; "
                f"the original has risk {number(self.original[0])} and loss {number(self.original[1])}."
            ),
            Block("The frontier: no other candidate has less risk and less loss", head, list(map(row, self.frontier))),
        ]
        if self.points:
            try:
                blocks.append(Block("The best" + self._limits(), head, [row(self.best())]))
            except RequirementError as error:
                blocks.append(Block(f"NOT met: {error}"))
        if self.failed:
            blocks.append(Block("Not measured", ("candidate", "why"), list(self.failed.items())))
        return blocks

    def frame(self) -> pl.DataFrame:
        """Return the points as a frame: candidates with all parameters that may be published, risk, loss and score."""
        import polars as pl

        front = {id(point) for point in self.frontier}
        columns = {
            "method": [p.candidate.family for p in self.points],
            "candidate": [p.candidate.published for p in self.points],
            **{
                f"{name}{suffix}": [getattr(getattr(p, name), field) for p in self.points]
                for name in ("risk", "loss")
                for suffix, field in (("", "mean"), ("_low", "low"), ("_high", "high"))
            },
            "score": [self.score(p) for p in self.points],
            "frontier": [id(p) in front for p in self.points],
            "seeds": [p.seeds for p in self.points],
            "decided_by": [p.decided or None for p in self.points],
        }
        types = dict.fromkeys((n for n in columns if n.startswith(("risk", "loss", "score"))), pl.Float64)
        return pl.DataFrame(columns, schema_overrides={**types, "decided_by": pl.String})

    def save(self, path: str | Path) -> Path:
        """Write the points as a table (.csv, .tex) or their map as a picture (.svg, .png, .pdf), by the ending."""
        from celosia.release.report.ru_map import frontier_list, ru_map

        place, ending = Path(path), Path(path).suffix.lower()
        if ending == ".csv":
            self.frame().write_csv(place)
        elif ending == ".tex":
            place.write_text(latex_table(self.frame()), encoding="utf-8")
        elif ending in (".svg", ".png", ".pdf"):
            Picture([ru_map(self, numbered=True), frontier_list(self)], "Risk and utility").save(place)
        else:
            raise OutputError(f"{str(path)!r}: an exploration is written as .csv, .tex, .svg, .png or .pdf.")
        return place

    def plot(self) -> Picture:
        """Return the map of risk and utility, with the frontier and the limits."""
        from celosia.release.report.ru_map import ru_map

        return Picture([ru_map(self)], "Risk and utility")

    def _repr_html_(self) -> str:
        """Return the map and the tables for a notebook."""
        return self.plot()._repr_html_() + super()._repr_html_()

    def _limits(self) -> str:
        parts = [
            f"{what} at most {number(limit)}"
            for what, limit in (("risk", self.max_risk), ("loss", self.max_loss))
            if limit is not None
        ]
        return f" with {' and '.join(parts)}" if parts else " by score"

    def _nearest(self, risk_limit: float | None, loss_limit: float | None) -> str:
        wish = " and ".join(
            f"{what} at most {limit:g}"
            for what, limit in (("risk", risk_limit), ("loss", loss_limit))
            if limit is not None
        )
        if not self.points:
            return "no candidate could be measured: " + "; ".join(f"{k}: {v}" for k, v in self.failed.items())

        def excess(point: Point) -> float:
            over_risk = 0.0 if risk_limit is None else max(0.0, point.risk.mean - risk_limit)
            over_loss = 0.0 if loss_limit is None else max(0.0, point.loss.mean - loss_limit)
            return over_risk + over_loss

        near = min(self.points, key=lambda p: (excess(p), p.label))
        return (
            f"no candidate has {wish}; the nearest is {near.label} with risk {near.risk.mean:.4g} "
            f"and loss {near.loss.mean:.4g}."
        )


def pareto_layers(points: Sequence[tuple[float, float]]) -> NDArray[np.int64]:
    """Return the layer of each point: 0 where no other is as good in both and better in one, 1 without those, and so
    on.

    >>> pareto_layers([(0.1, 0.9), (0.5, 0.5), (0.6, 0.6), (0.9, 0.1)]).tolist()
    [0, 0, 1, 0]
    """
    x = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    layers = np.full(len(x), -1, dtype=np.int64)
    layer = 0
    while (layers < 0).any():
        left = np.flatnonzero(layers < 0)
        order = left[np.lexsort((x[left, 1], x[left, 0]))]
        # Along rising risk a point is beaten when an earlier one has no more loss; equal points do not beat each other.
        least, last = np.inf, (np.inf, np.inf)
        for i in order:
            here = (float(x[i, 0]), float(x[i, 1]))
            if here[1] < least or here == last:
                layers[i] = layer
                least, last = here[1], here
        layer += 1
    return layers


def _format(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None or estimate.high - estimate.low < 5e-5:
        return f"{estimate.mean:.4g}"
    return f"{estimate.mean:.4g} ({estimate.low:.4g} – {estimate.high:.4g})"
