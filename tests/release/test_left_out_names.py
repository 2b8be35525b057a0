"""Names of columns that are not released: a header may be a person's name, so no public file has them."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.release.evidence.certificate import Certificate
from celosia.release.verify.verify import verify

HEADERS = {"undeclared": "Anna Schmidt", "identifier": "Bert Maier", "dropped": "Carla Ruiz", "masked": "Dora Lind"}


@pytest.fixture
def release(tmp_path):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {"age": rng.integers(20, 24, 60), **{name: rng.permutation(60) + 1000 for name in HEADERS.values()}}
    )
    frame.write_parquet(tmp_path / "in.parquet")
    policy = {
        "input": {"path": str(tmp_path / "in.parquet")},
        "schema": {
            "identifiers": [HEADERS["identifier"], HEADERS["masked"]],
            "quasi": ["age"],
            "insensitive": [HEADERS["dropped"]],
        },
        "step": [
            {"use": "mask", "columns": [HEADERS["masked"]]},
            {"use": "drop", "columns": [HEADERS["dropped"], HEADERS["masked"]]},
            {"use": "suppress-records", "require": ["k-anonymity(k=3)"]},
        ],
        "require": ["k-anonymity(k=3)"],
        "output": {"path": str(tmp_path / "out.csv")},
    }
    return celosia.run(celosia.Policy.of(policy))


@pytest.mark.parametrize("file", ["data", "certificate", "report"])
@pytest.mark.parametrize("how", HEADERS)
def test_no_public_file_names_a_column_that_is_left_out(release, file, how):
    assert HEADERS[how] not in release.paths[file].read_text("utf-8")


@pytest.mark.parametrize("how", HEADERS)
def test_the_owner_sees_the_names(release, how):
    assert HEADERS[how] in release.record["left_out"]
    assert HEADERS[how] in release.paths["internal"].read_text("utf-8")


def test_the_number_is_public_and_the_release_verifies(release):
    assert release.certificate["left_out"] == len(HEADERS)
    assert [step.get("columns") for step in release.certificate["steps"]] == [["(left out)"], ["(left out)"] * 2, None]
    found = verify(release.paths["certificate"])
    assert not [check for check in found if check.passed is False]


def test_a_number_of_columns_is_not_negative(release):
    with pytest.raises(ValueError, match="left_out"):
        Certificate.model_validate(json.loads(release.paths["certificate"].read_text("utf-8")) | {"left_out": -1})


@pytest.mark.parametrize("x", [lambda town: town // 6, lambda town: town])
def test_findings_in_public_files_name_released_columns_only(tmp_path, x):
    town = np.random.default_rng(0).integers(0, 60, 600)
    frame = pl.DataFrame({"MariaGarcia": [f"p{i // 6 * 2}" for i in town], "x": [f"t{x(i)}" for i in town]})
    frame.with_columns(sex=pl.Series(["F", "M"] * 300)).write_csv(tmp_path / "in.csv")
    policy = {
        "input": {"path": str(tmp_path / "in.csv")},
        "schema": {"quasi": ["MariaGarcia", "sex"], "insensitive": ["x"]},
        "step": [{"use": "drop", "columns": ["MariaGarcia"]}],
        "output": {"path": str(tmp_path / "out.csv")},
        "guard": {"acknowledge": {"x": "a test"}},
    }
    assert (
        celosia.run(celosia.Policy.of(policy))
        .certificate["guard"][0]["what"]
        .endswith("a column that is not released, more finely than it is released")
    )
    for path in (tmp_path / "out.certificate.json", tmp_path / "out.report.html"):
        assert "MariaGarcia" not in path.read_text()
