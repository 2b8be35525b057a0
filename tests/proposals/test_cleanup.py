"""Codes for missing and spellings of one value: what is proposed, and what is left alone."""

from __future__ import annotations

import polars as pl
import pytest

from celosia.proposals import suggest


def found(values, name="x"):
    frame = pl.DataFrame({name: values, "age": [20 + i % 50 for i in range(len(values))]})
    return {u.key: u for s in suggest(frame) if s.name == name for u in s.untidy}


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*range(30, 70), -99, -99] * 3, (-99,)),
        ([1, 2, 1, 2, 2, 9, 9] * 20, (9,)),
        ([1, 2, 3, 4, 5, 8, 9] * 20, (8, 9)),
        ([*range(90), 999, 999] * 3, (999,)),
        ([*range(18, 98), *[99] * 12] * 2, (99,)),
        (["a", "b", "NS/NC", "desconocido", "b"] * 20, ("NS/NC", "desconocido")),
    ],
)
def test_codes_for_missing(values, codes):
    assert set(found(values)["missing"].codes) == set(codes)


@pytest.mark.parametrize(
    "values",
    [
        list(range(11)) * 10,  # 9 belongs to a scale from 0 to 10
        [1, 2, 3, 4, 5, 6, 7, 8, 9] * 10,
        [*range(101)] * 2,  # 99 among its neighbours
        [-9, -4, 0, 3, 8] * 20,  # negative numbers are usual here
        ["yes", "no"] * 40,
        ["NY", "NC", "ND", "SD", "TX"] * 10,  # states
    ],
)
def test_usual_values_are_no_codes(values):
    assert "missing" not in found(values)


@pytest.mark.parametrize(
    ("values", "spellings"),
    [
        (["Sí", "No", "si", "NO", "S", "N"] * 10 + ["Sí", "No"] * 9, {"si": "Sí", "S": "Sí", "NO": "No", "N": "No"}),
        (["Male", "Female", "M", "F"] * 10, {"M": "Male", "F": "Female"}),
        (["Varón", "Mujer", "Hombre", "Hombre"] * 10, {"Varón": "Hombre"}),
        (["Girona", "GIRONA", "Lleida", "Girona"] * 10, {"GIRONA": "Girona"}),
    ],
)
def test_spellings_of_one_value(values, spellings):
    assert found(values)["same"].spellings == spellings


@pytest.mark.parametrize(
    "values",
    [
        ["I", "II", "III", "IV"] * 10,
        ["A", "B", "AB", "0"] * 10,
        ["M", "Madrid", "Murcia", "Sevilla"] * 10,  # it could be either
        ["primaria", "secundaria", "p"] + ["primaria", "pendiente"] * 10,
    ],
)
def test_different_values_stay_apart(values):
    assert "same" not in found(values)


def test_blanks_are_taken_off():
    assert found(["a ", "a", " b", "b"] * 10)["strip"].cells == 20


def test_a_code_among_decimals_is_seen_and_amounts_are_not():
    weights = [61.5, 72.3, 80.1, 55.0, 99.0, 99.0, 9.0, 9.0] * 5
    frame = pl.DataFrame({"weight": [*weights, *[-99.0] * 4], "balance": [*weights, *[-99.5, -12.0, -99.0, 3.0]]})
    proposed = {s.name: [(u.key, u.codes, u.cells) for u in s.untidy] for s in suggest(frame)}
    assert proposed == {"weight": [("missing", (-99,), 4)], "balance": []}
