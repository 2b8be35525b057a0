"""The method of a suggested policy: the least loss at the same guarantee, with the numbers of the others."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.frontier import choose_method, suggested_policy
from celosia.frontier.method_choice import MARGIN, SAMPLE
from celosia.loss import NonUniformEntropy
from celosia.proposals import suggest

HIERARCHIES = {
    "age": "intervals(width=5, count=3)",
    "zip": {"use": "priority", "keep": [8, 3]},
    "sex": {"use": "priority", "keep": []},
}


def people(n: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "person": np.arange(n) // 2,
            "age": rng.normal(45, 18, n).clip(0, 95).astype(int),
            "zip": [f"Z{i}" for i in rng.geometric(0.2, n)],
            "sex": rng.choice(["f", "m"], n),
        }
    )


def policy(folder, frame: pl.DataFrame, k: int = 5, person: str | None = None, keep=(), require=None) -> celosia.Policy:
    frame.write_csv(folder / "people.csv")
    quasi = ["age", "zip", "sex"]
    return celosia.Policy.of(
        {
            "purpose": {"keep": list(keep)},
            "input": {"path": str(folder / "people.csv")},
            "schema": celosia.Schema.of(quasi=quasi, person=person, hierarchies=HIERARCHIES),
            "require": require or [f"k-anonymity(k={k})"],
        },
        folder,
    )


def test_the_choice_loses_least_and_holds(tmp_path):
    given = policy(tmp_path, people())
    choice = choose_method(given)
    table = given.table()
    losses = {}
    for trial in choice.trials:
        method = {"require": ["k-anonymity(k=5)"], **trial.entries}
        if trial.name == "local-suppress":
            del method["require"]
        safe = celosia.protect(table, method)
        assert celosia.models.KAnonymity(k=5).holds(safe), trial.name
        losses[trial.name] = NonUniformEntropy().value(table, safe)
        assert 1 - trial.kept == pytest.approx(losses[trial.name])
    assert choice.chosen.name != "generalise"
    assert losses["generalise"] > losses[choice.chosen.name] + 0.1, "full-domain recoding loses far more here"
    assert losses[choice.chosen.name] <= min(losses.values()) + MARGIN


def test_a_column_with_nothing_left_counts_twice_and_is_named(tmp_path):
    choice = choose_method(policy(tmp_path, people(40), k=20))
    wiped = [trial for trial in choice.trials if trial.empty]
    assert wiped, "k = 20 of 40 records leaves some column empty under full-domain recoding"
    for trial in wiped:
        assert trial.loss({}) == pytest.approx((1 - trial.kept) + len(trial.empty) / 3)
    chosen = choice.chosen
    assert bool(chosen.empty) == any("hidden in all 40 records" in line for line in choice.warnings)
    assert any("a lower k" in line for line in choice.warnings) == bool(chosen.empty or chosen.kept < 0.25)


def test_what_cannot_be_met_is_said_with_what_to_do(tmp_path):
    choice = choose_method(policy(tmp_path, people(4), k=5))
    assert choice.method is None
    assert "k at least 5" in choice.warnings[0]


def test_columns_to_keep_weigh_more(tmp_path):
    frame = people()
    before = choose_method(policy(tmp_path, frame))
    after = choose_method(policy(tmp_path, frame, keep=["age"]))
    assert after.trials[1].entries["weights"] == {"age": 3.0}
    assert after.trials[2].entries["importance"] == {"age": 3.0}
    assert after.trials[1].losses["age"] < before.trials[1].losses["age"]


def test_large_tables_are_sampled_by_persons(tmp_path):
    choice = choose_method(policy(tmp_path, people(3 * SAMPLE), person="person"))
    assert choice.total == 3 * SAMPLE
    assert SAMPLE / 2 < choice.records < SAMPLE * 1.5
    assert choice.records % 2 == 0, "all records of a person, or none"
    assert f"{choice.records:,} of 60,000 records" in choice.measured


def test_a_requirement_on_the_file_leaves_methods_that_meet_it(tmp_path):
    choice = choose_method(policy(tmp_path, people(), require=["k-anonymity(k=3)", "average-risk(risk=0.1)"]))
    reasons = {trial.name: trial.reason for trial in choice.trials}
    assert reasons["local-generalise"] == "a requirement judges the whole file"
    assert reasons["local-suppress"] == "it meets requirements on the size of a class only"
    assert choice.chosen.name in ("generalise", "mondrian")


def test_a_column_that_reveals_a_hidden_quasi_identifier_is_left_out(tmp_path):
    """A question that only women are asked is missing for men: it shows the sex that the method hides."""
    frame = people()
    rng = np.random.default_rng(1)
    answer = pl.Series(rng.choice(["yes", "no"], len(frame)))
    frame = frame.with_columns(
        asked=pl.when(pl.col("sex") == "f").then(answer), other=pl.Series(rng.choice(["yes", "no"], len(frame)))
    )
    frame.write_csv(tmp_path / "people.csv")
    given = celosia.Policy.of(
        {
            "input": {"path": str(tmp_path / "people.csv")},
            "schema": celosia.Schema.of(
                quasi=["age", "zip", "sex"], sensitive=["asked", "other"], hierarchies=HIERARCHIES
            ),
            "require": ["k-anonymity(k=5)"],
        },
        tmp_path,
    )
    choice = choose_method(given)
    assert "sex" in choice.chosen.losses
    assert choice.chosen.losses["sex"] > 0
    assert set(choice.derived) == {"asked"}


def test_init_writes_the_method_and_the_numbers_of_the_others(tmp_path, capsys):
    people().drop("person").write_csv(tmp_path / "people.csv")
    assert command(["init", str(tmp_path / "people.csv"), "--out", str(tmp_path / "policy.toml"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    text = (tmp_path / "policy.toml").read_text()
    assert tomllib.loads(text)["step"][-1]["use"] == shown["method"]
    kept = {entry["method"]["use"]: entry["kept"] for entry in shown["tried"] if "kept" in entry}
    for name, share in kept.items():
        assert f"#   {name:17}{share:.0%}" in text
    assert kept[shown["method"]] >= max(kept.values()) - MARGIN
    assert celosia.run(tmp_path / "policy.toml").holds


def test_init_writes_a_policy_where_no_method_could_be_tried(tmp_path):
    frame = people()
    frame.write_csv(tmp_path / "people.csv")
    text, choice = suggested_policy(suggest(frame), "missing.csv", tmp_path)
    assert "missing.csv" in choice.warnings[0]
    assert tomllib.loads(text)["step"][-1]["use"] == "generalise"


def test_a_column_to_keep_must_exist(tmp_path):
    given = policy(tmp_path, people(), keep=["aeg"])
    with pytest.raises(celosia.errors.UnknownName, match=r"no column named 'aeg'. Did you mean 'age'\?"):
        celosia.run(given)


def test_a_column_that_discloses_a_quasi_identifier_is_left_out(tmp_path):
    rng = np.random.default_rng(3)
    town = rng.integers(0, 40, 1000)
    age = rng.integers(18, 90, 1000)
    factor = 1 + town * 0.0371  # a weight of its own in each town
    frame = pl.DataFrame({"age": age, "town": [f"T{i:02d}" for i in town], "sampling_weight": factor.round(4)})
    frame.write_csv(tmp_path / "people.csv")
    assert command(["init", str(tmp_path / "people.csv"), "--out", str(tmp_path / "policy.toml")]) == 0
    text = (tmp_path / "policy.toml").read_text()
    assert "weight =" not in text
    assert "sampling_weight: left out, because it holds values that" in text
    assert command(["run", str(tmp_path / "policy.toml")]) == 0
