"""Released columns that show quasi-identifiers of the original more finely than the quasi-identifiers are released.

Such a column makes the classes of the release smaller than the certificate states, whatever its role: a copy declared
insensitive or sensitive, a weight computed from sex and age, a year beside a decade, a town beside a province. Whether
two records of a sample with the same original values agree in the column is compared with whether records of the same
released class do; and whether records with the same value of the column agree in an original value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.data.engines.lazy_frames import RECORD, ROWS, group_counts
from celosia.data.io.text.columns import is_mark
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
DISCLOSED = 0.5
"""A column with errors discloses others if other records with its value show the original of this share of records."""
WIDTH = 0.02
"""Numbers with small noise agree if this share of all records at most is between them and the median of the others."""
SPREAD = 0.03
"""Numbers whose ranks have a larger variance inside of groups are not near for nine tenths of the records."""
GAIN = 0.3
"""Sets of three columns are extended if they explain this share of what the released classes leave open."""
FEWEST_NUMBERS = 20
"""Numbers with fewer different values are compared as they are only."""
EXACT = 0.001
"""Numbers follow from others by a formula if at most this share of their variance is not explained."""
RECORDS = 10
"""A formula of columns is tried from this number of records for each of them on."""
MOST_SETS, SAMPLED = 100, 20_000
"""Maximum number of sets of columns that are tried, and size of the sample of records."""
BEST = 5
"""Columns that are also tried in pairs: those from which most of a quasi-identifier follows."""
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
    last: bool = False
    """Whether the last cells of persons with several records are compared, not the first ones."""

    def sightings(self, name: str, filled: int) -> list[Sighting]:
        """Find whether a column follows from original values, or keeps their order, more finely than released."""
        if name not in self._candidates:
            return []
        compared = (self, self._last) if self.original.schema.person is not None else (self,)
        samples = [list(each.sightings_in_sample(name, filled)) for each in compared]
        return max(samples, key=lambda each: (any(sighting.certain for sighting in each), len(each)))

    @cached_property
    def _last(self) -> DerivedColumns:
        return replace(self, last=True)

    def sightings_in_sample(self, name: str, filled: int) -> Iterator[Sighting]:
        """Find this in one sample of records."""
        finer = self._finer_than_released(name)
        if finer is not None:
            keys, certain = finer
            quasi = all(key in self.original.schema.quasi for key in keys)
            finely = f"more finely than {'it is' if len(keys) == 1 else 'they are'} released"
            verb = "follow" if certain else "partly follow"
            advice = f"{'declare it quasi' if quasi else 'change it in the same way'}, or leave it out"
            listed = [f"values that {verb} from {names}, {finely}" for names in self._namings(keys)]
            yield Sighting(name, listed[0], filled, filled, certain=certain, advice=advice, published=listed[1])
            if certain:
                return
        if name in self._disclosed_keys:
            key, others = self._disclosed_keys[name]
            joined = f", together with {' and '.join(map(repr, others))}," if others else ""
            listed = [
                f"values that{joined} disclose {each}, more finely than it is released"
                for each in self._namings((key,))
            ]
            advice = "declare it quasi, or leave it out"
            yield Sighting(name, listed[0], filled, filled, certain=True, advice=advice, published=listed[1])
            return
        if self.released.schema[name].roles == {Role.INSENSITIVE}:
            for key in self._close_numbers(name):
                what = f"numbers that keep the order of {key!r}, more finely than it is released"
                yield Sighting(name, what, filled, filled, certain=False, advice="declare it quasi, or leave it out")

    def _namings(self, keys: Sequence[str]) -> tuple[str, str]:
        """Name original columns for the data owner, and for public files, which name released columns only."""
        quasi = all(key in self.original.schema.quasi for key in keys)
        single = f"the {'quasi-identifier' if quasi else 'column'} {keys[0]!r}"
        named = ", ".join(map(repr, keys[:-1])) + f" and {keys[-1]!r} together" if len(keys) > 1 else single
        hidden = [key for key in keys if key not in self.released.names]
        if not hidden:
            return named, named
        return named, "a column that is not released" if len(keys) == 1 else "several columns together"

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
        """Paired cells of a sample of records before and after the steps: of a person, the first or last filled ones.

        A column may be filled in some of the records of a person only.
        """
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
            counted = group_counts(joint.to_native(), joint.collect_schema().names())
            both = released.engine.collect(counted)  # combinations of cells, not records
            both = both[np.repeat(np.arange(len(both)), both[ROWS].to_numpy())]
            sides = (
                pl.DataFrame([both[f"b {name}"].alias(name) for name in before]),
                pl.DataFrame([both[f"a {name}"].alias(name) for name in after]),
            )
        if schema.person is None:
            return sides
        cell = pl.all().drop_nulls().last() if self.last else pl.all().drop_nulls().first()
        before_of, after_of = (
            side.group_by(sides[0][schema.person].alias("\0person"), maintain_order=True).agg(cell).drop("\0person")
            for side in sides
        )
        return before_of, after_of

    @cached_property
    def _codes(self) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.int64]], list[NDArray[np.int64]]]:
        """Codes of the original columns, of the changed ones as released, and of the unchanged quasi-identifiers."""
        before, after = self._sample
        quasi, sensitive = self._changed
        keys = self.original.schema.quasi
        exact = {key: _codes(before[key]) for key in (*keys, *sensitive)}
        released = {key: _codes(after[key]) for key in (*quasi, *sensitive) if key in after.columns}
        return exact, released, [_codes(after[key]) for key in keys if key not in quasi]

    def _key_set(self, names: tuple[str, ...]) -> _KeySet:
        exact, released, unchanged = self._codes
        rows = len(self._sample[0])
        coarse = _joint([*unchanged, *(released[key] for key in names if key in released)], rows)
        return _KeySet(names, _joint([exact[key] for key in names], rows), coarse)

    @cached_property
    def _key_sets(self) -> list[_KeySet]:
        """Sets of original columns of which at least one was changed: one to three of them, and all together."""
        quasi, sensitive = self._changed
        keys = list(self.original.schema.quasi)
        sets = chain(
            ((key,) for key in (*quasi, *sensitive)),
            [tuple(keys)] if len(keys) > 3 else [],
            combinations(keys, 2),
            combinations(keys, 3),
        )
        key_sets = []
        for names in islice((each for each in sets if {*quasi, *sensitive}.intersection(each)), MOST_SETS):
            key_sets.append(self._key_set(names))
            if len(names) == 1:
                dates = self._sample[0][names[0]]
                key_sets += [replace(key_sets[-1], fine=_joint([part], len(dates))) for part in _parts_of_dates(dates)]
        return [each for each in key_sets if each.is_shared]

    def _larger_sets(self, key_set: _KeySet) -> Iterator[_KeySet]:
        """Yield the sets with one more quasi-identifier."""
        for key in self.original.schema.quasi:
            if key not in key_set.names:
                larger = self._key_set((*key_set.names, key))
                if larger.is_shared:
                    yield larger

    def _finer_than_released(self, name: str) -> tuple[tuple[str, ...], bool] | None:
        """Return the original columns that a column follows from more finely than released, and whether it does fully.

        Partly is enough for a finding that stops no release.
        """
        cells, rows = self._cells[name]
        values = _ranks(cells)[rows]
        distinct = len(np.unique(values))
        judges = [_Judge(rows, values, self._classes[rows], near=False)] if 1 < distinct <= SHARED * len(rows) else []
        if cells.dtype.is_numeric() and distinct > FEWEST_NUMBERS:
            judges.append(_Judge(rows, _order(cells)[rows], self._classes[rows], near=True))
        partly = None
        for judge in judges if len(rows) >= SMALL_FILE else ():
            key_sets: Iterable[_KeySet] = [each for each in self._key_sets if self._can_narrow(name, each.names)]
            while judge.can_deviate and key_sets:
                best, most = None, judge.share + GAIN * (1 - judge.share)
                for key_set in key_sets:
                    verdict = judge.compare(key_set)
                    if verdict.certain:
                        return key_set.names, True
                    if verdict.partly and partly is None:
                        partly = key_set.names, False
                    if len(key_set.names) >= 3 and verdict.share > most:
                        best, most = key_set, verdict.share
                key_sets = list(self._larger_sets(best)) if best else []
        return self._formula(name) or partly

    def _can_narrow(self, name: str, keys: tuple[str, ...]) -> bool:
        """Whether a column is none of these, nor as coarse as the released numbers of a sensitive one."""
        if name in keys:
            return False
        before, after = self._sample
        key = keys[0]
        if key not in self._changed[1] or not (before[key].dtype.is_numeric() and after[key].dtype.is_numeric()):
            return True
        cells, rows = self._cells[name]
        order = _order(before[key])[rows]
        return FINER * _rank_variance(_groups(cells, rows)[rows], order) < _rank_variance(
            _codes(after[key])[rows], order
        )

    def _formula(self, name: str) -> tuple[tuple[str, ...], bool] | None:
        """Return numeric columns that give the numbers of a column by a formula; at least one of them was changed."""
        import polars as pl

        from celosia.kernels.statistics.rank_order import explained_order, unexplained_by_formula

        before = self._sample[0]
        cells, rows = self._cells[name]
        quasi, sensitive = self._changed
        keys = [key for key in (*self.original.schema.quasi, *sensitive) if before[key].dtype.is_numeric()]
        keys = [key for key in keys if key != name]
        if not cells.dtype.is_numeric() or name in self.overwritten or not {*quasi, *sensitive}.intersection(keys):
            return None
        numbers = before.select(keys).with_columns(cells.alias("cells"))[rows].drop_nulls().cast(pl.Float64).to_numpy()
        numbers = numbers[np.isfinite(numbers).all(axis=1)]

        def unexplained_share(used: list[str]) -> float:
            return unexplained_by_formula(numbers[:, [keys.index(key) for key in used]], numbers[:, -1])

        used = keys
        if len(numbers) < SHARED * len(rows) or unexplained_share(used) > EXACT:
            return None
        for key in keys:
            fewer = [each for each in used if each != key]
            used = fewer if fewer and unexplained_share(fewer) <= EXACT else used
        classes = pl.Series(self._classes).cast(pl.String)
        if not {*quasi, *sensitive}.intersection(used) or 1 - explained_order(classes, cells) <= FINER * CLOSE:
            return None
        return tuple(used), True

    def _keys_by_formula(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield changed numbers and dates that a formula of released columns gives, with these columns.

        All of them together and every pair are tried: a difference of two dates, a total beside its parts.
        """
        import polars as pl

        from celosia.kernels.statistics.rank_order import explained_order, unexplained_by_formula

        before = self._sample[0]
        names = sorted(name for name, (cells, _) in self._cells.items() if _is_number(cells))
        classes = pl.Series(self._classes).cast(pl.String)

        def is_given(key: str, used: Sequence[str], open_share: float) -> bool:
            columns = [*(self._cells[name][0] for name in used), before[key]]
            cells = pl.DataFrame([column.to_physical().alias(str(i)) for i, column in enumerate(columns)])
            numbers = cells.drop_nulls().cast(pl.Float64).to_numpy()
            numbers = numbers[np.isfinite(numbers).all(axis=1)]
            if len(numbers) < RECORDS * len(used):
                return False
            numbers = numbers / np.maximum(np.abs(numbers).max(axis=0, initial=0), 1)
            off = unexplained_by_formula(numbers[:, :-1], numbers[:, -1])
            return off <= EXACT and open_share > FINER * off + EXACT

        for key in (each for each in self._changed[0] if len(names) > 1 and _is_number(before[each])):
            open_share = 1 - explained_order(classes, before[key].to_physical())
            for each in islice(chain([tuple(names)], combinations(names, 2)), MOST_SETS):
                if is_given(key, each, open_share):
                    used = list(each)
                    for name in each:
                        fewer = [other for other in used if other != name]
                        used = fewer if fewer and is_given(key, fewer, open_share) else used
                    yield key, tuple(used)

    @cached_property
    def _cells(self) -> dict[str, tuple[pl.Series, NDArray[np.int64]]]:
        """Cells of every column that is compared, and the positions of those with a value."""
        import polars as pl

        before, after = self._sample
        cells_of = {}
        for name in self._candidates:
            tolerant = name in self.overwritten and has_tolerance(self.original, self.released, name)
            kept = tolerant and count_unchanged(self.original, self.released, name) >= SHARED * len(self.released)
            cells = before[name] if kept else after[name]
            filled = ~cells.is_null()
            if cells.dtype in (pl.String, pl.Categorical, pl.Enum):
                texts = cells.cast(pl.String)
                absent = [text for text in texts.drop_nulls().unique().to_list() if text == "*" or is_mark(text)]
                filled &= ~texts.is_in(absent)
            cells_of[name] = cells, filled.arg_true().to_numpy()
        return cells_of

    @cached_property
    def _disclosed_keys(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Columns from which a changed original column follows, with that column and those needed together."""
        before, after = self._sample
        quasi, sensitive = self._changed
        groups = {
            name: (_groups(cells, rows), rows) for name, (cells, rows) in self._cells.items() if len(rows) >= SMALL_FILE
        }
        disclosing: dict[str, tuple[str, tuple[str, ...]]] = {}
        for key in (*quasi, *sensitive):
            values = _codes(before[key])
            present = ~before[key].is_null().to_numpy()
            coarse = self._classes
            if key in sensitive:
                coarse = _joint([coarse, _codes(after[key])], len(before))
            shares: dict[str, float] = {}
            for name in sorted(each for each in groups if self._can_narrow(each, (key,))):
                codes, rows = groups[name]
                judged = _Disclosure.of(codes, rows[present[rows]], values, coarse)
                if judged.discloses:
                    disclosing.setdefault(name, (key, ()))
                shares[name] = judged.share
            best = [name for name in sorted(shares, key=lambda name: -shares[name]) if name not in disclosing][:BEST]
            for pair in combinations(best, 2):
                rows = np.intersect1d(groups[pair[0]][1], groups[pair[1]][1])
                codes = _joint([groups[name][0] for name in pair], len(before))
                if len(rows) < SMALL_FILE or any(name in disclosing for name in pair):
                    continue
                if _Disclosure.of(codes, rows[present[rows]], values, coarse).discloses:
                    disclosing[pair[0]] = key, pair[1:]  # the column that shows more
        for key, used in self._keys_by_formula():
            if not disclosing.keys() & set(used):
                disclosing[used[0]] = key, used[1:]
        return disclosing

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
            counted = nw.from_native(group_counts(self.released.rows.frame, keys))
            return engine.rows(counted.filter(nw.col(ROWS) == 1).to_native())

        before = self.released.compute_once(("guard", *quasi), lambda: count_unique(quasi))
        more = count_unique([*quasi, name]) - before
        if more >= TOGETHER * filled:
            what = "values that single a record out together with the quasi-identifiers"
            advice = "declare it quasi; generalise, round or group it, or leave it out"
            yield Sighting(name, what, more, filled, certain=False, advice=advice)


@dataclass(frozen=True)
class _KeySet:
    """Columns of the original, with the group of every record before the steps, and after them."""

    names: tuple[str, ...]
    fine: NDArray[np.int64]
    coarse: NDArray[np.int64]
    """Group by the changed columns of the set, as released, and by all unchanged quasi-identifiers."""

    @cached_property
    def is_shared(self) -> bool:
        """Whether enough records share their group."""
        return bool((_sizes(self.fine) > 1).mean() >= SHARED)


@dataclass(frozen=True)
class _Verdict:
    """Whether a column follows from a set of columns more finely than released, and how many pairs agree."""

    certain: bool = False
    partly: bool = False
    share: float = 0.0


@dataclass(frozen=True)
class _Judge:
    """Comparison of the values of a column, or of the order of its numbers, with sets of original columns."""

    rows: NDArray[np.int64]
    values: NDArray[Any]
    classes: NDArray[np.int64]
    near: bool
    """Whether the values are ranks, which agree if they are near."""

    @cached_property
    def _classes(self) -> _Agreement:
        return self._agreement(self.classes)

    def _agreement(self, groups: NDArray[np.int64]) -> _Agreement:
        return _Agreement.near(groups, self.values) if self.near else _Agreement.of(groups, self.values)

    @property
    def can_deviate(self) -> bool:
        """Whether the released classes leave anything open."""
        return bool((~self._classes.predicted).any())

    @property
    def share(self) -> float:
        """Share of pairs of records of a released class that agree."""
        return float(self._classes.share[self._classes.known].mean()) if self._classes.known.any() else 0.0

    def compare(self, key_set: _KeySet) -> _Verdict:
        """Compare groups of original values with those of the release."""
        fine = key_set.fine[self.rows]
        if self.near and _rank_variance(fine, self.values) > SPREAD:
            return _Verdict()
        exact = self._agreement(fine)
        if exact.known.sum() < SHARED * len(self.rows):
            return _Verdict()
        if self.near and not exact.follow:
            return _Verdict(share=float(exact.share[exact.known].mean()))
        released = self._classes.either(self._agreement(key_set.coarse[self.rows]))
        both = exact.known & released.known
        share, share_after = (float(each.share[both].mean()) if both.any() else 0.0 for each in (exact, released))
        partly = not self.near and both.sum() >= SHARED * len(self.rows)
        partly = partly and share >= max(AGREEING, NARROWER * share_after)
        return _Verdict(exact.is_finer(released), bool(partly), share)


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

    @classmethod
    def near(cls, groups: NDArray[np.int64], order: NDArray[np.float64]) -> _Agreement:
        """Compare ranks of records, as shares of all records, with the median of the others of their groups."""
        comparable = _sizes(groups) > 1
        sorted_rows = np.lexsort((order, groups))
        sizes = _sizes(groups)[sorted_rows]
        first = np.flatnonzero(np.r_[True, np.diff(groups[sorted_rows]) != 0])
        start = np.repeat(first, np.diff(np.r_[first, len(groups)]))
        place, middle = np.arange(len(groups)) - start, np.maximum(sizes - 2, 0) // 2
        other = np.minimum(start + middle + (place <= middle), start + sizes - 1)
        ordered = order[sorted_rows]
        near = np.empty(len(groups), np.bool_)
        near[sorted_rows] = np.abs(ordered - ordered[other]) <= WIDTH
        return cls(comparable, near & comparable, near.astype(np.float64))

    @cached_property
    def _deviation_count(self) -> int:
        return int((self.known & ~self.predicted).sum())

    @property
    def follow(self) -> bool:
        """Whether nearly all values follow from the groups."""
        return bool(self._deviation_count <= DEVIATING * self.known.sum())

    def is_finer(self, released: _Agreement) -> bool:
        """Whether nearly all values follow from these groups, and much fewer from those of the release."""
        deviating_after = int((self.known & released.known & ~released.predicted).sum())
        return self.follow and deviating_after > FINER * (self._deviation_count + 1)

    def either(self, other: _Agreement) -> _Agreement:
        """Return the agreement of records with the better of two groups."""
        share = np.maximum(np.where(self.known, self.share, 0), np.where(other.known, other.share, 0))
        predicted = (self.known & self.predicted) | (other.known & other.predicted)
        return _Agreement(self.known | other.known, predicted, share)


@dataclass(frozen=True)
class _Disclosure:
    """How well a released column, or several, shows the values of an original column."""

    discloses: bool
    share: float
    """Share of pairs of records with the same released values that agree in the original one."""

    @classmethod
    def of(
        cls,
        shown: NDArray[np.int64],
        rows: NDArray[np.int64],
        values: NDArray[np.int64],
        classes: NDArray[np.int64],
    ) -> _Disclosure:
        """Compare what groups of released values and the classes of the release show of original values."""
        exact = _Agreement.of(shown[rows], values[rows])
        if exact.known.sum() < SHARED * len(rows):
            return cls(discloses=False, share=0.0)
        released = _Agreement.of(classes[rows], values[rows])
        both = exact.known & released.known
        share, share_after = (float(each.share[both].mean()) if both.any() else 0.0 for each in (exact, released))
        mostly = both.sum() >= SHARED * len(rows) and exact.predicted[both].mean() >= DISCLOSED
        discloses = exact.is_finer(released) or (mostly and share >= NARROWER * share_after)
        return cls(bool(discloses), share)


def _rank_variance(groups: NDArray[np.int64], order: NDArray[np.float64]) -> float:
    """Variance of ranks inside of groups."""
    _, places = np.unique(groups, return_inverse=True)
    means = np.bincount(places, order) / np.bincount(places)
    return float(np.mean((order - means[places]) ** 2))


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


def _groups(cells: pl.Series, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Code of every cell by value; adjacent values share one where most given cells have a value of their own."""
    codes = _ranks(cells).copy()
    if (_sizes(codes[rows]) > 1).mean() >= SHARED:
        return codes
    codes[rows] = np.searchsorted(np.sort(codes[rows]), codes[rows]) // NEIGHBOURS
    return codes


def _is_number(cells: pl.Series) -> bool:
    import polars as pl

    return cells.dtype.is_numeric() or cells.dtype in (pl.Date, pl.Datetime)


def _order(cells: pl.Series) -> NDArray[np.float64]:
    """Rank of every cell as a share of all cells."""
    return cells.rank("average").fill_null(0).to_numpy() / len(cells)


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
