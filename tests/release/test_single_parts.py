"""One requirement, risk or loss where several could be: the verbs take it as a list of one, however it is written."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia import models
from celosia.errors import CelosiaError
from celosia.release.protect import watch

FRAME = pl.DataFrame({"age": [30, 30, 40, 40], "job": ["x", "y", "x", "y"]})
SCHEMA = celosia.Schema.of(quasi=["age"], sensitive=["job"])
WAYS = ["k-anonymity(k=2)", {"use": "k-anonymity", "k": 2}, models.KAnonymity(k=2), "[k-anonymity(k=2)]"]


@pytest.mark.parametrize("model", WAYS, ids=str)
def test_a_bare_requirement(model, tmp_path):
    table = celosia.read(FRAME, SCHEMA)
    assert celosia.assess(table, model).spec() == celosia.assess(table, ["k-anonymity(k=2)"]).spec()
    assert table.assess(model).holds
    page = celosia.report(table, table, tmp_path / "page.html", model, risks="marketer", losses="discernibility")
    assert "k at least 2" in page.read_text("utf-8")


def test_a_bare_risk_and_a_bare_loss():
    table = celosia.read(FRAME, SCHEMA)
    assert [finding.part.name for finding in celosia.assess(table, risks="marketer").risks] == ["marketer"]
    compared = celosia.compare(table, table, "discernibility", "distance-linkage")
    assert [finding.part.name for finding in compared.losses] == ["discernibility"]
    assert [finding.part.name for finding in compared.risks] == ["distance-linkage"]
    several = celosia.assess(table, "[k-anonymity(k=2), l-diversity(l=2)]")
    assert [finding.part.name for finding in several.models] == ["k-anonymity", "l-diversity"]


def test_a_wrong_name_is_told_whole():
    with pytest.raises(CelosiaError, match="no model named 'k-anonimity'"):
        celosia.assess(FRAME, "k-anonimity(k=2)", schema=SCHEMA)


def test_only_a_method_that_iterates_can_be_watched():
    with pytest.raises(CelosiaError, match="noise does not iterate: there is nothing to watch"):
        next(watch(celosia.read(FRAME, SCHEMA), "noise(columns=[age])", seed=1))
