from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, ParameterError, UnknownName
from celosia.methods.generalisation.mondrian import Mondrian
from celosia.table.targets import targets


def table():
    data = pl.DataFrame({"age": [30, 31, 32], "wish": [None, 5, 1], "half": [1.5, 2.0, 3.0]})
    return celosia.read(data, celosia.Schema.of(quasi=["age"]))


def test_column_array_and_none():
    assert targets("who", table(), None) is None
    assert targets("who", table(), "wish", k=2).tolist() == [2, 5, 2]
    assert targets("who", table(), np.array([0, 7, 3])).tolist() == [1, 7, 3]


def test_refusals():
    with pytest.raises(DataError, match="2 targets were given for 3 records"):
        targets("who", table(), (1, 2))
    with pytest.raises(DataError, match="whole numbers"):
        targets("who", table(), "half")
    with pytest.raises(DataError, match="whole numbers"):
        targets("who", table(), (1, 2, -3))
    with pytest.raises(UnknownName, match="Did you mean 'wish'"):
        targets("who", table(), "wishes")
    with pytest.raises(ParameterError, match="one whole number per record"):
        Mondrian(target=[["a"]])


def test_written_in_a_policy():
    assert Mondrian(target="wish").spec() == {"use": "mondrian", "target": "wish"}
    assert Mondrian(target=[1, 2]).spec()["target"] == "<one number per record>"
