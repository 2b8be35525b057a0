"""Mask and pseudonymise, on both engines."""

from __future__ import annotations

import base64
import hashlib
import hmac

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError, ParameterError
from celosia.methods import Mask, Pseudonymise
from celosia.parts import private_fields, public_spec

KEY = "correct horse battery staple"


def people(engine):
    frame = pl.DataFrame({"id": ["a1", "b2", None, "a1"], "n": [12345, 7, None, 12345], "x": [1.0, 2.5, None, 1.0]})
    return celosia.read(frame, celosia.Schema.of(identifiers=["id"]), engine=engine)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["**", "**", None, "**"]),
        ({"keep": 1}, ["a*", "b*", None, "a*"]),
        ({"keep": 1, "side": "right"}, ["*1", "*2", None, "*1"]),
        ({"keep": 2}, ["**", "**", None, "**"]),
        ({"width": 5}, ["*****", "*****", None, "*****"]),
        ({"width": 3, "keep": 1, "side": "right"}, ["***1", "***2", None, "***1"]),
        ({"sign": "•"}, ["••", "••", None, "••"]),
    ],
)
def test_mask(engine, options, expected):
    assert celosia.protect(people(engine), Mask(columns=["id"], **options)).polars()["id"].to_list() == expected


def test_mask_numbers(engine):
    masked = celosia.protect(people(engine), Mask(columns=["n", "x"], keep=2)).polars()
    assert masked["n"].to_list() == ["12***", "*", None, "12***"]
    assert masked["x"].to_list() == ["*", "2.*", None, "*"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=8), min_size=1, max_size=6), st.integers(0, 4), st.sampled_from(["left", "right"]))
def test_mask_the_slow_way(values, keep, side):
    def slow(value):
        if len(value) <= keep:
            return "*" * len(value)
        stars = "*" * (len(value) - keep)
        return value[:keep] + stars if side == "left" else stars + value[len(value) - keep :]

    for engine in ("polars", "duckdb"):
        if engine == "duckdb" and any("\x00" in value for value in values):
            continue
        table = celosia.read(pl.DataFrame({"v": values}), engine=engine)
        made = celosia.protect(table, Mask(columns=["v"], keep=keep, side=side)).polars()["v"].to_list()
        assert made == [slow(value) for value in values]


def by_hand(text, domain="", length=16):
    digest = hmac.new(KEY.encode(), f"{domain}\x1f{text}".encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode().lower()[:length]


def test_pseudonyms_by_hand(engine):
    made = celosia.protect(people(engine), Pseudonymise(columns=["id"], key=KEY, prefix="P-", domain="person"))
    a, b = by_hand("a1", "person"), by_hand("b2", "person")
    assert made.polars()["id"].to_list() == [f"P-{a}", f"P-{b}", None, f"P-{a}"]


def test_numbers_and_their_text_get_one_pseudonym():
    table = celosia.read(pl.DataFrame({"id": [7, 8], "parent": [7.0, 7.0], "ref": ["7", "9"]}))
    made = celosia.protect(table, Pseudonymise(columns=["id", "parent", "ref"], key=KEY)).polars()
    assert made["id"][0] == made["parent"][0] == made["ref"][0] == by_hand("7")


def test_the_way_back_is_private_only(engine):
    made = celosia.protect(people(engine), Pseudonymise(columns=["id"], key=KEY), seed=1)
    public, private = made.history[-1], made.private_history[-1]
    assert "a1" not in str(public)
    assert private["pseudonyms"][made.polars()["id"][0]] == "a1"
    gone = celosia.protect(people(engine), Pseudonymise(columns=["id"], key=KEY, reverse=False), seed=1)
    assert "a1" not in str(gone.private_history[-1])
    assert "key" in private_fields(Pseudonymise)
    assert KEY not in str(public_spec(Pseudonymise(columns=["id"], key=KEY)))


def test_without_a_key_the_seed_decides(engine):
    def ids(seed):
        return celosia.protect(people(engine), Pseudonymise(columns=["id"]), seed=seed).polars()["id"].to_list()

    assert ids(1) == ids(1)
    assert ids(1)[0] != ids(2)[0]


def test_key_file(tmp_path):
    (tmp_path / "key").write_text(KEY + "\n")
    made = celosia.protect(people("polars"), Pseudonymise(columns=["id"], key_file=tmp_path / "key"))
    assert made.polars()["id"][0] == by_hand("a1")
    (tmp_path / "short").write_text("x")
    with pytest.raises(ParameterError, match="at least 16 bytes, got 1"):
        celosia.protect(people("polars"), Pseudonymise(columns=["id"], key_file=tmp_path / "short"))
    with pytest.raises(ParameterError, match="cannot read the key file"):
        celosia.protect(people("polars"), Pseudonymise(columns=["id"], key_file=tmp_path / "none"))


def test_refused_keys():
    with pytest.raises(ParameterError, match="at least 16 bytes, got 5"):
        Pseudonymise(columns=["id"], key="short")
    with pytest.raises(ParameterError, match="not both"):
        Pseudonymise(columns=["id"], key=KEY, key_file="x")


def test_collisions_are_refused(monkeypatch):
    monkeypatch.setattr(Pseudonymise, "_pseudonym", lambda self, key, text: "same")
    with pytest.raises(DataError, match="greater length than 16"):
        celosia.protect(people("polars"), Pseudonymise(columns=["id"], key=KEY))
