"""Codings side by side: each row is what the models say of that coding."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.errors import NotApplicable
from celosia.models import FuzzyLDiversity, FuzzyTCloseness, KAnonymity, QAnonymity


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(4)
    columns = {"age": rng.integers(18, 80, 200), "pay": rng.gamma(3, 900, 200), "ill": rng.choice(list("abcde"), 200)}
    path = tmp_path / "people.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


def test_every_row_is_what_the_models_say_of_its_coding(people):
    table = celosia.read(people, celosia.Schema.of(quasi=["age", "pay"], sensitive=["ill"]))
    found = celosia.compare_codings(table, 3)
    assert found.select("coding", "joint").n_unique() == 6
    for row in found.iter_rows(named=True):
        coding = {"coding": row["coding"], "joint": row["joint"], "cells": 3}
        labels = celosia.protect(table, {"use": "fuzzy-recode", "columns": ["age", "pay"], **coding}, seed=1)
        if row["coding"] == "global-recode":  # the same cells whatever the seed
            assert row["k"] == KAnonymity(k=1).value(labels)
        assert row["Q mean"] == QAnonymity(q=1, **coding).value(table)
        assert row["Q min"] == QAnonymity(q=1, aggregate="min", **coding).value(table) <= row["Q mean"]
        assert row["l"] == FuzzyLDiversity(l=1, **coding).value(table)
        assert row["t"] == FuzzyTCloseness(t=1, **coding).value(table)


def test_on_the_command_line(people, capsys):
    assert command(["compare-codings", str(people), "--quasi", "age", "--sensitive", "ill", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["codings"]
    assert [row["coding"] for row in rows] == ["global-recode", "k-means", "c-means"]
    assert command(["compare-codings", str(people), "--quasi", "age,pay", "--cells", "2"]) == 0
    shown = capsys.readouterr().out
    assert "gustafson-kessel" in shown
    assert "joint" in shown


def test_columns_of_text_cannot_be_coded(people):
    with pytest.raises(NotApplicable, match="no quasi-identifier holds numbers"):
        celosia.compare_codings(people, schema=celosia.Schema.of(quasi=["ill"]))
