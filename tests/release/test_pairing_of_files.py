"""Two files are compared by a key, which is not data, or by position, which is refused when it is wrong."""

from __future__ import annotations

import json

import polars as pl
import pytest

import celosia
from celosia.cli.main import run
from celosia.errors import DataError, ParameterError

# Exercise 2 of the textbook: additive noise on two columns.
V1, V2 = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1], [90, 80, 70, 60, 50, 40, 30, 20, 10, 9]
NOISY_V1 = [10.70, 10.45, 8.50, 7.58, 5.49, 5.62, 4.99, 3.47, 1.06, 1.92]
NOISY_V2 = [83.42, 81.07, 77.46, 58.56, 54.46, 36.86, 32.88, 18.15, 16.55, 5.23]
MEASURES = {"squared-error": 10.37522, "absolute-error": 2.344, "relative-error": 0.20133906746}


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    original = pl.DataFrame({"id": list(range(1, 11)), "V1": V1, "V2": V2})
    noisy = pl.DataFrame({"id": list(range(1, 11)), "V1": NOISY_V1, "V2": NOISY_V2})
    original.write_csv("a.csv")
    noisy.sample(fraction=1, shuffle=True, seed=3).write_csv("b.csv")
    original.drop("id").write_csv("x.csv")
    noisy.drop("id").write_csv("y.csv")
    return original, noisy


@pytest.mark.parametrize("arguments", [["a.csv", "b.csv", "--key", "id"], ["x.csv", "y.csv", "--by-position"]])
def test_the_key_enters_no_loss_and_no_attack(pair, capsys, arguments):
    losses = [word for name in MEASURES for word in ("--loss", name)]
    assert run(["compare", *arguments, *losses, "--risk", "distance-linkage(scale=none)", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    values = {loss["part"]: loss["value"] for loss in found["losses"]}
    assert {name: pytest.approx(value) for name, value in MEASURES.items()} == values
    (linkage,) = found["risks"]
    assert linkage["evidence"]["columns"] == ["V1", "V2"]
    assert linkage["value"] == pytest.approx(0.9)


def test_python_has_both_ways(pair):
    original, noisy = pair
    losses = list(MEASURES)
    by_key = celosia.compare("a.csv", "b.csv", losses, key="id")
    by_position = celosia.compare("x.csv", "y.csv", losses, by="position")
    for comparison in (by_key, by_position, celosia.compare(original, noisy, losses, key="id")):
        assert [loss.value for loss in comparison.losses] == [pytest.approx(value) for value in MEASURES.values()]
    with pytest.raises(ParameterError, match="not both"):
        celosia.compare("a.csv", "b.csv", losses, key="id", by="position")
    with pytest.raises(ParameterError, match="by must be 'position'"):
        celosia.compare("a.csv", "b.csv", losses, by="order")


def test_a_shuffled_file_is_not_paired_by_position(pair):
    original, _ = pair
    frame = original.with_columns(income=pl.Series(range(10)) * 1.5)
    protected = frame.with_columns(income=pl.col("income") + 0.1).sample(fraction=1, shuffle=True, seed=1)
    frame.write_csv("f.csv")
    protected.write_csv("g.csv")
    with pytest.raises(DataError, match="another order"):
        celosia.compare("f.csv", "g.csv", ["squared-error"], by="position")
    with pytest.raises(DataError, match="another order"):
        celosia.compare(frame, protected, ["squared-error"])
    assert run(["compare", "f.csv", "g.csv", "--by-position"]) == 2
    with pytest.raises(DataError, match="10 and 9 rows"):
        celosia.compare(frame, protected.head(9), ["squared-error"], by="position")


def test_swapped_columns_are_paired_by_position(pair):
    original, _ = pair
    swapped = original.with_columns(pl.col("V1").reverse(), pl.col("V2").shift(1, fill_value=9))
    assert celosia.compare(original, swapped, ["squared-error"]).losses[0].value > 0


def test_a_constant_column_does_not_hide_another_order(pair):
    original, _ = pair
    frame = original.with_columns(country=pl.lit("ES"), income=pl.Series(range(10)) * 1.5)
    shuffled = frame.with_columns(income=pl.col("income") + 0.1).sample(fraction=1, shuffle=True, seed=1)
    frame.write_csv("f.csv")
    shuffled.write_csv("g.csv")
    with pytest.raises(DataError, match="another order"):
        celosia.compare("f.csv", "g.csv", ["squared-error"], by="position")
    one = ["V1", "income"]
    for before, after in ((frame, shuffled), (frame.to_pandas(), shuffled.to_pandas())):
        with pytest.raises(DataError, match="state by='position'"):
            celosia.compare(before[one], after[one], ["squared-error"])


def test_frames_without_an_unchanged_column_are_paired_with_a_warning(pair):
    original, noisy = (frame.drop("id") for frame in pair)
    with pytest.warns(UserWarning, match="no unchanged column shows"):
        celosia.compare(original, noisy, ["squared-error"])
    celosia.compare(original, noisy, ["squared-error"], by="position")


@pytest.mark.parametrize("dtype", [pl.Float64, pl.String, pl.Int16])
def test_keys_of_other_types_are_compared_as_text(pair, dtype):
    original, noisy = pair
    losses = celosia.compare(original, noisy.with_columns(pl.col("id").cast(dtype)), ["squared-error"], key="id").losses
    assert losses[0].value == pytest.approx(MEASURES["squared-error"])
