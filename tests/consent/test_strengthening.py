"""Strengthenings of a rule: every condition of a model, several models, and blanked cells beside them."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from tests.consent.test_protection import TREE, table_of

import celosia
from celosia.consent.protection.protection import Design, honour
from celosia.errors import RequirementError
from celosia.parts import build, describe
from celosia.streams import Stream
from celosia.table.derive import with_record_ids


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("alpha-k(alpha=1, k=5, column=ill)", None),
        ("average-risk(risk=1, highest=0.2)", "average risk at most 1"),
    ],
)
def test_every_condition_of_a_model_is_asked_of_blocking_owners(model, reason):
    """Four rows alone in their districts, one of them blocked: by its first number alone each model would hold."""
    rows = [("p", "c", f"d{i}") for i in range(4)] + [("p", "e", "f")] * 6
    ill = pl.Series([*"xyzw", *"xyxyxy"])
    table = table_of(rows, {"ill": ill}, sensitive=["ill"])
    extra = np.array([1] + [0] * 9)
    part = build("model", model)
    standard = honour(table, extra, Design(k=1, rule="standard", tree=TREE), Stream(1)).table
    assert part.failing_records(standard)[0], "the table as it is does not meet it"
    for rule in ("class", "coarser"):
        design = Design(k=1, rule=rule, tree=TREE, strengthen=(model,))
        if rule == "coarser" and reason:
            with pytest.raises(RequirementError, match=reason):  # the other three stay alone, whatever she shows
                honour(table, extra, design, Stream(1))
            continue
        protected = honour(table, extra, design, Stream(1))
        assert not (part.failing_records(protected.table) & (extra > 0)).any()
        assert protected.evidence["strengthened"] == describe(part)


def mixed_places():
    """d1 has one illness only, d2 two, f three; the first row is blocked."""
    rows = [("p", "c", "d1")] * 6 + [("p", "c", "d2")] * 6 + [("p", "e", "f")] * 6
    more = {"ill": pl.Series([*"xxxxxx", *"yyyyyz", *"xyzxyz"]), "school": pl.Series([f"s{i % 2}" for i in range(18)])}
    return table_of(rows, more, sensitive=["ill"]), np.array([1] + [0] * 17)


@pytest.mark.parametrize("rule", ["class", "coarser"])
def test_marked_cells_stay_blanked_whatever_else_strengthens(rule):
    """The class of the blocked row must grow for the model; in either order its marked cell is not published."""
    table, extra = mixed_places()
    model = "l-diversity(l=2, column=ill)"
    for strengthen in (("suppress", model), (model, "suppress")):
        design = Design(k=2, rule=rule, tree=TREE, camouflage=0.4, strengthen=strengthen)
        protected = honour(table, extra, design, Stream(1), {"school": extra > 0})
        assert protected.table.polars()["school"][0] == "*"
        assert 2 <= protected.evidence["blanked cells"] < 18
        assert not build("model", model).failing_records(protected.table)[0]


def test_models_hold_together():
    """d1 and d2 together have l = 3, but x has half of them: the second model asks for more than the first."""
    table, extra = mixed_places()
    models = ("l-diversity(l=2, column=ill)", "alpha-k(alpha=0.45, k=2, column=ill)")
    for rule, strengthen in itertools.product(("class", "coarser"), (models, models[::-1])):
        protected = honour(table, extra, Design(k=2, rule=rule, tree=TREE, strengthen=strengthen), Stream(1))
        for model in models:
            assert not build("model", model).failing_records(protected.table)[0]
        wishes = " and ".join(describe(build("model", model)) for model in strengthen)
        assert protected.evidence["strengthened"] == wishes


@pytest.mark.parametrize("lone", [1, 3])
def test_few_suppressed_rows_show_no_sensitive_value(lone):
    """Some rows whose class would be too small in every place are suppressed: fewer than k + X show no illness."""
    rows = [("p", "c", "d")] * 8 + [("q", "e", "f")] * lone
    ill = pl.Series([*"xyxyxyxy", *"zzz"[:lone]])
    table = table_of(rows, {"ill": ill}, sensitive=["ill"])
    extra = np.array([0] * 8 + [2] + [0] * (lone - 1))
    for k, rule in itertools.product((2, 4), ("class", "coarser", "control")):
        protected = honour(table, extra, Design(k=k, rule=rule, tree=TREE), Stream(1))
        gone = protected.table.counts.suppressed_mask
        shown = protected.table.polars()["ill"].is_not_null().to_numpy()
        if not gone.any() or gone.all():
            continue
        assert gone.sum() >= k + 2 or not shown[gone].any(), (k, rule)
        assert shown[~gone].all()


def test_a_model_that_blanking_breaks_is_refused():
    table, extra = mixed_places()
    design = Design(
        k=2, rule="class", tree=TREE, camouflage=0.2, strengthen=("l-diversity(l=2, column=ill)", "suppress")
    )
    with pytest.raises(RequirementError, match="l at least 2 is not met where marked cells are blanked"):
        honour(table, extra, design, Stream(20), {"canton": extra > 0})


@pytest.mark.parametrize("rule", ["class", "coarser"])
def test_a_model_that_larger_places_do_not_meet_is_refused(rule):
    """All women of the only province have one illness: larger places never mix them with men."""
    sex = ["f"] * 6 + ["m"] * 34
    frame = pl.DataFrame({"province": "p", "district": [f"d{i % 2}" for i in range(40)], "sex": sex})
    frame = frame.with_columns(ill=pl.Series(["a"] * 6 + [*"abc"] * 11 + ["a"]))
    schema = celosia.Schema.of(quasi=["province", "district", "sex"], sensitive=["ill"])
    design = Design(k=3, rule=rule, tree=("province", "district"), strengthen=("l-diversity(l=2, column=ill)",))
    table, extra = with_record_ids(celosia.read(frame, schema)), np.array([1] * 10 + [0] * 30)
    with pytest.raises(RequirementError, match="not met by larger classes of province, district"):
        honour(table, extra, design, Stream(1))
