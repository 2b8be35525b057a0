"""A frame that protect returns has the columns of a release, and an assessment states what it did not check."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

import celosia
from celosia.errors import ParameterError, UnknownName
from celosia.parts import build

SCHEMA = celosia.Schema.of(identifiers=["name"], person="pid", quasi=["age"], sensitive=["ill"], insensitive=["ward"])


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": list("abcdefgh"),
            "pid": range(8),
            "age": [1, 2, 3, 4, 5, 6, 7, 8],
            "extra": range(8),
            "ill": list("xxyyxxyy"),
            "ward": list("uuuuvvvv"),
        }
    )


def test_identifiers_and_columns_without_a_role_are_left_out_with_one_warning():
    with pytest.warns(UserWarning, match="left out of the result") as seen:
        safe = celosia.protect(people(), "mondrian(k=2)", schema=SCHEMA, seed=1)
    assert list(safe.columns) == ["age", "ill", "ward"]
    assert len(seen) == 1
    assert "'name', 'pid', 'extra'" in str(seen[0].message)


def test_columns_are_kept_that_are_named_or_overwritten(monkeypatch):
    with pytest.warns(UserWarning, match="'name', 'pid'"):
        safe = celosia.protect(people(), "mondrian(k=2)", schema=SCHEMA, seed=1, keep=["extra"])
    assert "extra" in safe.columns
    pseudonyms = {"use": "pseudonymise", "columns": ["name"], "key": "env:CELOSIA_TEST_KEY"}
    monkeypatch.setenv("CELOSIA_TEST_KEY", "k" * 40)
    with pytest.warns(UserWarning, match="'pid', 'extra'"):
        safe = celosia.protect(people(), pseudonyms, schema=SCHEMA)
    assert "name" in safe.columns


def test_a_frame_without_a_schema_keeps_its_columns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(celosia.protect(people(), "round(columns=[extra], base=5)").columns) == list(people().columns)


def test_what_is_kept_must_exist_and_needs_a_frame():
    with pytest.raises(UnknownName, match="'extr'"):
        celosia.protect(people(), "mondrian(k=2)", schema=SCHEMA, keep=["extr"])
    with pytest.raises(ParameterError, match="keep is for frames"):
        celosia.protect(celosia.read(people(), SCHEMA), "mondrian(k=2)", keep=["extra"])


def test_an_assessment_states_what_it_did_not_check():
    with pytest.warns(UserWarning, match="no role"):
        found = celosia.assess(people(), ["k-anonymity(k=1)"], schema=SCHEMA)
    assert found.unchecked == {
        "names a person": ("name", "pid"),
        "no role": ("extra",),
        "sensitive, without a requirement": ("ill",),
        "insensitive": ("ward",),
    }
    sentences = [block.title for block in found.blocks()]
    assert any(
        sentence.startswith("Not checked by any requirement: name, pid (names a person)") for sentence in sentences
    )
    with pytest.warns(UserWarning, match="no role"):
        judged = celosia.assess(people(), ["k-anonymity(k=1)", "l-diversity(l=1, column=ill)"], schema=SCHEMA)
    assert "sensitive, without a requirement" not in judged.unchecked


def test_roles_can_be_read_from_a_schema():
    assert (SCHEMA.identifiers, SCHEMA.quasi, SCHEMA.sensitive, SCHEMA.insensitive) == (
        ("name",), ("age",), ("ill",), ("ward",),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["mondrian", "generalise", "local-generalise", "suppress-records"])
def test_k_is_short_for_the_requirement(name):
    method = build("method", f"{name}(k=4)")
    assert "k-anonymity(k=4)" in str(method)


def test_k_is_added_to_other_requirements_and_must_be_valid():
    both = celosia.methods.Mondrian(k=3, require=["l-diversity(l=2, column=ill)"])
    assert [model.name for model in both.require] == ["l-diversity", "k-anonymity"]
    with pytest.raises(ParameterError, match="k"):
        celosia.methods.Mondrian(k=0)
    assert celosia.methods.Microaggregate(k=3, columns=["age"]).k == 3
