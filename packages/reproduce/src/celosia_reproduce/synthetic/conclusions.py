"""Conclusions of the source, checked on the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from celosia_reproduce import statements
from celosia_reproduce.statements import Statement
from celosia_reproduce.synthetic.measures import Point
from celosia_reproduce.synthetic.setups import Row

WHERE = "Conclusions"


class Measured(Protocol):
    """A printed row or a point of our own."""

    @property
    def pil(self) -> float:
        """Loss in per cent."""

    @property
    def dr(self) -> float:
        """Risk in per cent."""

    @property
    def score(self) -> float:
        """Half of each."""


@dataclass(frozen=True)
class Conclusion:
    """A sentence of the source, with the values of its tables and of the runs, and whether it holds."""

    conclusion: str
    printed: str
    here: str
    holds: bool
    reason: str = ""
    """Why it would not hold."""
    origin: Literal["printed", "derived"] = "printed"
    """What the source only hopes for is derived."""

    @property
    def why(self) -> str:
        """Why it does not hold; nothing when it does."""
        return "" if self.holds else self.reason

    def data(self) -> dict[str, Any]:
        """Return the conclusion as plain data."""
        return {name: getattr(self, name) for name in ("conclusion", "printed", "here", "holds", "why")}

    def statement(self) -> Statement:
        """Return the conclusion as a statement of the document."""
        return Statement(WHERE, self.conclusion, self.printed, self.here, self.holds, self.origin, self.why)


def of_the_text(printed: Mapping[int, Mapping[str, Row]]) -> list[Statement]:
    """Sentences of the source about its own tables."""
    largest = max((c for c in printed[7] if c.isdigit()), key=lambda c: printed[7][c].dr)
    rows = [row for table in printed.values() for row in table.values()]
    means = sum(abs(row.score - (row.pil + row.dr) / 2) < 0.0062 for row in rows)
    return [
        statements.consistent(
            "Text on Table 6", "c of the best score", 13, choice(printed[6])["best c"], why="the table has c = 12"
        ),
        statements.consistent("Text on Table 7", "c of the largest risk", 81, int(largest), why="the table has c = 77"),
        statements.consistent("Tables 5 to 8", "rows whose score is the mean of loss and risk", len(rows), means),
    ]


def choice(points: Mapping[str, Measured]) -> dict[str, Any]:
    """Return the c with the best score, at which loss and risk cross, and beyond which they pass those of IPSO-A."""
    cs = [int(name) for name in points if name.isdigit()]
    if not cs:
        return {}
    pil, dr = [points[str(c)].pil for c in cs], [points[str(c)].dr for c in cs]
    marks: dict[str, Any] = {
        "best c": best(cs, [points[str(c)].score for c in cs]),
        "loss falls below risk between": crossing(cs, pil, dr),
        "first c with a loss of at most 20": reaching(cs, pil, 20.0),
    }
    ipso_a = points.get("IPSO-A")
    if ipso_a is not None:
        marks["loss below IPSO-A from c"] = next((c for c, p in zip(cs, pil, strict=True) if p < ipso_a.pil), None)
        marks["risk above IPSO-A from c"] = next((c for c, r in zip(cs, dr, strict=True) if r > ipso_a.dr), None)
        scores = [points[str(c)].score for c in cs]
        marks["score below IPSO-A from c"] = next(
            (c for c, s in zip(cs, scores, strict=True) if s < ipso_a.score), None
        )
    return marks


def conclusions(
    swept: Mapping[str, tuple[Mapping[str, Point], Mapping[str, Row]]],
    surface: Mapping[tuple[int, int], Point],
    beyond: Mapping[str, Point],
    sums: Mapping[str, Any],
) -> list[Conclusion]:
    """Check all conclusions of the source that the runs can decide."""
    concluded: list[Conclusion] = []
    for name, (points, printed) in swept.items():
        concluded += _of_sweep(name, points, printed)
    concluded += _of_surface(surface)
    free, kept = sums["free"], sums["constrained"]
    held = kept["records where it holds"]
    concluded.append(
        Conclusion(
            "known constraints between columns can be built in (PTOTVAL = POTHVAL + PEARNVAL)",
            "proposed, not run",
            f"holds in {held:.0%} of the records instead of {free['records where it holds']:.0%}, score "
            f"{kept['score']:.1f} instead of {free['score']:.1f}",
            held == 1.0,
            origin="derived",
        )
    )
    rival = swept["S1"][0]["IPSO-C"].score
    bent = {name: point.score for name, point in beyond.items() if "radial" in name}
    least = min(bent, key=lambda name: bent[name])
    concluded.append(
        Conclusion(
            "local models that bend (radial basis functions) may beat IPSO-C",
            "hoped, not run",
            f"best score {bent[least]:.1f} ({least}), IPSO-C {rival:.1f}",
            bent[least] < rival,
            "bending lowers the loss and raises the risk, as more regressions do",
            origin="derived",
        )
    )
    return concluded


def _of_sweep(name: str, points: Mapping[str, Point], printed: Mapping[str, Row]) -> list[Conclusion]:
    ours, theirs = choice(points), choice(printed)
    cs = [c for c in points if c.isdigit()]
    if not ours:
        return []
    reason = RISK if name == "S1" else FAILED

    def same(what: str, sentence: str) -> Conclusion:
        equal = ours[what] == theirs[what]
        return Conclusion(f"{name}: {sentence}", _said(theirs[what]), _said(ours[what]), equal, reason)

    low = {
        "here": min(points[c].score for c in cs),
        "printed": min(row.score for c, row in printed.items() if c.isdigit()),
    }
    ipso = {m: points[f"IPSO-{m}"].score for m in "ABC"}
    source = {m: printed[f"IPSO-{m}"].score for m in "ABC"}
    gap = abs(points["IPSO-A"].pil - points["IPSO-B"].pil)
    pil, dr = [points[c].pil for c in cs], [points[c].dr for c in cs]
    return [
        same("best c", "the c of the best score"),
        same("loss falls below risk between", "where loss and risk cross"),
        same("loss below IPSO-A from c", "the c from which the loss lies below IPSO-A"),
        same("risk above IPSO-A from c", "the c from which the risk lies above IPSO-A"),
        same("score below IPSO-A from c", "the c from which the score lies below IPSO-A"),
        Conclusion(
            f"{name}: fuzzy c-regression is better than IPSO-A and IPSO-B at some c",
            f"best score {low['printed']:.1f} against {source['A']:.1f} and {source['B']:.1f}",
            f"best score {low['here']:.1f} against {ipso['A']:.1f} and {ipso['B']:.1f}",
            low["here"] < min(ipso["A"], ipso["B"]),
            reason,
        ),
        Conclusion(
            f"{name}: fuzzy c-regression is worse than IPSO-C",
            f"best score {low['printed']:.1f} against {source['C']:.1f}",
            f"best score {low['here']:.1f} against {ipso['C']:.1f}",
            low["here"] > ipso["C"],
        ),
        Conclusion(
            f"{name}: IPSO-A and IPSO-B lose the same",
            f"{printed['IPSO-A'].pil:.2f} and {printed['IPSO-B'].pil:.2f}",
            f"{points['IPSO-A'].pil:.2f} and {points['IPSO-B'].pil:.2f}",
            gap < 0.01,
        ),
        Conclusion(
            f"{name}: more regressions lose less and disclose more",
            "with exceptions of a few points",
            f"loss {pil[0]:.1f} … {pil[-1]:.1f}, risk {dr[0]:.1f} … {dr[-1]:.1f}",
            _falls(pil) and _falls([-r for r in dr]),
        ),
        *(_at_equal_risk(name, points, printed) if name == "S2" else []),
    ]


def _at_equal_risk(name: str, points: Mapping[str, Point], printed: Mapping[str, Row]) -> Iterator[Conclusion]:
    """Loss of fuzzy c-regression at the c whose risk lies nearest to that of IPSO-A, and to that of IPSO-C."""

    def nearest(table: Mapping[str, Measured], rival: str) -> tuple[str, bool, float]:
        numbers = [c for c in table if c.isdigit()]
        gap = {c: table[c].dr - table[rival].dr for c in numbers}
        c = min(gap, key=lambda c: abs(gap[c]))
        ratio = table[c].pil / table[rival].pil
        return f"{ratio:.1f} times at c = {c}, whose risk is {gap[c]:+.1f} points off", abs(gap[c]) <= 3, ratio

    stated, of_a = printed[str(AT_EQUAL_RISK)], printed["IPSO-A"]
    text = (
        f"{stated.pil / of_a.pil:.1f} times at c = {AT_EQUAL_RISK}, whose risk is {stated.dr - of_a.dr:+.1f} points off"
    )
    for rival, sentence, said, low, high in (
        ("IPSO-A", "half the loss of IPSO-A at the same risk", text, 0.33, 0.67),
        ("IPSO-C", "twice the loss of IPSO-C at the same risk", nearest(printed, "IPSO-C")[0], 1.5, 3.0),
    ):
        here, close, ratio = nearest(points, rival)
        holds = close and low < ratio < high
        yield Conclusion(f"{name}: {sentence}", said, here, holds, FAILED)


AT_EQUAL_RISK = 26
"""Number of regressions whose risk the text calls similar to that of IPSO-A, with about half its loss."""
FAILED = "the printed losses of S2 are a numerical failure (a singular matrix); with sound least squares they are small"
RISK = "our risk is about three times the printed one, so that scores and crossings lie at smaller c"


def _of_surface(surface: Mapping[tuple[int, int], Point]) -> list[Conclusion]:
    """S3: what more independent columns do, at a fixed number of regressions."""
    widths = sorted({n for _, n in surface})
    concluded = []
    for c in (2, 4):
        along = [surface[c, n] for n in widths if (c, n) in surface]
        if len(along) < 2:
            continue
        pil, dr = [p.pil_alone for p in along], [p.dr_alone or 0.0 for p in along]
        concluded.append(
            Conclusion(
                f"S3: more independent columns lose less and disclose more (c = {c})",
                "loss falls, risk rises from N = 1 on",
                f"loss {pil[0]:.1f} … {pil[-1]:.1f}, risk {dr[0]:.1f} … {dr[-1]:.1f} up to N = {widths[-1]}",
                _falls(pil) and _falls([-r for r in dr]),
            )
        )
    return concluded


def _falls(values: Sequence[float]) -> bool:
    """Whether a sequence falls from the first to the last, and nearly everywhere (rank correlation at most -0.9)."""
    from scipy.stats import spearmanr

    if len(values) < 3:
        return values[-1] < values[0]
    return values[-1] < values[0] and float(spearmanr(range(len(values)), values).statistic) <= -0.9


def _said(value: object) -> str:
    if value is None:
        return "nowhere"
    return f"between {value[0]} and {value[1]}" if isinstance(value, tuple) else f"c = {value}"


def best(parameters: Sequence[float], scores: Sequence[float]) -> float:
    """Return the parameter with the smallest score.

    >>> best([2, 3, 4], [27.1, 22.5, 30.0])
    3
    """
    return min(zip(scores, parameters, strict=True))[1]


def crossing(
    parameters: Sequence[float], losses: Sequence[float], risks: Sequence[float]
) -> tuple[float, float] | None:
    """Return the first two neighbouring parameters between which the loss falls below the risk, or None.

    >>> crossing([5, 6, 7], [21.8, 18.4, 16.2], [17.0, 17.1, 18.8])
    (6, 7)
    """
    above = [loss >= risk for loss, risk in zip(losses, risks, strict=True)]
    for i in range(1, len(above)):
        if above[i - 1] and not above[i]:
            return parameters[i - 1], parameters[i]
    return None


def reaching(parameters: Sequence[float], values: Sequence[float], wanted: float) -> float | None:
    """Return the first parameter whose value is at or below the wanted level; None when there is none.

    >>> reaching([2, 3, 4], [44.7, 32.6, 26.7], 33.0)
    3
    """
    return next((p for p, value in zip(parameters, values, strict=True) if value <= wanted), None)
