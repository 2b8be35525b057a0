"""The board of the playground: points, settings and one reading per iteration. Boards are immutable."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from celosia.errors import DataError, InputError, ParameterError
from celosia.parts import build
from celosia.parts.parameter_errors import phrase
from celosia.release.protect import watch

if TYPE_CHECKING:
    from celosia.methods.synthetic.fcrm import Fcrm, Watched
    from celosia.table import Table

MOST_POINTS = 5000
MOST_COORDINATES = 20
MOST_CLUSTERS = 10
LOSS = "probabilistic-loss"
RISK = "classical-disclosure-risk"


class Reading(BaseModel):
    """Measures after one iteration: loss, risk and score in per cent."""

    model_config = ConfigDict(frozen=True)

    iteration: int
    objective: float
    change: float
    pil: float
    dr: float
    score: float


class Board(BaseModel):
    """Points of at least two coordinates, the settings of the fit, and the readings so far."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: tuple[str, ...] = ("x", "y")
    points: tuple[tuple[float, ...], ...] = ()
    source: str = ""
    """Origin of the points: ``file``, ``project`` or ``example``; empty for points added by hand."""
    c: int = Field(default=3, ge=1, le=MOST_CLUSTERS, description="number of regressions")
    m: float = Field(default=1.5, gt=1, le=10, description="fuzziness")
    independent: int = Field(default=1, ge=1, description="place of the coordinate that stays")
    dependent: int = Field(default=2, ge=1, description="place of the coordinate that is replaced")
    intercept: bool = Field(default=True, description="lines need not pass through the origin")
    constraints: tuple[str, ...] = Field(default=(), description="what the new values keep")
    max_iterations: int = Field(default=30, ge=1, le=200, description="most iterations")
    seed: int = Field(default=1, ge=0, lt=2**128, description="seed of the start")
    readings: tuple[Reading, ...] = ()
    running: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Board:
        if len(self.points) > MOST_POINTS:
            raise ParameterError(f"the playground holds at most {MOST_POINTS} points, got {len(self.points)}.")
        for place in (self.independent, self.dependent):
            if place > len(self.names):
                raise ParameterError(f"the points have {len(self.names)} coordinates; there is no number {place}.")
        if self.independent == self.dependent:
            raise ParameterError(
                f"coordinate {self.dependent} is dependent and independent; choose two different ones."
            )
        return self

    @property
    def axes(self) -> tuple[str, str]:
        """The names of the independent and the dependent coordinate."""
        return self.names[self.independent - 1], self.names[self.dependent - 1]

    @property
    def converged(self) -> bool:
        """Whether the last iteration changed no membership by more than the tolerance."""
        return bool(self.readings) and self.readings[-1].change <= self.method().tolerance

    @property
    def finished(self) -> bool:
        """Whether the fit has converged or reached the maximum of iterations."""
        return self.converged or len(self.readings) >= self.max_iterations

    @property
    def fewest_points(self) -> int:
        """Smallest number of points that ``fcrm`` accepts (two residual degrees of freedom)."""
        return self.c * (2 if self.intercept else 1) + 2

    def method(self) -> Fcrm:
        """Return the method ``fcrm`` with these settings."""
        across, up = self.axes
        method: Fcrm = build(
            "method",
            {
                "use": "fcrm",
                "dependent": [up],
                "independent": [across],
                "c": self.c,
                "m": self.m,
                "max_iterations": self.max_iterations,
                "intercept": self.intercept,
                "constraints": list(self.constraints),
            },
        )
        return method

    def table(self) -> Table:
        """Return the points as a table."""
        import polars as pl

        from celosia.table import read

        if not self.points:
            raise InputError("there are no points yet: click some, load a file or take the example.")
        return read(pl.DataFrame(self.points, schema=[(name, pl.Float64) for name in self.names], orient="row"))

    def change(self, **settings: object) -> Board:
        """Return a board with other points or settings and no readings."""
        try:
            return Board.model_validate({**self.model_dump(), "readings": (), "running": False, **settings})
        except ValidationError as error:
            finding: Any = error.errors()[0]
            if "error" in finding.get("ctx", {}):
                raise ParameterError(str(finding["ctx"]["error"])) from None
            raise ParameterError(f"{finding['loc'][0]} {phrase(finding)}.") from None

    def with_point(self, x: float, y: float) -> Board:
        """Return a board with one more point."""
        if len(self.names) != 2:
            raise InputError("points can be added to two coordinates only: clear the board first.")
        if not (math.isfinite(x) and math.isfinite(y)):
            raise InputError("a point needs two finite numbers.")
        point = (x, y) if self.independent == 1 else (y, x)
        return self.change(points=(*self.points, point))

    def without_last(self) -> Board:
        """Return a board without the last point."""
        return self.change(points=self.points[:-1])

    def clear(self) -> Board:
        """Return an empty board with the same settings."""
        return self.change(points=(), names=("x", "y"), source="", independent=1, dependent=2)


def measure(table: Table, iteration: Watched) -> Reading:
    """Measure loss, risk and score of the protected table after an iteration, in per cent."""
    after, columns = iteration.outcome.table, list(iteration.method.dependent)
    loss: Any = build("loss", {"use": LOSS, "scope": "per-column", "columns": columns})
    risk: Any = build("attack", {"use": RISK, "window": "relative", "columns": columns})
    pil, dr = 100 * loss.value(table, after), 100 * risk.value(table, after)
    state = iteration.state
    return Reading(
        iteration=state.iteration,
        objective=state.objective,
        change=state.change,
        pil=pil,
        dr=dr,
        score=(pil + dr) / 2,
    )


def iterate(board: Board) -> Iterator[Watched]:
    """Yield the iterations of a board from the start, with the random numbers of a full run."""
    if len(board.points) < board.fewest_points:
        raise DataError(
            f"{board.c} regressions need at least {board.fewest_points} points, there are {len(board.points)}. "
            "Add points or choose a smaller c."
        )
    yield from watch(board.table(), board.method(), seed=board.seed)


def current_iteration(board: Board) -> Watched | None:
    """Return the state after the last reading, or None before the first step."""
    if not board.readings:
        return None
    return next(islice(iterate(board), len(board.readings) - 1, None))


def advance(board: Board, count: int = 1) -> Board:
    """Return the board after ``count`` more iterations, each with a reading."""
    if board.finished:
        return board.model_copy(update={"running": False})
    table, done = board.table(), len(board.readings)
    readings = [measure(table, each) for each in islice(iterate(board), done, done + count)]
    after = board.model_copy(update={"readings": (*board.readings, *readings)})
    return after.model_copy(update={"running": board.running and not after.finished})


def read_points(text: str) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
    r"""Read names and points of a text file: one point per line, separated by blanks, commas or semicolons.

    A first line without numbers gives the names. Error messages contain the line number, never a value.

    >>> read_points("age pay\n1 2\n3, 4\n")
    (('age', 'pay'), ((1.0, 2.0), (3.0, 4.0)))
    """
    lines = [(i, _split(line)) for i, line in enumerate(text.lstrip("\ufeff").splitlines(), 1) if line.strip()]
    if not lines:
        raise InputError("the file is empty. It needs one point a line, such as: 1.5, 2")
    names: tuple[str, ...] = ()
    if all(_parse_number(part) is None for part in lines[0][1]):
        names = tuple(lines.pop(0)[1])
    if len(lines) > MOST_POINTS:
        raise InputError(f"the file has {len(lines)} points; the playground takes at most {MOST_POINTS}.")
    width = len(names) or len(lines[0][1]) if lines else len(names)
    if not 2 <= width <= MOST_COORDINATES:
        raise InputError(f"a point needs 2 to {MOST_COORDINATES} coordinates, the file has {width}.")
    if len(set(names)) < len(names):
        raise InputError("two coordinates have the same name in the first line.")
    points = tuple(_point(i, parts, width) for i, parts in lines)
    return names or ("x", "y", *(f"z{i}" for i in range(1, width - 1))), points


def _split(line: str) -> list[str]:
    sign = next((s for s in (";", ",") if s in line), None)
    return [part.strip().strip('"') for part in line.split(sign)]


def _point(line: int, parts: Sequence[str], width: int) -> tuple[float, ...]:
    if len(parts) != width:
        raise InputError(f"line {line} has {len(parts)} coordinates, the first has {width}.")
    numbers = [_parse_number(part) for part in parts]
    if any(number is None or not math.isfinite(number) for number in numbers):
        raise InputError(
            f"line {line} has a value that is missing or no number. Write one point a line, such as: 1.5, 2"
        )
    return tuple(number for number in numbers if number is not None)


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def points_csv(board: Board) -> str:
    """Return the points as CSV that :func:`read_points` accepts."""
    return _csv(board.names, board.points)


def synthetic_csv(board: Board) -> str:
    """Return the points with their synthetic values and clusters as CSV."""
    now = _need_iteration(board)
    values = now.outcome.table.polars()[board.axes[1]].to_list()
    rows = [(*p, v, int(k) + 1) for p, v, k in zip(board.points, values, now.cluster, strict=True)]
    return _csv((*board.names, f"synthetic {board.axes[1]}", "cluster"), rows)


def readings_csv(board: Board) -> str:
    """Return the readings as CSV, one line per iteration."""
    return _csv(tuple(Reading.model_fields), [tuple(reading.model_dump().values()) for reading in board.readings])


def _need_iteration(board: Board) -> Watched:
    now = current_iteration(board)
    if now is None:
        raise InputError("nothing was fitted yet: press Run or Step first.")
    return now


def _csv(names: Sequence[str], rows: Sequence[Sequence[float]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return out.getvalue()


@dataclass(frozen=True)
class Snippets:
    """Code that repeats the run outside the studio."""

    python: str
    policy: str


def snippets(board: Board, file: str = "points.csv") -> Snippets:
    """Return the run as Python code and as a step of a policy."""
    from celosia.parts import grammar

    part = grammar.show(board.method().spec())
    python = (
        "import celosia\n\n"
        f'table = celosia.read("{file}")\n'
        f"made = celosia.protect(table, {part!r}, seed={board.seed})\n"
        "made.polars()"
    )
    return Snippets(python, part)


def example() -> tuple[tuple[float, float], ...]:
    """Return example points: five groups along five lines."""
    import numpy as np

    from celosia.kernels.synthesis.fuzzy_regression import five_groups

    x, y = five_groups(np.random.default_rng(2009))
    return tuple((round(float(a), 3), round(float(b), 3)) for a, b in zip(x[:, 0], y[:, 0], strict=True))
