"""The digest of a table: equal content has one, whatever its types and however it is cut; other content another."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from celosia.data.engines.fingerprint import BLOCK, EXACT, FEW, block_digest, digests_in_order, fingerprint, whole


def digest(*cells):
    return block_digest({"a": pl.Series(list(cells), strict=False)})


SAME = {
    "whole numbers": [[1, 2, None], [1.0, 2.0, None]],
    "bytes and words": [pl.Series([1, 2], dtype=pl.UInt8), pl.Series([1, 2], dtype=pl.Int64)],
    "floats of 32 bits": [pl.Series([0.1, 1.5], dtype=pl.Float32), pl.Series([0.1, 1.5])],
    "both zeros": [[0.0], [-0.0]],
    "numbers that no float holds": [[2**60, 5], pl.Series([2**60, 5], dtype=pl.UInt64)],
    "a day and its text": [[dt.date(2020, 2, 29)], ["2020-02-29"]],
    "nothing": [pl.Series([None, None], dtype=pl.String), pl.Series([None, None], dtype=pl.Date)],
}


@pytest.mark.parametrize("name", SAME)
def test_types_do_not_matter(name):
    one, other = ({"a": cells if isinstance(cells, pl.Series) else pl.Series(cells)} for cells in SAME[name])
    assert block_digest(one) == block_digest(other)


DIFFERENT = {
    "order": [[1, 2], [2, 1]],
    "missing and nothing written": [["", None], [None, ""]],
    "missing and no number": [[1.0, None], [1.0, float("nan")]],
    "missing and zero": [[0.0, None], [None, 0.0]],
    "neighbours beyond the floats": [[2**53 + 1, 1], [2**53, 1]],
    "a number and its text": [["1", "2"], [1, 2]],
    "where a text ends": [["ab", "c"], ["a", "bc"]],
    "one more": [["a"], ["a", "a"]],
    "the last digit": [[0.1], [0.1 + 2**-56]],
    "a quote": [['"', "a"], ['"a', ""]],
}


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("name", DIFFERENT)
def test_other_cells_have_another_digest(name, many):
    """Also among so many different cells that they are digested one by one."""
    rest = list(range(1000, 1000 + 2 * FEW)) if many else []
    digests = []
    for cells in DIFFERENT[name]:
        texts = any(isinstance(cell, str) for cell in cells)
        digests.append(digest(*cells, *(map(str, rest) if texts else rest)))
    assert digests[0] != digests[1]


def test_names_matter_and_so_does_their_order():
    cells = pl.Series([1, 2])
    digests = {block_digest(dict.fromkeys(names, cells)) for names in (("a",), ("b",), ("a", "b"), ("b", "a"))}
    assert len(digests) == 4


@pytest.mark.parametrize("count", [0, 1, FEW - 1, FEW, FEW + 1, 3 * FEW])
@pytest.mark.parametrize("dtype", [pl.String, pl.Int64, pl.Float64])
def test_codes_give_the_digest_of_the_cells(count, dtype):
    """With few and with many different cells, values that no row has, and a missing one."""
    rng = np.random.default_rng(count)
    values = pl.Series([*range(7, 7 + count), None, 5000, 5001]).cast(dtype)
    codes = rng.permutation(np.concatenate([np.arange(count + 1), rng.integers(0, count + 1, 50)]))
    plain = {"a": values.gather(codes)}
    assert block_digest({"a": (codes, values)}) == block_digest(plain)
    swapped = codes.copy()
    if count > 1:
        swapped[:2] = swapped[:2][::-1]
        same = codes[0] == codes[1]
        assert (block_digest({"a": (swapped, values)}) == block_digest(plain)) == same


def test_a_large_number_elsewhere_does_not_change_how_a_block_is_digested():
    """The domain of a column holds what no float can; a block without it is digested as numbers all the same."""
    values = pl.Series([1, 2, int(EXACT) * 4 + 1])
    assert block_digest({"a": (np.array([0, 1, 0]), values)}) == block_digest({"a": pl.Series([1, 2, 1])})


@pytest.mark.parametrize("rows", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_a_table_is_the_digest_of_its_blocks(rows):
    frame = pl.DataFrame({"a": np.arange(rows) % 1000, "b": np.arange(rows) / 7})
    blocks = [block_digest(frame.slice(first, BLOCK)) for first in range(0, rows, BLOCK)]
    assert fingerprint(frame.lazy()) == whole(blocks)
    assert (len(blocks) == 1) == (rows <= BLOCK)
    assert fingerprint(frame.rechunk().lazy()) == fingerprint(pl.concat([frame[:10], frame[10:]], rechunk=False).lazy())


@pytest.mark.parametrize("cut", [1000, BLOCK, 3 * BLOCK])
def test_blocks_that_come_in_order_have_their_digest(cut):
    rows = 2 * BLOCK + 3
    frame = pl.DataFrame({"n": np.arange(rows), "a": np.arange(rows) % 1000})
    blocks = [block_digest(frame.select("a").slice(first, BLOCK)) for first in range(0, rows, BLOCK)]
    assert list(digests_in_order(frame.iter_slices(cut), "n", rows)) == list(enumerate(blocks))
    # the first rows, and the last one, are elsewhere
    some = frame.slice(5, rows - 6).iter_slices(cut)
    assert list(digests_in_order(some, "n", rows)) == [(0, None), (1, blocks[1]), (2, None)]
    moved = frame.sample(fraction=1, shuffle=True, seed=1).iter_slices(cut)
    assert list(digests_in_order(moved, "n", rows))[-1] == (-1, None)
    assert list(digests_in_order([], "n", rows)) == []


def test_a_table_without_rows_has_a_digest_of_its_names():
    empty = pl.LazyFrame({"a": []}, schema={"a": pl.String})
    assert fingerprint(empty) != fingerprint(empty.rename({"a": "b"}))
