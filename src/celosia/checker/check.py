"""Judge the claims of a certificate by the second implementation."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from celosia.checker.models import MODELS
from celosia.checker.released_file import OwnerFacts, ReleasedRows
from celosia.checker.rows import Plain

TOLERANCE = 1e-9
COUNTS_VALUES = frozenset({"alpha-k", "l-diversity", "t-closeness", "beta-likeness", "delta-disclosure", "homogeneity"})
"""Models and risks that count sensitive values in classes."""
NEEDS_BASELINE = frozenset({"t-closeness", "beta-likeness", "delta-disclosure", "fuzzy-t-closeness"})
"""Models that compare with the distribution of the input."""
FUZZY = frozenset({"q-anonymity", "fuzzy-l-diversity", "fuzzy-t-closeness"})
WORST = {"k-anonymity": min, "k-map": min, "l-diversity": min, "alpha-k": max, "t-closeness": max}
WORST |= {"beta-likeness": max, "delta-disclosure": max, "delta-presence": max, "prosecutor": max}
"""Measures that the worst class decides, so that a sample of the classes bounds the value."""
MOST_FUZZY = 1_000
"""Most rows of a file whose fuzzy cells are computed."""
MOST_PAIRS = 5_000_000
"""Most pairs of rows, or of rows and people of a population, that are compared."""
DISTANCES = ("equal", "ordered", "hierarchical", "value")


@dataclass(frozen=True)
class StatedValue:
    """Value that a certificate states; ``parameters`` are those of the part, private ones included."""

    part: str
    use: str
    parameters: Mapping[str, Any]
    value: float | None
    holds: bool | None = None
    counted: Literal["records", "persons", "candidates"] = "records"


@dataclass(frozen=True)
class Verdict:
    """Result of the second implementation for a claim; ``agrees`` is None where it was not checked, see ``note``."""

    part: str
    agrees: bool | None
    found: float | None = None
    sampled: bool = False
    note: str = ""


def judge_all(claims: Iterable[StatedValue], file: ReleasedRows, facts: OwnerFacts) -> list[Verdict]:
    """Judge every claim from the file."""
    return [_judge(claim, file, facts) for claim in claims]


def _judge(claim: StatedValue, file: ReleasedRows, facts: OwnerFacts) -> Verdict:
    reason = _not_checked_because(claim, file, facts)
    if reason or claim.value is None:
        return Verdict(claim.part, None, note=reason or "was not measured")
    given = dict(claim.parameters)
    if "population" in given:
        given["population"] = facts.populations[claim.part]
    try:
        if claim.use in MODELS:
            value, holds = MODELS[claim.use](file.plain, **given)
        else:
            value, holds = RISKS[claim.use](file.plain, **given), None
    except (ValueError, KeyError, TypeError, StopIteration, OverflowError) as error:
        return Verdict(claim.part, None, note=f"its definition could not be applied ({type(error).__name__})")
    if file.sampled and not file.plain.rows:
        return Verdict(claim.part, None, note="no class was in the sample")
    agrees = _agrees(claim, float(value), holds, sampled=file.sampled)
    return Verdict(claim.part, agrees, float(value), file.sampled)


def _agrees(claim: StatedValue, value: float, holds: bool | None, *, sampled: bool) -> bool:
    """Compare a value with the stated one; a value of a sample of the classes must lie on its safe side."""
    stated = float(claim.value or 0.0)
    near = value == stated or abs(value - stated) <= TOLERANCE * max(1.0, abs(stated))
    if not sampled:
        return near and (holds is None or claim.holds is None or holds == claim.holds)
    inside = near or (value > stated if WORST[claim.use] is min else value < stated)
    return inside and (holds is not False or claim.holds is not True)


def _not_checked_because(claim: StatedValue, file: ReleasedRows, facts: OwnerFacts) -> str:
    """Reason for which a claim is not checked; empty if it is."""
    functions: Mapping[str, Any] = {**MODELS, **RISKS}
    if claim.use not in functions:
        return "there is no second implementation of it"
    accepted = set(inspect.signature(functions[claim.use]).parameters)
    further = sorted(set(claim.parameters) - accepted)
    if further:
        return f"the second implementation does not know {', '.join(further)}"
    if claim.counted == "candidates":
        return "counts who could be behind a blanked cell"
    if claim.counted == "persons" and file.plain.person is None:
        return "counts persons, which the file does not tell"
    return _missing_input(claim, file.plain, facts) or _too_large_because(claim, file, facts)


def _missing_input(claim: StatedValue, table: Plain, facts: OwnerFacts) -> str:
    """Name the input that the definition needs and the file or the facts do not have; empty if none."""
    columns = (claim.parameters["column"],) if claim.parameters.get("column") else table.sensitive
    stated = claim.parameters.get("distance", "equal")
    distances = list(stated.values()) if isinstance(stated, Mapping) else [stated]
    if claim.use in COUNTS_VALUES and table.missing_semantics != "category":
        return "missing values stand for others: there are no classes to count in"
    if claim.use in COUNTS_VALUES | NEEDS_BASELINE and not set(columns) <= set(table.sensitive):
        return "a column that it looks at is not released"
    if claim.use in NEEDS_BASELINE and not set(columns) <= set(table.shares_before):
        return "compares with the input, and the file or a step does not tell what its values were"
    on_trees = "hierarchical" in distances and not set(columns) <= set(table.trees)
    if on_trees or any(distance not in DISTANCES for distance in distances):
        return "the distance is not known"
    if claim.use == "population-uniqueness" and claim.parameters.get("model") != "zayatz":
        return "is fitted; only the estimator of Zayatz has a closed form"
    if claim.use in FUZZY and not (set(table.quasi) <= facts.unchanged and _has_sets(claim, table)):
        return "its fuzzy sets were found in the data, or a step changed the columns"
    if claim.use in {"k-map", "delta-presence"} and "size" not in claim.parameters:
        return _missing_population(claim, table, facts)
    return ""


def _has_sets(claim: StatedValue, table: Plain) -> bool:
    """Whether the claim has fuzzy sets for every column that does not hold text."""
    rest = [name for name in table.quasi if name not in (claim.parameters.get("sets") or {})]
    return all(isinstance(row[name], str | None) for name in rest for row in table.rows)


def _missing_population(claim: StatedValue, table: Plain, facts: OwnerFacts) -> str:
    if claim.part not in facts.populations or table.missing_semantics != "category":
        return "counts a population, which the file does not tell"
    labels = {name: {label for path in table.trees.get(name, ()) for label in path} for name in table.quasi}
    for key in table.classes():
        for name, cell in zip(table.quasi, key, strict=True):
            if name not in facts.unchanged and cell is not None and str(cell) not in labels[name]:
                return "a step made labels that no hierarchy tells"
    return ""


def _too_large_because(claim: StatedValue, file: ReleasedRows, facts: OwnerFacts) -> str:
    table = file.plain
    worst = claim.use in WORST and claim.parameters.get("aggregate", "max") == "max"
    if file.sampled and (not worst or table.missing_semantics != "category"):
        return f"is a number of the whole file, and of {file.rows} rows some classes were looked at"
    if claim.use in FUZZY and len(table.rows) > MOST_FUZZY:
        return f"the fuzzy cells of more than {MOST_FUZZY} rows are not looked at"
    others = len(facts.populations.get(claim.part, ())) or (
        len(table.rows) if table.missing_semantics != "category" else 0
    )
    if math.prod((len(table.classes()), others)) > MOST_PAIRS:
        return f"more than {MOST_PAIRS} pairs would be compared"
    return ""


# Second implementation of risks of a file, from the frequencies of its records.


def prosecutor(table: Plain) -> float:
    """1 over the smallest frequency of a record."""
    return max((1 / frequency for frequency, _ in table.patterns()), default=0.0)


def uniqueness(table: Plain) -> float:
    """Share of unique persons; one with several combinations counts with each."""
    patterns = table.patterns()
    persons = sum(number for _, number in patterns)
    return float(Fraction(sum(number for frequency, number in patterns if frequency == 1), persons)) if persons else 0.0


def homogeneity(table: Plain, share: float = 1.0) -> float:
    """Share of persons in classes where at least ``share`` of the persons have the same value."""
    disclosed = persons = 0
    for numbers in table.classes().values():
        size = table.persons(numbers)
        most = max((_largest_share(table, numbers, name) for name in table.sensitive), default=Fraction(0))
        persons += size
        disclosed += size if most >= share else 0
    return float(Fraction(disclosed, persons)) if persons else 0.0


def _largest_share(table: Plain, numbers: Sequence[int], column: str) -> Fraction:
    """Share of the most frequent value among the known ones; of missing ones where none is known."""
    shown = [i for i in numbers if table.rows[i][column] not in (None, "*")]
    if not shown:
        return Fraction(table.counts(numbers, column).get(None, 0), table.persons(numbers))
    return Fraction(max(table.counts(shown, column).values()), table.persons(shown))


def _highest(risk: Callable[..., float]) -> Callable[..., float]:
    """Apply a risk to every interpretation of a table and return the highest value."""

    @functools.wraps(risk)
    def highest(table: Plain, **parameters: object) -> float:
        return max(risk(each, **parameters) for each in table.readings())

    return highest


RISKS: dict[str, Callable[..., float]] = {
    "homogeneity": _highest(homogeneity),
    "k-advice": _highest(uniqueness),
    "prosecutor": _highest(prosecutor),
    "uniqueness": _highest(uniqueness),
}
