"""A text that a step rewrites almost unchanged is still the text of the original."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import CelosiaError, GuardError, OutputError
from celosia.release.output.columns import select_output

N = 400
RNG = np.random.default_rng(11)
SOUNDS = ["ba", "ço", "dé", "fi", "gu", "ka", "lo", "mé", "nu", "pi", "ra", "so"]
NICKNAMES = ["".join(RNG.choice(SOUNDS, 4)).capitalize() + f" {i % 7}" for i in range(N)]
WAYS = {
    "space at the end": lambda text: text + " ",
    "capitals": str.upper,
    "another separator": lambda text: text.replace(" ", "-"),
    "accents": lambda text: text.replace("é", "e").replace("ç", "c") + ".",
    "one more character": lambda text: text + "x",
    "one character at the beginning": lambda text: "x" + text,
    "one character replaced": lambda text: text[:5] + "w" + text[6:],
}


def select(role: str, step: object, engine: str = "polars", cells: list[str] | None = None):
    frame = pl.DataFrame({"age": [20, 30, 40, 50] * (N // 4), "x": NICKNAMES if cells is None else cells})
    roles = {"quasi": ["age"], role: ["x"]}
    table = celosia.read(frame, celosia.Schema.of(**roles, kinds={"x": "nominal"}), engine=engine)
    protected = celosia.protect(table, step, seed=1)
    return select_output(table, protected, [each["method"] for each in protected.private_history])


def recode(change):
    return {"use": "recode", "column": "x", "mapping": {text: change(text) for text in set(NICKNAMES)}}


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("way", WAYS)
def test_rewritten_identifiers_are_refused(way, engine):
    with pytest.raises(OutputError, match="identifier column 'x'"):
        select("identifiers", recode(WAYS[way]), engine)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("way", WAYS)
def test_rewritten_rare_texts_stop_the_release(way, engine):
    with pytest.raises(GuardError, match="values that fewer than 3 persons hold"):
        select("insensitive", recode(WAYS[way]), engine)


@pytest.mark.parametrize("role", ["identifiers", "insensitive"])
def test_masks_of_one_character_stop_the_release(role):
    with pytest.raises(CelosiaError, match="column 'x'"):
        select(role, "mask(columns=x, keep=9)")


def test_masks_that_hide_most_characters_are_released():
    assert select("identifiers", "mask(columns=x, keep=2)").sightings == ()


def test_pseudonyms_like_the_original_codes_are_released():
    codes = [f"P{i:05d}" for i in range(N)]
    order = RNG.permutation(N)
    mapping = {code: f"P{900 + order[i]:05d}" for i, code in enumerate(codes)}
    output = select("identifiers", {"use": "recode", "column": "x", "mapping": mapping}, cells=codes)
    assert output.table.names == ("age", "x")


def test_rewritten_categories_are_released():
    cells = (["flu ", "cold", "none", "asthma"] * N)[:N]
    mapping = {text: text.strip().upper() for text in set(cells)}
    output = select("insensitive", {"use": "recode", "column": "x", "mapping": mapping}, cells=cells)
    assert output.sightings == ()
