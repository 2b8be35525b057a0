"""Numbers, shares and lengths of time in three languages, and formulas without TeX."""

from __future__ import annotations

import math

import pytest

from celosia.show.controls import visible
from celosia.show.formats import Formats, formats, number
from celosia.show.formulas import plain_docs, unicode_formula


@pytest.mark.parametrize(
    ("value", "english", "spanish"),
    [
        (0, "0", "0"),
        (-1234567, "-1,234,567", "-1.234.567"),
        (0.123456, "0.123", "0,123"),
        (2.0, "2", "2"),
        (math.inf, "∞", "∞"),
        (-math.inf, "−∞", "−∞"),
        (math.nan, "—", "—"),
        (None, "—", "—"),
        ("7", "—", "—"),
    ],
)
def test_a_number_in_two_languages(value, english, spanish):
    assert Formats("en").num(value) == english
    assert Formats("es").num(value) == spanish


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, "0 %"),
        (0.0009999, "< 0.1 %"),
        (0.001, "0.1 %"),
        (0.0015, "0.2 %"),
        (0.9994, "99.9 %"),
        (0.9995, "> 99.9 %"),
        (1.0, "100 %"),
        (1.5, "150 %"),
    ],
)
def test_nothing_but_nothing_is_0_percent_and_nothing_but_all_is_100(share, expected):
    assert number(share, percent=True) == expected
    assert number(share, percent=True, language="ca") == expected.replace(".", ",")
    assert Formats("en").share(share) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(999.4, "999"), (1234.6, "1,235"), (0.00012345, "0.000123"), (0.000012345, "1.23e-05"), (-0.5, "-0.5"), (1e15, "1,000,000,000,000,000")],
)  # fmt: skip
def test_three_digits_of_a_number(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_written_too(value):
    assert number(value) == Formats("en").num(value)
    assert number(value, percent=True) == Formats("en").num(value)


def test_one_and_several():
    forms = {"one": "{n} column of {of}", "other": "{n} columns of {of}"}
    assert formats("en").plural(forms, 1, of=3) == "1 column of 3"
    assert formats("es").plural(forms, 1200, of=3) == "1200 columns of 3".replace("1200", formats("es").num(1200))
    assert formats("en") is formats("en")
    assert Formats("en").duration(None) == ""
    assert Formats("es").duration(7200) == "2 horas"


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\frac{a}{b + c}", "a/(b + c)"),
        (r"\binom{n}{k}", "C(n, k)"),
        (r"\{x : x \ne y\}", "{x : x ≠ y}"),
        (r"x_{ij}^{2}", "xᵢⱼ²"),
        (r"x^{qw}", "x^(qw)"),
        (r"y'", "y'"),
    ],
)
def test_formulas_in_one_line(tex, expected):
    assert unicode_formula(tex) == expected


def test_docs_lose_their_marks_and_controls_their_power():
    assert plain_docs("A ``k``.\n\n\n\n:meth:`join` of :class:`~a.b.C`.") == "A k.\n\njoin of C."
    assert visible("a\tb\nc\u202ed\x7f") == "a\tb\nc\ufffdd␡"
    assert visible("a\nb", lines=False) == "a␊b"
