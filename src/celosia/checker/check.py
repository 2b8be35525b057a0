"""Judge the claims of a certificate by the second implementation."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from celosia.checker.models import MODELS
from celosia.checker.released_file import OwnerFacts, ReleasedRows
from celosia.checker.risks import RISKS
from celosia.checker.rows import Plain

TOLERANCE = 1e-9
COUNTED = frozenset({"alpha-k", "l-diversity", "t-closeness", "beta-likeness", "delta-disclosure", "homogeneity"})
"""They count sensitive values in classes."""
COMPARED = frozenset({"t-closeness", "beta-likeness", "delta-disclosure", "fuzzy-t-closeness"})
"""They compare with the distribution of the input."""
FUZZY = frozenset({"q-anonymity", "fuzzy-l-diversity", "fuzzy-t-closeness"})
WORST = {"k-anonymity": min, "k-map": min, "l-diversity": min, "alpha-k": max, "t-closeness": max}
WORST |= {"beta-likeness": max, "delta-disclosure": max, "delta-presence": max, "prosecutor": max}
"""The worst class decides: then some of the classes bound the number."""
MOST_FUZZY = 1_000
"""Rows of a file whose fuzzy cells are looked at."""
MOST_PAIRS = 5_000_000
"""Pairs of rows, or of rows and people of a population, that are compared."""
DISTANCES = ("equal", "ordered", "hierarchical", "value")


@dataclass(frozen=True)
class Claimed:
    """A number that a certificate states; ``parameters`` are those of the part, private ones too."""

    part: str
    use: str
    parameters: Mapping[str, Any]
    value: float | None
    holds: bool | None = None
    counted: Literal["records", "persons", "candidates"] = "records"


@dataclass(frozen=True)
class Judged:
    """What the second implementation says about a claim; ``agrees`` is None where it says nothing, and why."""

    part: str
    agrees: bool | None
    found: float | None = None
    sampled: bool = False
    note: str = ""


def judge_all(claims: Iterable[Claimed], file: ReleasedRows, facts: OwnerFacts) -> list[Judged]:
    """Each claim, judged from the file."""
    return [_judge(claim, file, facts) for claim in claims]


def _judge(claim: Claimed, file: ReleasedRows, facts: OwnerFacts) -> Judged:
    reason = _silence(claim, file, facts)
    if reason or claim.value is None:
        return Judged(claim.part, None, note=reason or "was not measured")
    given = dict(claim.parameters)
    if "population" in given:
        given["population"] = facts.populations[claim.part]
    try:
        if claim.use in MODELS:
            value, holds = MODELS[claim.use](file.plain, **given)
        else:
            value, holds = RISKS[claim.use](file.plain, **given), None
    except (ValueError, KeyError, TypeError, StopIteration, OverflowError) as error:
        return Judged(claim.part, None, note=f"its definition could not be applied ({type(error).__name__})")
    if file.sampled and not file.plain.rows:
        return Judged(claim.part, None, note="no class was in the sample")
    agrees = _agrees(claim, float(value), holds, sampled=file.sampled)
    return Judged(claim.part, agrees, float(value), file.sampled)


def _agrees(claim: Claimed, value: float, holds: bool | None, *, sampled: bool) -> bool:
    """Whether a number is the stated one; of some of the classes, whether it is on the right side of it."""
    stated = float(claim.value or 0.0)
    near = value == stated or abs(value - stated) <= TOLERANCE * max(1.0, abs(stated))
    if not sampled:
        return near and (holds is None or claim.holds is None or holds == claim.holds)
    inside = near or (value > stated if WORST[claim.use] is min else value < stated)
    return inside and (holds is not False or claim.holds is not True)


def _silence(claim: Claimed, file: ReleasedRows, facts: OwnerFacts) -> str:
    """Why nothing is said about a claim; empty where something is."""
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
    return _lack(claim, file.plain, facts) or _size(claim, file, facts)


def _lack(claim: Claimed, table: Plain, facts: OwnerFacts) -> str:
    """What is not known that the definition needs."""
    columns = (claim.parameters["column"],) if claim.parameters.get("column") else table.sensitive
    distance = claim.parameters.get("distance", "equal")
    if claim.use in COUNTED and table.reading != "category":
        return "missing values stand for others: there are no classes to count in"
    if claim.use in COUNTED | COMPARED and not set(columns) <= set(table.sensitive):
        return "a column that it looks at is not released"
    if claim.use in COMPARED and not set(columns) <= set(table.shares_before):
        return "compares with the input, and the file or a step does not tell what its values were"
    if distance not in DISTANCES or (distance == "hierarchical" and not set(columns) <= set(table.trees)):
        return "the distance is not known"
    if claim.use == "population-uniqueness" and claim.parameters.get("model") != "zayatz":
        return "is fitted; only the estimator of Zayatz has a closed form"
    if claim.use in FUZZY and not (set(table.quasi) <= facts.unchanged and _described(claim, table)):
        return "its fuzzy sets were found in the data, or a step changed the columns"
    if claim.use in {"k-map", "delta-presence"} and "size" not in claim.parameters:
        return _population(claim, table, facts)
    return ""


def _described(claim: Claimed, table: Plain) -> bool:
    """Whether sets are given for every column that does not hold text."""
    rest = [name for name in table.quasi if name not in (claim.parameters.get("sets") or {})]
    return all(isinstance(row[name], str | None) for name in rest for row in table.rows)


def _population(claim: Claimed, table: Plain, facts: OwnerFacts) -> str:
    if claim.part not in facts.populations or table.reading != "category":
        return "counts a population, which the file does not tell"
    labels = {name: {label for path in table.trees.get(name, ()) for label in path} for name in table.quasi}
    for key in table.classes():
        for name, cell in zip(table.quasi, key, strict=True):
            if name not in facts.unchanged and cell is not None and str(cell) not in labels[name]:
                return "a step made labels that no hierarchy tells"
    return ""


def _size(claim: Claimed, file: ReleasedRows, facts: OwnerFacts) -> str:
    table = file.plain
    worst = claim.use in WORST and claim.parameters.get("aggregate", "max") == "max"
    if file.sampled and (not worst or table.reading != "category"):
        return f"is a number of the whole file, and of {file.rows} rows some classes were looked at"
    if claim.use in FUZZY and len(table.rows) > MOST_FUZZY:
        return f"the fuzzy cells of more than {MOST_FUZZY} rows are not looked at"
    others = len(facts.populations.get(claim.part, ())) or (len(table.rows) if table.reading != "category" else 0)
    if math.prod((len(table.classes()), others)) > MOST_PAIRS:
        return f"more than {MOST_PAIRS} pairs would be compared"
    return ""
