"""Questionnaire on privacy: 44 items in ten classes, trust in five entities, and free text."""

from __future__ import annotations

import functools
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables
from celosia.consent.rules.rules import STUDENT_CLASSES, translation
from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl
    from sqlalchemy import Connection


@functools.cache
def _texts() -> dict[str, Any]:
    place = resources.files("celosia.consent") / "words" / "questionnaire.toml"
    return tomllib.loads(place.read_text("utf-8"))


@dataclass(frozen=True)
class Question:
    """Question with its text in each language, its class (empty for trust) and its possible answers."""

    text: Mapping[str, str]
    category: str
    scale: Mapping[int, Mapping[str, str]]

    def sentence(self, language: str = "en") -> str:
        """Return the text in a language."""
        return translation(self.text, language)

    def answers(self, language: str = "en") -> dict[int, str]:
        """Return the possible answers in a language."""
        return {value: translation(text, language) for value, text in self.scale.items()}


@functools.cache
def questions() -> dict[str, Question]:
    """Return the questions by the language-independent name under which answers are stored.

    >>> questions()["item:timetable:0"].sentence("es"), questions()["trust:0"].answers("ca")[1]
    ('Siglas de cursos', 'Cap')
    """
    wording = _texts()
    private, trust = ({int(value): text for value, text in wording[name].items()} for name in ("private", "trust"))
    items = {
        f"item:{category}:{number}": Question(text, category, private)
        for category, texts in wording["item"].items()
        for number, text in texts.items()
    }
    return items | {f"trust:{number}": Question(text, "", trust) for number, text in wording["entity"].items()}


def class_names() -> dict[str, dict[str, str]]:
    """Return the names of the classes of student data in each language.

    >>> class_names()["grades"]
    {'en': 'Grades', 'es': 'Calificaciones', 'ca': 'Qualificacions'}
    """
    return {category: {"en": name} | _texts()["class"][category] for category, name in STUDENT_CLASSES.items()}


class Answered(DataError):
    """Raised when an owner answers the questionnaire a second time."""


def answer(
    store: Preferences, answers: Mapping[str, int], group: str = "", text: str = "", *, owner: str | None = None
) -> str:
    """Store the answers of one respondent under a random name, and return that name.

    A signed-in ``owner`` can answer once; that they have answered is stored apart from the answers. Without ``owner``
    anybody may have answered, any number of times.
    """
    asked = questions()
    for key, value in answers.items():
        if key not in asked:
            raise DataError("the questionnaire has no such question.")
        scale = asked[key].scale
        if value not in scale:
            raise DataError(f"an answer to this question is a number from {min(scale)} to {max(scale)}.")
    if len(text) > 2000 or len(group) > 100:
        raise DataError("the text has at most 2000 characters, the group 100.")
    name = secrets.token_urlsafe(9)
    row: dict[str, object] = {"respondent": name, "grouping": group, "note": "", "signed": owner is not None}
    rows = [{**row, "item": key, "value": value} for key, value in answers.items()]
    if text:
        rows.append({**row, "item": "text", "value": None, "note": text})
    if not rows:
        raise DataError("nothing was answered.")
    with store.transaction() as connection:
        if owner is not None:
            _note_answered(connection, owner)
        connection.execute(tables().answers.insert(), rows)
    return name


def _note_answered(connection: Connection, owner: str) -> None:
    from sqlalchemy.exc import IntegrityError

    try:
        connection.execute(tables().answered.insert(), {"owner": owner})
    except IntegrityError:
        raise Answered("this owner has answered the questionnaire already.") from None


@dataclass(frozen=True)
class Tabulation:
    """Answers by respondent group: one row per question and group with mean and counts.

    ``signed`` counts the signed-in respondents of a group; the column ``signed`` of the frame counts their answers.
    """

    frame: pl.DataFrame
    respondents: dict[str, int]
    signed: dict[str, int]

    def classes(self) -> pl.DataFrame:
        """Return the mean privacy of each class of the taxonomy, by group."""
        import polars as pl

        items = self.frame.filter(pl.col("question").str.starts_with("item:"))
        named = items.with_columns(category=pl.col("question").str.split(":").list.get(1))
        mean = (pl.col("mean") * pl.col("n")).sum() / pl.col("n").sum()
        return named.group_by("category", "group").agg(mean=mean, n=pl.col("n").sum()).sort("category", "group")

    def chart(self, language: str = "en", *, title: str = "How private, by class", ungrouped: str = "all") -> str:
        """Return a bar chart of the classes by group, as a share of the most private answer."""
        from celosia.show.charts import bars

        most = max(int(value) for value in _texts()["private"])
        shares = {(row["category"], row["group"]): row["mean"] / most for row in self.classes().to_dicts()}
        names = class_names()
        series = [(group or ungrouped, [shares.get((c, group)) for c in names]) for group in sorted(self.respondents)]
        return bars(title, [translation(name, language) for name in names.values()], series)

    def without_few(self, least: int) -> Tabulation:
        """Drop groups and questions that fewer than ``least`` signed-in respondents have answered.

        Others do not count: an intruder could answer several times and so isolate the one answer left.
        """
        import polars as pl

        kept = {group: n for group, n in self.respondents.items() if self.signed[group] >= least}
        enough = (pl.col("signed") >= least) & pl.col("group").is_in(list(kept))
        return Tabulation(self.frame.filter(enough), kept, {group: self.signed[group] for group in kept})


def tabulate(store: Preferences) -> Tabulation:
    """Count the answers by question and group."""
    import polars as pl

    t = tables().answers
    with store.engine.connect() as connection:
        answers = [(r.respondent, r.item, r.grouping, r.value, r.signed) for r in connection.execute(t.select())]
    schema = {
        "respondent": pl.String,
        "question": pl.String,
        "group": pl.String,
        "value": pl.Int64,
        "signed": pl.Boolean,
    }
    frame = pl.DataFrame(answers, schema=schema, orient="row")
    people = frame.unique(["group", "respondent"]).group_by("group").agg(pl.len(), pl.col("signed").sum())
    counts = [(pl.col("value") == v).sum().alias(f"answers {v}") for v in range(5)]
    rows = (
        frame.drop_nulls("value")
        .group_by("question", "group")
        .agg(pl.col("value").mean().alias("mean"), pl.len().alias("n"), pl.col("signed").sum(), *counts)
    )
    respondents, signed = ({row["group"]: row[of] for row in people.to_dicts()} for of in ("len", "signed"))
    return Tabulation(rows.sort("question", "group"), respondents, signed)
