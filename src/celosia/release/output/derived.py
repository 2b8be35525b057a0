"""Released columns that show quasi-identifiers of the original more finely than the quasi-identifiers are released.

Such a column makes the classes of the release smaller than the certificate states, whatever its role: a copy declared
insensitive or sensitive, a weight computed from sex and age, a year beside a decade. Whether two records of a sample
with the same original values agree in the column is compared with whether records of the same released class do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.engines.engine import RECORD
from celosia.data.engines.row_codes import ROWS
from celosia.data.schema import NAMING, Role
from celosia.release.output.rarity import count_unchanged, has_tolerance
from celosia.release.output.sighting import Sighting
from celosia.table.columns import has_many_values
from celosia.table.derive import with_record_ids
from celosia.table.pairing import positions

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

SMALL_FILE = 50
"""In a smaller file most values are rare: neither rarity nor prediction stops a release."""
TOGETHER = 0.2
"""A column is reported if it singles out this share of records together with the quasi-identifiers."""
DEVIATING, FINER = 0.1, 5
"""A column follows from others if at most this share of its cells deviates from the majority of the records that share
their original values, and more than so many times as many from the majority of their released class."""
NARROWER, AGREEING = 5, 0.2
"""A column shows others more finely if records that share their original values agree so many times as often as those
of a released class do, and in this share of pairs at least."""
CLOSE = 0.02
"""Numbers keep the order of others if at most this share of the variance of their ranks is not explained."""
MOST_SETS, SAMPLED = 100, 20_000
"""Maximum number of sets of columns that are tried, and size of the sample of records."""
FEW_GROUPS = 100
"""Groups are counted in an array of at most so many places per record, else by sorting."""
SHARED = 0.5
"""A column predicts others if it has at most this number of values per record, and this share of records share them."""
NEIGHBOURS = 4
"""Records with adjacent values that count as equal in a column of almost unique values, such as dates of birth."""


@dataclass(frozen=True)
class DerivedColumns:
    """Check of the released columns against the quasi-identifiers of the original."""

    original: Table
    released: Table
    overwritten: frozenset[str]
    formal: frozenset[str]

    def sightings(self, name: str, filled: int) -> Iterator[Sighting]:
        """Find whether a column follows from original values, or keeps their order, more finely than released."""
        if name not in self._candidates:
            return
        finer = self._finer_than_released(name)
        if finer is not None:
            keys, certain = finer
            listed = ", ".join(map(repr, keys[:-1])) + f" and {keys[-1]!r} together" if len(keys) > 1 else ""
            quasi = all(key in self.original.schema.quasi for key in keys)
            from_them = listed or f"the {'quasi-identifier' if quasi else 'column'} {keys[0]!r}"
            finely = f"more finely than {'it is' if len(keys) == 1 else 'they are'} released"
            what = f"values that follow from {from_them}, {finely}"
            if not certain:
                what = f"values that partly follow from {from_them}, {finely}"
            advice = "declare it quasi" if quasi else "change it in the same way"
            yield Sighting(name, what, filled, filled, certain=certain, advice=f"{advice}, or leave it out")
            if certain:
                return
        if self.released.schema[name].roles == {Role.INSENSITIVE}:
            for key in self._close_numbers(name):
                what = f"numbers that keep the order of {key!r}, more finely than it is released"
                yield Sighting(name, what, filled, filled, certain=False, advice="declare it quasi, or leave it out")

    @cached_property
    def _changed(self) -> tuple[list[str], list[str]]:
        """Quasi-identifiers, and sensitive columns, of the original that a step changed or dropped."""
        schema, names = self.original.schema, self.released.names
        quasi = [key for key in schema.quasi if key in self.overwritten or key not in names]
        return quasi, [key for key in schema.sensitive if key in self.overwritten and key in names]

    @cached_property
    def _candidates(self) -> frozenset[str]:
        """Released columns that are compared: neither quasi-identifiers nor columns that name a person."""
        original, released = self.original, self.released
        if (
            released.provenance.family is not original.provenance.family
            or len(original) < SMALL_FILE
            or not any(self._changed)
        ):
            return frozenset()
        shown = [name for name in released.names if name in original.schema and name not in self.formal]
        roles = {name: released.schema[name].roles for name in shown}
        return frozenset(name for name in shown if Role.QUASI not in roles[name] and not roles[name] & NAMING)

    @cached_property
    def _sample(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Paired cells of a sample of records, one of each person, before and after the steps."""
        import narwhals as nw
        import polars as pl

        original, released = self.original, self.released
        schema, step = original.schema, max(1, len(released) // SAMPLED)
        before = list(dict.fromkeys([*schema.quasi, *self._changed[1], *sorted(self._candidates)]))
        before += [schema.person] if schema.person and schema.person not in before else []
        after = [name for name in before if name in released.names]
        if original.counts.frame is not None and released.counts.frame is not None:
            rows = positions(original, released)[::step]
            sides = (
                pl.DataFrame([original.column(name)[rows] for name in before]),
                pl.DataFrame([released.column(name).gather_every(step) for name in after]),
            )
        else:
            frames = [nw.from_native(with_record_ids(table).rows.frame) for table in (original, released)]
            parts = [
                frame.filter(nw.col(RECORD) % step == 0).select(
                    RECORD, *(nw.col(name).alias(f"{side} {name}") for name in names)
                )
                for side, frame, names in zip("ba", frames, (before, after), strict=True)
            ]
            joint = parts[0].join(parts[1], on=[RECORD], how="inner").drop(RECORD)
            counted = released.engine.histogram(joint.to_native(), joint.collect_schema().names())
            both = released.engine.collect(counted)  # combinations of cells, not records
            both = both[np.repeat(np.arange(len(both)), both[ROWS].to_numpy())]
            sides = (
                pl.DataFrame([both[f"b {name}"].alias(name) for name in before]),
                pl.DataFrame([both[f"a {name}"].alias(name) for name in after]),
            )
        if schema.person is None:
            return sides
        first = sides[0][schema.person].is_first_distinct()
        return sides[0].filter(first), sides[1].filter(first)

    @cached_property
    def _key_sets(self) -> list[tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]]:
        """Sets of original columns with the group of every record, and the group in the release to compare with.

        A set has at least one changed column. The groups in the release are those of its changed columns, as released,
        and of all unchanged quasi-identifiers.
        """
        before, after = self._sample
        quasi, sensitive = self._changed
        keys = list(self.original.schema.quasi)
        unchanged = [_codes(after[key]) for key in keys if key not in quasi]
        exact = {key: _codes(before[key]) for key in (*keys, *sensitive)}
        released = {key: _codes(after[key]) for key in (*quasi, *sensitive) if key in after.columns}
        sets = chain(
            ((key,) for key in (*quasi, *sensitive)),
            [tuple(keys)] if len(keys) > 3 else [],
            combinations(keys, 2),
            combinations(keys, 3),
        )
        column_sets = []
        for names in islice((each for each in sets if {*quasi, *sensitive}.intersection(each)), MOST_SETS):
            coarse = _joint([*unchanged, *(released[key] for key in names if key in released)], len(before))
            column_sets.append((names, _joint([exact[key] for key in names], len(before)), coarse))
            if len(names) == 1 and before[names[0]].dtype.is_temporal():
                column_sets += [
                    (names, _joint([part], len(before)), coarse) for part in _parts_of_dates(before[names[0]])
                ]
        return [each for each in column_sets if (_sizes(each[1]) > 1).mean() >= SHARED]

    def _finer_than_released(self, name: str) -> tuple[tuple[str, ...], bool] | None:
        """Return the original columns that a column follows from more finely than released, and whether it does fully.

        Partly is enough for a finding that stops no release.
        """
        import polars as pl

        before, after = self._sample
        tolerant = name in self.overwritten and has_tolerance(self.original, self.released, name)
        kept = tolerant and count_unchanged(self.original, self.released, name) >= SHARED * len(self.released)
        cells = before[name] if kept else after[name]
        filled = ~cells.is_null()
        if cells.dtype in (pl.String, pl.Categorical, pl.Enum):
            filled &= cells.cast(pl.String) != "*"
        rows = filled.arg_true().to_numpy()
        values = _ranks(cells)[rows]
        if len(rows) < SMALL_FILE or not 1 < len(np.unique(values)) <= SHARED * len(rows):
            return None
        classes = _Agreement.of(self._classes[rows], values)
        if not (classes.known & ~classes.predicted).any() and classes.known.all():
            return None
        partly = None
        for names, fine, coarse in self._key_sets:
            if name in names:
                continue
            exact = _Agreement.of(fine[rows], values)
            if exact.known.sum() < SHARED * len(rows):
                continue
            released = classes.either(_Agreement.of(coarse[rows], values))
            deviating = int((exact.known & ~exact.predicted).sum())
            deviating_after = int((exact.known & released.known & ~released.predicted).sum())
            if deviating <= DEVIATING * exact.known.sum() and deviating_after > FINER * (deviating + 1):
                return names, True
            both = exact.known & released.known
            if partly is None and both.sum() >= SHARED * len(rows):
                agreeing = float(exact.share[both].mean())
                if agreeing >= max(AGREEING, NARROWER * float(released.share[both].mean())):
                    partly = names, False
        return partly

    @cached_property
    def _classes(self) -> NDArray[np.int64]:
        """Released class of every record of the sample."""
        after = self._sample[1]
        quasi = [key for key in self.released.schema.quasi if key in after.columns]
        return _joint([_codes(after[key]) for key in quasi], len(after))

    def _close_numbers(self, name: str) -> Iterator[str]:
        """Yield changed numeric columns whose order this column preserves, and that the release shows less finely."""
        from celosia.kernels.statistics.rank_order import explained_order

        before, after = self._sample
        if name in self.overwritten:
            return
        for key in (*self._changed[0], *self._changed[1]):
            if key == name or key not in after.columns:
                continue
            if not (before[key].dtype.is_numeric() and before[name].dtype.is_numeric()):
                continue
            off = 1 - explained_order(before[key], after[name])
            if off <= CLOSE and 1 - explained_order(after[key], after[name]) > FINER * off:
                yield key

    def singling_out(self, name: str, filled: int) -> Iterator[Sighting]:
        """Find a column declared insensitive that singles records out together with the quasi-identifiers."""
        import narwhals as nw

        schema, engine = self.released.schema, self.released.engine
        quasi = [key for key in schema.quasi if key != name]
        if not quasi or schema[name].roles != {Role.INSENSITIVE} or len(self.original) < SMALL_FILE:
            return

        def count_unique(keys: list[str]) -> int:
            if (
                self.released.counts.frame is None
                and schema.person is None
                and not has_many_values(self.released, name)
            ):
                return int((self.released.counts.histogram(keys, rows_only=True).rows == 1).sum())
            counted = nw.from_native(engine.histogram(self.released.rows.frame, keys))
            return engine.rows(counted.filter(nw.col(ROWS) == 1).to_native())

        before = self.released.compute_once(("guard", *quasi), lambda: count_unique(quasi))
        more = count_unique([*quasi, name]) - before
        if more >= TOGETHER * filled:
            what = "values that single a record out together with the quasi-identifiers"
            advice = "declare it quasi; generalise, round or group it, or leave it out"
            yield Sighting(name, what, more, filled, certain=False, advice=advice)


@dataclass(frozen=True)
class _Agreement:
    """For every record: whether others share its group, most of them its value, and which share of them does."""

    known: NDArray[np.bool_]
    predicted: NDArray[np.bool_]
    share: NDArray[np.float64]

    @classmethod
    def of(cls, groups: NDArray[np.int64], values: NDArray[np.int64]) -> _Agreement:
        """Compare the values of records with those of the other records of their groups."""
        sizes = _sizes(groups)
        alike = _sizes(groups * (int(values.max(initial=0)) + 1) + values)
        return cls(sizes > 1, 2 * alike > sizes + 1, (alike - 1) / np.maximum(sizes - 1, 1))

    def either(self, other: _Agreement) -> _Agreement:
        """Return the agreement of records with the better of two groups."""
        share = np.maximum(np.where(self.known, self.share, 0), np.where(other.known, other.share, 0))
        predicted = (self.known & self.predicted) | (other.known & other.predicted)
        return _Agreement(self.known | other.known, predicted, share)


def _sizes(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of records of every record's group."""
    if groups.max(initial=0) <= FEW_GROUPS * len(groups):
        return np.bincount(groups)[groups]
    _, places, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return counts[places]


def _joint(codes: Sequence[NDArray[np.int64]], rows: int) -> NDArray[np.int64]:
    """Group of every record by several columns."""
    joint = np.zeros(rows, dtype=np.int64)
    for code in codes:
        joint = np.unique(joint * (int(code.max(initial=0)) + 1) + code, return_inverse=True)[1]
    return joint


def _codes(cells: pl.Series) -> NDArray[np.int64]:
    """Code of every cell by value; adjacent values share one in a column of almost unique values."""
    codes = _ranks(cells)
    if len(np.unique(codes)) <= SHARED * len(codes):
        return codes
    return np.searchsorted(np.sort(codes), codes) // NEIGHBOURS


def _ranks(cells: pl.Series) -> NDArray[np.int64]:
    import polars as pl

    ordered = cells if cells.dtype.is_numeric() or cells.dtype.is_temporal() else cells.cast(pl.String)
    return ordered.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def _parts_of_dates(cells: pl.Series) -> list[NDArray[np.int64]]:
    """Codes of the parts of dates that no order shows: month, day and day of the week."""
    import polars as pl

    if cells.dtype not in (pl.Date, pl.Datetime):
        return []
    return [_ranks(part.cast(pl.Int64)) for part in (cells.dt.month(), cells.dt.day(), cells.dt.weekday())]
