"""How private is what: the questionnaire of 44 items in ten classes, trust in five entities, and free text."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.consent.rules import STUDENT_CLASSES
from celosia.consent.store import Preferences, tables
from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl

ITEMS: dict[str, tuple[str, ...]] = {
    "timetable": ("course codes", "course names", "classrooms", "hours"),
    "secondary-school": ("name of the school", "address of the school"),
    "admission": (
        "year of admission", "admission score", "best admission score", "year of the best score",
        "student card number", "enrolment password",
    ),
    "geographic": ("province", "canton", "district", "exact address"),
    "degree": ("name of the degree", "year of entry", "campus", "area", "faculty", "school of the university"),
    "socio-economic": (
        "type of scholarship", "relocation benefit", "transport benefit", "book benefit", "monthly family income",
    ),
    "grades": (
        "codes of courses taken", "names of courses taken", "names of teachers", "grades", "weighted term average",
        "weighted overall average",
    ),
    "titles": ("names of titles", "years of titles"),
    "financial": (
        "arrears with the finance office", "arrears with the library", "fee type (national or foreign)",
        "bank card number",
    ),
    "personal": ("age", "nationality", "marital status", "gender", "e-mail"),
}  # fmt: skip
"""The items of each class of the taxonomy: 44."""
PRIVATE = ("not at all", "little", "medium", "quite", "very")
"""How private an item is: 0 to 4."""
ENTITIES = ("friends and family", "researchers of the university", "banks", "newspapers", "social networks")
TRUST = ("none", "little", "sufficient", "much")
"""Trust in an entity: 1 to 4."""


def keys() -> dict[str, tuple[str, int, int]]:
    """The key of each question with its text and the smallest and largest answer.

    >>> len([key for key in keys() if key.startswith("item")]), len([key for key in keys() if key.startswith("trust")])
    (44, 5)
    """
    items = {f"item:{c}:{i}": (text, 0, 4) for c, texts in ITEMS.items() for i, text in enumerate(texts)}
    return items | {f"trust:{i}": (text, 1, 4) for i, text in enumerate(ENTITIES)}


def answer(store: Preferences, answers: Mapping[str, int], group: str = "", text: str = "") -> str:
    """Store one respondent's answers under a random name, which is returned; unanswered questions stay open."""
    known = keys()
    for key, value in answers.items():
        if key not in known:
            raise DataError("the questionnaire has no such question.")
        low, high = known[key][1:]
        if not low <= value <= high:
            raise DataError(f"an answer to this question is a number from {low} to {high}.")
    if len(text) > 2000 or len(group) > 100:
        raise DataError("the text has at most 2000 characters, the group 100.")
    name = secrets.token_urlsafe(9)
    row: dict[str, Any] = {"respondent": name, "grouping": group, "note": ""}
    rows = [{**row, "item": key, "value": value} for key, value in answers.items()]
    if text:
        rows.append({**row, "item": "text", "value": None, "note": text})
    if not rows:
        raise DataError("nothing was answered.")
    with store.writing() as connection:
        connection.execute(tables().answers.insert(), rows)
    return name


@dataclass(frozen=True)
class Tabulation:
    """Answers by respondent group: one row per question and group with mean and counts."""

    frame: pl.DataFrame
    respondents: dict[str, int]

    def classes(self) -> pl.DataFrame:
        """The mean privacy of each class of the taxonomy, by group."""
        import polars as pl

        items = self.frame.filter(pl.col("question").str.starts_with("item:"))
        named = items.with_columns(category=pl.col("question").str.split(":").list.get(1))
        mean = (pl.col("mean") * pl.col("n")).sum() / pl.col("n").sum()
        return named.group_by("category", "group").agg(mean=mean, n=pl.col("n").sum()).sort("category", "group")

    def chart(self) -> str:
        """The classes as bars, one per group, as a share of the most private answer."""
        from celosia.report.charts import bars

        found = {(row["category"], row["group"]): row["mean"] / 4 for row in self.classes().to_dicts()}
        groups = sorted(self.respondents)
        labels = list(STUDENT_CLASSES)
        series = [(group or "all", [found.get((c, group)) for c in labels]) for group in groups]
        return bars("How private, by class", [STUDENT_CLASSES[c] for c in labels], series)


def tabulate(store: Preferences) -> Tabulation:
    """Count the answers by question and group."""
    import polars as pl

    t = tables().answers
    with store.engine.connect() as connection:
        found = [(r.respondent, r.item, r.grouping, r.value) for r in connection.execute(t.select())]
    schema = {"respondent": pl.String, "question": pl.String, "group": pl.String, "value": pl.Int64}
    frame = pl.DataFrame(found, schema=schema, orient="row")
    people = frame.group_by("group").agg(pl.col("respondent").n_unique())
    counts = [(pl.col("value") == v).sum().alias(f"answers {v}") for v in range(5)]
    rows = (
        frame.drop_nulls("value")
        .group_by("question", "group")
        .agg(pl.col("value").mean().alias("mean"), pl.len().alias("n"), *counts)
    )
    return Tabulation(rows.sort("question", "group"), dict(people.iter_rows()))
