"""Study of the metric on the UCI Adult file: accuracy alone, and accuracy against the baseline."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.errors import DataError
from celosia.table.derive import with_record_ids
from celosia_reproduce.statements import Statement, printed

if TYPE_CHECKING:
    import polars as pl

COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
]  # fmt: skip
TWELVE = [
    "age", "workclass", "fnlwgt", "education-num", "marital-status", "occupation", "relationship", "sex",
    "capital-gain", "capital-loss", "hours-per-week", "native-country",
]  # fmt: skip
WORK = {
    "Private": "Private", "Self-emp-not-inc": "Self-employ", "Self-emp-inc": "Self-employ", "Federal-gov": "gov",
    "Local-gov": "gov", "State-gov": "gov", "Without-pay": "not-work", "Never-worked": "not-work",
}  # fmt: skip
MARITAL = {
    "Never-married": "Never-married", "Married-civ-spouse": "Married", "Married-AF-spouse": "Married",
    "Divorced": "leave", "Separated": "leave", "Widowed": "alone", "Married-spouse-absent": "alone",
}  # fmt: skip
PEOPLE = 30_162
SIZES = (5, 50, 100, 400, 500)
TARGETS = ("race", "income", "age")


def people(path: Path) -> pl.DataFrame:
    """Read the complete records of the file."""
    import polars as pl

    frame = pl.read_csv(path, has_header=False, new_columns=COLUMNS, glob=False).drop_nulls()
    frame = frame.with_columns(pl.col(pl.String).str.strip_chars())
    numbers = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    frame = frame.with_columns(pl.col(numbers).cast(pl.Int64))
    complete = frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
    if len(complete) != PEOPLE:
        raise DataError(f"the file has {len(complete)} complete records; the study is of {PEOPLE} (UCI adult.data).")
    return complete


def study(
    path: Path,
    tell: Callable[[str, float], None],
    *,
    counts: Sequence[int] = (1, 6, 12),
    sizes: Sequence[int] = SIZES,
    learners: Sequence[str] = ("decision-tree", "random-forest", "logistic-regression"),
) -> list[dict[str, Any]]:
    """Mondrian with 1, 6 or 12 quasi-identifiers; an intruder who knows 70 % predicts race, income and age."""
    import celosia
    from celosia.parts import build

    frame = people(path)
    trees: dict[str, Any] = {"workclass": [[a, b, "*"] for a, b in WORK.items()]}
    trees["marital-status"] = [[a, b, "*"] for a, b in MARITAL.items()]
    for name in ("occupation", "relationship", "sex", "native-country"):
        trees[name] = [[value, "*"] for value in frame[name].unique().sort()]
    out = []
    for at, q in enumerate(counts):
        quasi = TWELVE[:q]
        schema = celosia.Schema.of(quasi=quasi, hierarchies={n: t for n, t in trees.items() if n in quasi})
        original = with_record_ids(celosia.read(frame, schema))
        for i, k in enumerate(sizes):
            tell("adult", (at + i / len(sizes)) / len(counts))
            method = {"use": "mondrian", "require": [{"use": "k-anonymity", "k": k}], "cut": "median"}
            protected = celosia.protect(original, method, seed=1)
            facts = protected.history[-1]
            row: dict[str, Any] = {"quasi": q, "k": k, "classes": facts["classes"], "gcp": facts["ncp"]}
            row["records"] = len(frame)
            for target in TARGETS:
                predictors = [name for name in protected.names if name != target or target in quasi]
                for learner in learners:
                    part = {"use": "inference-attack", "target": [target], "external": 0.7, "learner": learner}
                    attack: Any = build("attack", {**part, "predictors": predictors, "repeats": 1, "seed": 0})
                    evidence = attack.evidence(original, protected)
                    row[f"{target} {learner}"] = evidence["value"]
                    row[f"{target} baseline"] = evidence["baseline"]
            out.append(row)
    return out


def statements(study: Sequence[dict[str, Any]]) -> list[Statement]:
    """Check the statements of chapter 6 about the study; empty if it was not run."""
    if not study:
        return []
    where, sizes = "Chapter 6", sorted({row["k"] for row in study})
    race = [row[name] for row in study for name in row if name.startswith("race ") and "baseline" not in name]
    income = [name for name in study[0] if name.startswith("income ") and "baseline" not in name]
    moved = max(abs(row[name] - study[0][name]) for row in study for name in income)
    most = {row["k"]: row["gcp"] for row in study if row["quasi"] == max(r["quasi"] for r in study)}
    beats = max(row[name] - row["race baseline"] for row in study for name in row if name.startswith("race "))
    trees = [
        [row["age decision-tree"] for row in study if row["quasi"] == q] for q in sorted({r["quasi"] for r in study})
    ]
    falls = all(later <= earlier for line in trees for earlier, later in itertools.pairwise(line))
    return [
        printed(where, "complete records of the file", 30_162, study[0]["records"]),
        printed(
            where,
            "race is predicted above 70 % by every learner",
            True,
            min(race) > 0.7,
            why=f"at most {beats:.1%} above guessing",
        ),
        printed(
            where,
            "income does not change with k or quasi-identifiers (within 5 points)",
            True,
            moved <= 0.05,
            why="logistic regression moves most: it takes the labels of classes for numbers" if moved > 0.05 else "",
        ),
        printed(where, "GCP reaches 60 %", True, max(most.values()) >= 0.6),
        printed(where, "GCP grows with k", True, all(most[a] <= most[b] for a, b in itertools.pairwise(sizes))),
        printed(where, "age is predicted less well as k grows (decision tree)", True, falls),
    ]
