"""The part does what it says, through the verbs that everybody uses."""

import polars as pl

import celosia


def test_nothing_is_left_of_the_values():
    table = celosia.read(pl.DataFrame({"town": ["Vic", "Olot"], "age": [30, 40]}))
    safe = celosia.protect(table, "veil(columns=[town], word=x)")
    assert safe.polars()["town"].to_list() == ["x", "x"]
    assert safe.polars()["age"].to_list() == [30, 40]
    assert safe.history[-1]["cells"] == 2
