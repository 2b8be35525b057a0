"""Suppressed records that show a sensitive value are a class of their own; rows without a person's id are read twice."""

from __future__ import annotations

import polars as pl
import pytest
from tests.reference.tables import STAR

import celosia
from celosia.parts import build
from celosia.release.policy.policy import Policy
from celosia.release.run import run
from celosia.release.verify.verify import verify

QUASI = ["sex", "age"]
MODELS = ("k-anonymity(k=5)", "l-diversity(l=2)", "alpha-k(alpha=0.9, k=5)", "t-closeness(t=0.45)")


def people(extra=1) -> pl.DataFrame:
    illnesses = ("flu", "cold", "none")
    rows = [("F" if i % 2 else "M", 20 + 10 * (i % 4), illnesses[i // 4 % 3]) for i in range(240)]
    return pl.DataFrame([*rows, *[("F", 90 + i, "flu") for i in range(extra)]], schema=[*QUASI, "ill"], orient="row")


def schema() -> celosia.Schema:
    return celosia.Schema.of(quasi=QUASI, sensitive=["ill"])


def with_stars(values) -> celosia.Table:
    stars = pl.DataFrame({"sex": [STAR] * len(values), "age": [STAR] * len(values), "ill": values})
    return celosia.read(pl.concat([people(0).cast({"age": pl.String}), stars], how="vertical_relaxed"), schema())


@pytest.mark.parametrize("model", MODELS)
def test_one_suppressed_record_that_shows_its_illness_violates(model):
    assert build("model", model).holds(with_stars([]))
    assert not build("model", model).holds(with_stars(["flu"]))
    assert build("model", model).holds(with_stars([None]))
    assert build("model", model).holds(with_stars(["flu", "cold", "none"] * 3))


def test_suppressed_records_count_in_risks_while_they_show_a_value():
    risk = build("risk", "prosecutor")
    assert risk.value(with_stars(["flu"])) == 1.0
    assert risk.value(with_stars(["flu", "cold"])) == 0.5
    assert risk.value(with_stars([None])) == pytest.approx(1 / 60)
    assert build("risk", "homogeneity").value(with_stars(["flu"])) == pytest.approx(1 / 241)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize(
    "method",
    [
        "suppress-records(require=[k-anonymity(k=5), l-diversity(l=2)])",
        "generalise(require=[k-anonymity(k=5), l-diversity(l=2)], suppress=0.1)",
    ],
)
def test_what_a_method_suppresses_meets_its_requirements(method, engine):
    done = celosia.protect(celosia.read(people(), schema(), engine=engine), method, seed=1)
    assert celosia.assess(done, ["k-anonymity(k=5)", "l-diversity(l=2)"]).holds
    hidden = done.polars().filter(pl.all_horizontal(pl.col(*QUASI).cast(pl.String) == STAR))
    assert hidden["ill"].to_list() == [None] * len(hidden)
    assert len(hidden) == done.suppressed()


def test_many_suppressed_records_keep_their_values():
    data = people(0).vstack(pl.DataFrame({"sex": ["F"] * 9, "age": range(90, 99), "ill": ["flu", "cold", "none"] * 3}))
    done = celosia.protect(
        celosia.read(data, schema()), "suppress-records(require=[k-anonymity(k=5), l-diversity(l=2)])", seed=1
    )
    assert done.suppressed() == 9
    assert done.polars()["ill"].null_count() == 0


def test_a_release_blanks_what_its_requirements_ask_for(tmp_path):
    people().write_csv(tmp_path / "in.csv")
    policy = f"""
require = ["l-diversity(l=2)"]
[input]
path = "in.csv"
[schema]
quasi = {QUASI}
sensitive = ["ill"]
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=5)"]
[output]
path = "out.csv"
report = false
"""
    release = run(Policy.parse(policy, tmp_path))
    assert release.holds
    assert celosia.read(tmp_path / "out.csv").polars().filter(pl.col("sex") == STAR)["ill"].to_list() == [None]
    assert verify(release.paths["certificate"]).holds


def unidentified() -> celosia.Table:
    """One class: 60 rows with HIV and no id, four identified persons with other values."""
    rows = [(None, "A", "hiv")] * 60 + [(i, "A", f"other {i}") for i in range(4)]
    data = pl.DataFrame(rows, schema={"who": pl.Int64, "place": pl.String, "ill": pl.String}, orient="row")
    return celosia.read(data, celosia.Schema.of(quasi=["place"], sensitive=["ill"], person="who"))


def test_rows_without_an_id_are_read_as_one_person_and_as_many():
    table = unidentified()
    assert build("model", "k-anonymity(k=5)").value(table) == 5  # one person at most
    assert build("model", "alpha-k(alpha=0.4, k=5)").value(table) == pytest.approx(60 / 64)
    assert not build("model", "alpha-k(alpha=0.4, k=5)").holds(table)
    assert build("model", "l-diversity(l=3, variant=entropy)").value(table) < 1.5
    assert build("risk", "homogeneity(share=0.9)").value(table) == 1.0


def test_one_row_without_an_id_has_one_reading():
    data = pl.DataFrame({"who": [None, 1, 2], "place": ["A"] * 3, "ill": ["x", "y", "z"]})
    table = celosia.read(data, celosia.Schema.of(quasi=["place"], sensitive=["ill"], person="who"))
    assert len(table.readings()) == 1
