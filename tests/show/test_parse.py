"""A decimal comma is read where it can mean one thing only."""

from __future__ import annotations

import math

import pytest

from celosia.errors import ParameterError
from celosia.show.parse import parse_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0,2", 0.2),
        (" 0.2 ", 0.2),
        ("0,125", 0.125),
        ("12,5", 12.5),
        (",5", 0.5),
        ("1e-6", 1e-6),
        ("-3", -3.0),
        ("1234,567", 1234.567),
        ("1,2345", 1.2345),
        ("1000", 1000.0),
        ("5.", 5.0),
        ("1,5e3", 1500.0),
    ],
)
def test_numbers_as_people_write_them(text, value):
    assert parse_number(text, "epsilon") == value


@pytest.mark.parametrize("text", ["", ",", ".", "1,2,3", "1.000,5", "1,000.5", "1_0", "٣", "0x1", "1e", "--1", "one"])
def test_what_is_no_number_is_refused_with_its_name(text):
    with pytest.raises(ParameterError, match="epsilon must be a number above 0, got"):
        parse_number(text, "epsilon", "number above 0")


@pytest.mark.parametrize("text", ["1,000", "12,500", "-999,999"])
def test_a_comma_that_can_mean_two_things_is_not_guessed(text):
    plain = text.lstrip("-")
    message = f"epsilon: '{text}' can be read in two ways. Write {plain.replace(',', '.')} or {plain.replace(',', '')}."
    with pytest.raises(ParameterError) as refusal:
        parse_number(text, "epsilon")
    assert str(refusal.value) == message


def test_no_bound_is_a_number_too():
    assert parse_number("inf", "most") == math.inf
