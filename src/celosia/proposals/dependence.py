"""Columns that depend on each other: functions of others, blocks of items of one scale, persons with several rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from celosia.proposals.content import Content, with_short_names

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    Codes = npt.NDArray[np.int32]

#: Most records on which dependences are tested.
ROWS = 5_000
#: Records in impure groups that chance would give at least, and the share of them that a near function may have.
EXPECTED, EXCEPTIONS = 20, 0.02
#: Logarithm of the chance that all groups are pure, below which a column is a function also where few records repeat.
IMPROBABLE = -12.0
#: Share of the variance that others explain, from which an amount is computed from them.
COMPUTED = 0.9995
#: Most levels of a group size for which the chance of purity is computed exactly.
LARGE = 30


def sample_of(frame: pl.DataFrame | pl.LazyFrame, names: Sequence[str], person: str | None = None) -> pl.DataFrame:
    """Return every n-th record, or one record per person, with columns ``c0``, ``c1`` and so on."""
    lazy = with_short_names(frame, list(names))
    if person is not None:
        lazy = lazy.unique(subset=[f"c{list(names).index(person)}"], keep="first", maintain_order=True)
    whole = lazy.collect(engine="streaming")
    return whole.gather_every(-(-whole.height // ROWS)) if whole.height > ROWS else whole


def encode(sample: pl.DataFrame) -> Codes:
    """Return the codes of the cells, one column each; a missing cell is 0."""
    import polars as pl

    codes = np.zeros((sample.height, sample.width), dtype=np.int32)
    for i, column in enumerate(sample.get_columns()):
        ranked = (column.cast(pl.String) if column.dtype.is_nested() or column.dtype == pl.Boolean else column).rank(
            "dense"
        )
        codes[:, i] = ranked.fill_null(0).to_numpy()
    return codes


def functions_of(codes: Codes, source: int) -> npt.NDArray[np.bool_]:
    """Return which columns are functions of the source, or nearly so, as no independent column would be.

    Records with equal values of the source form groups. A column is a function of it if hardly any group has two
    values, where an independent column of the same frequencies would have at least ``EXPECTED`` records in such groups;
    or if no group has, where an independent column would be so with a probability below exp(``IMPROBABLE``). The second
    finds the income of a census tract with few pairs of records from the same tract.

    >>> age = np.repeat(np.arange(20), 10)
    >>> table = np.column_stack([age, age // 5, np.tile(np.arange(10), 20)]).astype(np.int32)
    >>> functions_of(table, 0).tolist()
    [True, True, False]
    """
    order = np.argsort(codes[:, source], kind="stable")
    key = codes[order, source]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    sizes = np.diff(np.r_[starts, len(key)])
    repeated = sizes > 1
    result = np.zeros(codes.shape[1], dtype=bool)
    if len(starts) < 2 or not repeated.any():
        return result
    ordered = codes[order]
    mixed = np.maximum.reduceat(ordered, starts, axis=0) != np.minimum.reduceat(ordered, starts, axis=0)
    impure = (mixed * sizes[:, None]).sum(axis=0)
    counts = np.bincount(np.minimum(sizes[repeated], LARGE))
    for column in range(codes.shape[1]):
        if impure[column] > EXCEPTIONS * sizes[repeated].sum():
            continue
        shares = np.bincount(codes[:, column]) / len(codes)
        pure = {size: float((shares**size).sum()) for size, n in enumerate(counts) if n and size > 1}
        expected = sum(counts[size] * size * (1 - chance) for size, chance in pure.items())
        log_chance = sum(counts[size] * np.log(max(chance, 1e-300)) for size, chance in pure.items())
        result[column] = (expected >= EXPECTED and impure[column] <= EXCEPTIONS * expected) or (
            impure[column] == 0 and log_chance <= IMPROBABLE
        )
    result[source] = True
    return result


def computed_from(sample: pl.DataFrame, sources: Sequence[int], targets: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Return the targets that are sums or products of two or more numeric sources, with these sources.

    Body mass index is a product of powers of height and weight, experience a difference of age and schooling.
    """
    computed: dict[int, tuple[int, ...]] = {}
    if len(sources) < 2:
        return computed
    x = np.column_stack([_numbers(sample, source) for source in sources])
    for target in targets:
        y = _numbers(sample, target)
        filled = np.isfinite(x).all(axis=1) & np.isfinite(y)
        if filled.sum() < 50 or len(np.unique(y[filled])) < 10:
            continue
        a, b = x[filled], y[filled]
        forms = [(a, b)]
        if (a > 0).all() and (b > 0).all():
            forms.append((np.log(a), np.log(b)))
        for left, right in forms:
            spread = left.std(axis=0)
            usable = np.flatnonzero(spread > 0)
            if len(usable) < 2:
                continue
            scaled = (left[:, usable] - left[:, usable].mean(axis=0)) / spread[usable]
            centred = right - right.mean()
            weights, *_ = np.linalg.lstsq(scaled, centred, rcond=None)
            if 1 - ((centred - scaled @ weights) ** 2).sum() / (centred**2).sum() >= COMPUTED:
                large = usable[np.abs(weights) > 0.05 * np.abs(weights).max()]
                if len(large) > 1:
                    computed[target] = tuple(sources[i] for i in large)
                break
    return computed


def _numbers(sample: pl.DataFrame, column: int) -> npt.NDArray[np.float64]:
    import polars as pl

    return sample.to_series(column).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def blocks(contents: Mapping[str, Content]) -> list[list[str]]:
    """Return the groups of at least three columns that are alike in name and in scale: ``A1`` to ``A5``.

    Names are alike that differ in digits, or in the word after a common beginning; scales are alike if the columns have
    the same few values, or numbers of the same range.
    """
    by_name: dict[tuple[str, object], list[str]] = {}
    for name, content in contents.items():
        stems = {re.sub(r"\d+[a-zA-Z]?", "#", name)} if re.search(r"\d", name) else set()
        head = re.match(r"(.{2,}?)[_.\s-]", name)
        if head:
            stems.add(head[1].lower() + "_*")
        for stem in stems:
            by_name.setdefault((stem, _scale(content)), []).append(name)
    groups = sorted((names for names in by_name.values() if len(names) >= 3), key=len, reverse=True)
    taken: set[str] = set()
    result = []
    for names in groups:
        rest = [name for name in names if name not in taken]
        if len(rest) >= 3:
            taken.update(rest)
            result.append(rest)
    return result


def _scale(content: Content) -> object:
    """Return what columns of one scale have in common: few values, or the kind of the numbers."""
    if content.distinct <= 12 and content.low is not None:
        return "scale", round(content.high or 0) if content.distinct > 2 else "flag"
    if content.low is None:
        return "words", frozenset(content.values) if content.distinct <= 12 else content.kind
    return "amount", content.whole


def is_exclusive(codes: Codes, columns: Sequence[int]) -> bool:
    """Return whether at most one of some columns of two values has its second one in every record: dummies."""
    flags = codes[:, columns] == codes[:, columns].max(axis=0)
    return bool((flags.sum(axis=1) <= 1).mean() > 0.99)
