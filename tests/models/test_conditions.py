"""What a model asks for is stated once, as data: its wish in words and the report in three languages follow from it."""

from __future__ import annotations

import polars as pl
import pytest
from tests.reference.examples import EXAMPLES, population_of
from tests.reference.tables import random_table

import celosia
from celosia import models
from celosia.parts import build, describe, parts
from celosia.release.report import LANGUAGES, render
from celosia.release.report.texts import words
from celosia.release.run import run

PEOPLE = pl.DataFrame({"age": [31, 35, 38, 42, 47]})
HOW = {
    "k-map": {"size", "alpha"},
    "l-diversity": {"c"},
    "population-uniqueness": {"size"},
    "q-anonymity": {"possibility"},
}
"""Numbers that say how the value is measured, not how large it may be."""
CODING = {"fuzzy-l-diversity", "fuzzy-t-closeness", "q-anonymity"}


@pytest.mark.parametrize(
    ("model", "wish"),
    [
        (models.KAnonymity(k=5), "k at least 5"),
        (models.AlphaK(alpha=0.5, k=4), "alpha at most 0.5 and k at least 4"),
        (models.AverageRisk(risk=0.5), "average risk at most 0.5"),
        (
            models.AverageRisk(risk=0.5, highest=0.4, share=0.25),
            "average risk at most 0.5 and share of records above 0.4 at most 0.25",
        ),
        (models.DeltaDisclosure(delta=1), "delta less than 1"),
        (models.DeltaPresence(highest=0.5, population=PEOPLE), "delta at most 0.5"),
        (models.DeltaPresence(lowest=0.1, highest=0.5, population=PEOPLE), "delta at most 0.5 and at least 0.1"),
    ],
)
def test_the_wish_names_every_condition(model, wish):
    assert describe(model) == wish


def built(example):
    table = random_table(0, 10, persons=False, letters="ab")
    return build("model", example.part(population_of(table, 0), 2 if example.least else 0.5))


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_every_number_of_a_model_is_in_its_conditions(example):
    model = built(example)
    first, stated = model.conditions()[0], {n for c in model.conditions() for n in (c.bound, c.beyond)}
    assert first.bound == model.bound()
    given = {k: v for k, v in example.parameters.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    own = set() if example.model not in CODING else set(given)  # of the coding
    numbers = {v for k, v in given.items() if k not in HOW.get(example.model, set()) | own}
    assert numbers <= stated, "a number that the wish leaves out: add it to `conditions`, or to HOW"


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_words_of_a_condition_are_translated(example, language):
    told = words(language)["wishes"]
    for condition in built(example).conditions():
        assert told[condition.direction] != condition.direction
        assert " " not in condition.symbol or told[condition.symbol] != condition.symbol
        assert ("{beyond}" in condition.symbol) == (condition.beyond is not None)


def test_no_word_is_translated_that_nobody_says():
    said = {word for example in EXAMPLES for c in built(example).conditions() for word in (c.symbol, c.direction)}
    assert {word for word in words("en")["wishes"] if word != "and"} <= said
    assert {example.model for example in EXAMPLES} == set(parts("model"))


POLICY = """
[input]
path = "people.csv"
[schema]
quasi = ["age"]
sensitive = ["ill"]
[[require]]
use = "alpha-k"
alpha = 0.75
k = 4
[[require]]
use = "average-risk"
risk = 0.5
highest = 0.25
[[require]]
use = "delta-disclosure"
delta = 2.5
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=4)"]
[guard]
acknowledge = { ill = "what a test needs" }
[output]
path = "safe.csv"
"""


def test_the_report_states_every_condition_in_its_language(tmp_path):
    pl.DataFrame({"age": [30] * 8 + [40] * 8, "ill": ["flu", "cold"] * 8}).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    release = run(tmp_path / "policy.toml")
    wanted = {
        "en": ("alpha at most 0.75 and k at least 4", "share of records above 0.25 at most 0", "delta less than 2.5"),
        "es": (
            "alpha como mucho 0,75 y k al menos 4",
            "registros por encima de 0,25 como mucho 0",
            "delta menos de 2,5",
        ),
        "ca": ("alpha com a molt 0,75 i k almenys 4", "registres per sobre de 0,25 com a molt 0", "delta menys de 2,5"),
    }
    for language, wishes in wanted.items():
        page = render(release, edition="external", language=language)
        assert [wish for wish in wishes if wish not in page] == []
    assert [claim["wish"] for claim in release.certificate["requirements"]] == [
        describe(finding.part) for finding in release.assessment.models
    ]
    assert celosia.verify(release.paths["certificate"]).holds


def test_the_fewest_records_that_every_class_must_have():
    """What a check against earlier releases asks for: a model with a smallest class states it, whatever its name."""
    from celosia.release.evidence.history import fewest_remaining

    assert fewest_remaining(None, [models.AlphaK(alpha=0.5, k=7), models.KAnonymity(k=3)]) == 7
    assert fewest_remaining(None, [models.TCloseness(t=0.2)]) == 2
    assert fewest_remaining(4, [models.KAnonymity(k=9)]) == 4
