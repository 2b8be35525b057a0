"""The figures that can be redrawn: densities of noise, a swap, the steps of MDAV, a map of risk and utility."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING

import numpy as np

import celosia
from celosia.loss import ScaledError
from celosia.methods import Microaggregate, Noise, RankSwap
from celosia.parts import Method
from celosia.risk import DistanceLinkage
from celosia.show.svg import figure, svg, text
from celosia_reproduce.statements import Section
from celosia_reproduce.textbook.disclosure import numbers_of

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

WIDTH, HEIGHT, EDGE = 480, 280, 54


@dataclass(frozen=True)
class _Axes:
    """Coordinates of numbers in a picture."""

    low: float
    high: float
    most: float
    least: float = 0.0

    def x(self, value: float) -> float:
        return EDGE + (value - self.low) / (self.high - self.low) * (WIDTH - 2 * EDGE)

    def y(self, value: float) -> float:
        return HEIGHT - EDGE - (value - self.least) / (self.most - self.least) * (HEIGHT - 2 * EDGE)

    def framed(self, marks: str, title: str, across: str, up: str) -> str:
        """Return the picture with its frame, and the names and ends of the axes."""
        texts = [
            (WIDTH / 2, HEIGHT - 6, across, "middle"),
            (EDGE, HEIGHT - EDGE + 16, f"{self.low:g}", "middle"),
            (WIDTH - EDGE, HEIGHT - EDGE + 16, f"{self.high:g}", "middle"),
        ]
        if up:
            texts += [
                (EDGE - 6, EDGE + 4, f"{self.most:.3g}", "end"),
                (EDGE - 6, HEIGHT - EDGE + 4, f"{self.least:g}", "end"),
                (EDGE, EDGE - 12, up, "start"),
            ]
        words = "".join(text(x, y, content, at) for x, y, content, at in texts)
        frame = f'<rect x="{EDGE}" y="{EDGE}" width="{WIDTH - 2 * EDGE}" height="{HEIGHT - 2 * EDGE}" fill="none" stroke="var(--line)"/>'  # noqa: E501
        return figure(svg(frame + marks + words, (WIDTH, HEIGHT), title), title, below=True)


def sections(tables: Mapping[str, pl.DataFrame]) -> list[Section]:
    """All figures, each a section of the page."""
    return [densities(tables), swap(tables), steps(tables), risk_and_utility()]


def _curves(axes: _Axes, curves: Sequence[tuple[str, Callable[[float], float]]]) -> str:
    marks = []
    for i, (name, density) in enumerate(curves):
        places = np.linspace(axes.low, axes.high, 201)
        path = "M" + "L".join(f"{axes.x(x):.1f} {axes.y(min(density(x), axes.most)):.1f}" for x in places)
        marks.append(f'<path d="{path}" fill="none" stroke="var(--s{i + 1})" stroke-width="1.8"/>')
        y = EDGE + 16 + 16 * i
        marks.append(
            f'<text x="{WIDTH - EDGE - 8}" y="{y}" text-anchor="end" style="fill:var(--s{i + 1})">{escape(name)}</text>'
        )
    return "".join(marks)


def densities(tables: Mapping[str, pl.DataFrame]) -> Section:
    """Figures 11 and 13: normal noise for the ages of Table 17, Laplace noise for a count."""
    variance = 0.5 * float(tables["table17"]["age"].cast(float).to_numpy().var())
    deviation = math.sqrt(variance)

    def normal(x: float) -> float:
        return math.exp(-(x**2) / (2 * variance)) / (deviation * math.sqrt(2 * math.pi))

    def laplace(epsilon: float) -> Callable[[float], float]:
        return lambda x: epsilon / 2 * math.exp(-abs(x) * epsilon)

    first, second = _Axes(-40, 40, normal(0)), _Axes(-10, 10, 1.5)
    epsilons = (0.1, 0.5, 1.0, 3.0)
    return Section(
        "Figures 11 and 13: the noise",
        figures=(
            first.framed(
                _curves(first, [(f"N(0, {variance:.3f})", normal)]),
                f"Noise for age: half its variance, {variance:.3f} (the source draws 142.105)",
                "added to an age",
                "density",
            ),
            second.framed(
                _curves(second, [(f"epsilon {e:g}", laplace(e)) for e in epsilons]),
                "Laplace noise for a count, by epsilon",
                "added to a count",
                "density",
            ),
        ),
    )


def swap(tables: Mapping[str, pl.DataFrame]) -> Section:
    """Table 21 as a picture: which ranks were exchanged."""
    values = [int(v) for v in tables["table21"]["value"]]
    swapped = [int(v) for v in tables["table21"]["swapped"]]
    axes, base = _Axes(1, len(values), 1.0), HEIGHT - EDGE - 30
    marks = []
    for i, value in enumerate(values):
        x, to = axes.x(i + 1), axes.x(values.index(swapped[i]) + 1)
        marks.append(f'<text x="{x:.0f}" y="{base + 20}" text-anchor="middle">{value}</text>')
        if to > x:
            lift = 26 * (values.index(swapped[i]) - i)
            path = f"M{x:.1f} {base}Q{(x + to) / 2:.1f} {base - 2 * lift} {to:.1f} {base}"
            marks.append(f'<path d="{path}" fill="none" stroke="var(--s1)" stroke-width="1.8"/>')
    picture = axes.framed("".join(marks), "Table 21: values in order, and which were exchanged", "rank", "")
    return Section("Table 21: a rank swap", figures=(picture,))


def steps(tables: Mapping[str, pl.DataFrame]) -> Section:
    """Table 25a under MDAV: each group as a bracket over its records, the later it is made the higher."""
    table = numbers_of(tables["table25"], "x")["x"]
    pictures = tuple(_brackets(table.polars().to_numpy(), k) for k in (2, 3))
    story = (
        "MDAV takes the record farthest from the mean with its nearest ones, then the record farthest from that one "
        "with its nearest; then it starts again with what is left. The brackets are numbered in that order."
    )
    return Section("Table 25: the steps of MDAV", story, pictures)


def _brackets(x: NDArray[np.float64], k: int) -> str:
    """Draw the records from left to right, and each step of MDAV as a bracket over its records."""
    from celosia.kernels.neighbours.mdav import mdav

    group = mdav(np.ascontiguousarray(x, np.float64), k)
    count = int(group.max()) + 1
    axes, error, marks = _Axes(1, len(x), count + 1.0), 0.0, []
    base = axes.y(0)
    for step in range(count):
        members = np.flatnonzero(group == step)
        error += float(((x[members] - x[members].mean(axis=0)) ** 2).sum())
        top, places = axes.y(step + 1), [axes.x(float(i) + 1) for i in members]
        legs = "".join(f"M{place:.1f} {base:.1f}V{top:.1f}" for place in places)
        path = f"{legs}M{min(places):.1f} {top:.1f}H{max(places):.1f}"
        marks.append(f'<path class="step" d="{path}" fill="none" stroke="var(--s{1 + step % 5})" stroke-width="1.8"/>')
        middle = sum(places) / len(places)
        marks.append(f'<text x="{middle:.1f}" y="{top - 5:.1f}" text-anchor="middle">step {step + 1}</text>')
    marks += [  # the first and the last are the ends of the axis
        f'<text x="{axes.x(i):.1f}" y="{base + 16:.1f}" text-anchor="middle">{i}</text>' for i in range(2, len(x))
    ]
    title = f"Table 25a in groups of at least {k}, in the order in which MDAV makes them; squared error {error:.4g}"
    return axes.framed("".join(marks), title, "record", "")


@cache
def masked_copies() -> tuple[tuple[str, float, float], ...]:
    """Methods and parameters on Iris: family, risk (right links) and loss of each masked copy."""
    import polars as pl
    from sklearn.datasets import load_iris

    names = ("a", "b", "c", "d")
    table = celosia.read(pl.DataFrame(dict(zip(names, load_iris().data.T, strict=True))))
    families: list[tuple[str, list[Method]]] = [
        ("noise", [Noise(columns=names, p=p) for p in (0.01, 0.05, 0.2, 0.5, 1.0)]),
        ("rank swapping", [RankSwap(columns=names, window=w) for w in (0.02, 0.05, 0.1, 0.2)]),
        ("microaggregation", [Microaggregate(columns=names, k=k) for k in (2, 3, 5, 10, 20)]),
    ]
    attack, loss = DistanceLinkage(columns=names), ScaledError()
    return tuple(
        (family, attack.value(table, masked), loss.value(table, masked))
        for family, methods in families
        for masked in (celosia.protect(table, method, seed=5) for method in methods)
    )


def risk_and_utility() -> Section:
    """Figure 5 with measured points: methods and parameters on Iris."""
    points = masked_copies()
    families = list(dict.fromkeys(family for family, _, _ in points))
    worst = max(lost for _, _, lost in points)
    axes = _Axes(0, 1, 1.0)
    marks = [
        f'<circle class="s{1 + families.index(family)}" cx="{axes.x(1 - lost / worst):.1f}" '
        f'cy="{axes.y(risk):.1f}" r="5"><title>{escape(f"{family}: risk {risk:.0%}")}</title></circle>'
        for family, risk, lost in points
    ]
    marks.append(f'<rect class="s0" x="{axes.x(1) - 6:.1f}" y="{axes.y(1) - 6:.1f}" width="12" height="12"/>')
    marks += [
        f'<text x="{EDGE + 8}" y="{EDGE + 16 + 16 * i}" style="fill:var(--s{i + 1})">{escape(family)}</text>'
        for i, family in enumerate(families)
    ]
    title = (
        "Risk (right links) and utility (1 − loss / largest loss) of masked copies of Iris; the square is the original"
    )
    return Section("Figure 5: risk and utility", figures=(axes.framed("".join(marks), title, "utility", "risk"),))
