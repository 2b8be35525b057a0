"""The guard: checks every released column and label for identifiers, names and rare values before writing.

It checks the cells as they would be written, and reports columns and counts, never values. A *certain* sighting stops
the release; any other is stated in the evidence, with the reason if the data owner acknowledges the column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from celosia.data.engines.engine import RECORD, as_text
from celosia.data.engines.row_codes import PERSONS, ROWS
from celosia.data.schema import Kind, Role
from celosia.errors import GuardError, UnknownName
from celosia.hierarchy.values import Interval, OneOf, parse
from celosia.proposals.recognition.names import only_names
from celosia.proposals.recognition.patterns import Pattern, recognise, recognise_alone
from celosia.proposals.recognition.traces import NAMES, traces_in
from celosia.release.evidence.certificate import GuardEntry
from celosia.release.output.column_profile import (
    ONLY_NAMES,
    TRIED,
    ColumnProfile,
    Frame,
    count_rare,
    profile_column,
    rare_row_limit,
)
from celosia.release.output.copies import count_copies
from celosia.table.columns import column_types, count_values, has_many_values
from celosia.table.pairing import is_wide, paired_counts, positions, same_numbers

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

FEW = 3
"""A value shared by fewer persons singles them out: the threshold of official statistics."""
SMALL_FILE = 50
"""In a smaller file most values are rare: rarity alone stops no release."""
NEARLY_ALL = 0.5
"""From this share of rare values on, a numeric or date column identifies like a name."""
MANY = 0.1
"""From this share of rare values on, a numeric or date column is reported."""
COARSE = 1000
"""Whole numbers within a range of this width (ages, marks, visits) are coarse: rare ones stop no release."""
TOGETHER = 0.2
"""A column is reported if it singles out this share of records together with the quasi-identifiers."""
DEVIATING, FINER = 0.05, 5
"""A column follows from a quasi-identifier if at most this share of its cells deviates, and at least so many times as
many deviate from what the released quasi-identifier predicts."""
CLOSE = 0.02
"""Numbers keep the order of others if at most this share of the variance of their ranks is not explained."""
MOST_PAIRS, SAMPLED = 100, 20_000
"""Maximum number of pairs of quasi-identifiers that are tried, and size of the sample of records for a pair."""
PUBLIC_NAME = 20
"""A name in a value of at least this many records stops no release: schools and stations are named after people."""
MOSTLY = 0.5
FEWEST_NAMES = 5
"""Smallest number of distinct values for which cells that are only names make a column of names."""
FEWEST_DIGITS = 7
"""Shorter whole numbers are not tried: a check digit fits some of them by chance."""
LONG, MANY_VALUES = 9, 20
"""Fewest digits and distinct values by which a number without a check digit (a telephone) is recognised."""
WHOLE = 2.0**63
"""Larger numbers do not fit into 64 bits."""
NAME = "the name of column"
OUT = "leave the column out, or mask or redact it"
COARSER = "generalise, round or group it, or leave it out"


@dataclass(frozen=True)
class Sighting:
    """Content of a column that should not be released, the number of its cells, and advice."""

    column: str
    what: str
    cells: int
    of: int
    certain: bool
    advice: str
    acknowledged: str = ""
    """Reason of the data owner to release it; empty if not acknowledged."""
    unit: str = "cells"
    """What is counted: cells, records, names of columns, or labels."""

    @property
    def stops(self) -> bool:
        """Whether this sighting stops the release."""
        return self.certain and not self.acknowledged

    def entry(self) -> GuardEntry:
        """Return the finding as a certificate states it."""
        unit = "" if self.unit == "cells" else f" ({self.unit})"
        entry = GuardEntry(column=self.column, what=f"{self.what}{unit}", cells=self.cells, of=self.of)
        if self.acknowledged:
            entry.acknowledged = self.acknowledged
        return entry

    def __str__(self) -> str:
        if self.unit == NAME:  # the name itself must not be shown
            return f"{self.unit} {self.cells}: it holds {self.what}"
        return f"column {self.column!r}: {self.cells} of {self.of} {self.unit} hold {self.what}"


def inspect(
    original: Table,
    released: Table,
    overwritten: Collection[str],
    acknowledge: Mapping[str, str],
    *,
    formal: Collection[str] = (),
) -> tuple[Sighting, ...]:
    """Check a table before it is released.

    ``overwritten`` names the columns whose cells a step may have changed; ``acknowledge`` gives the owner's reason by
    column. The columns of ``formal`` have a formal guarantee, which counts against the original would void: only
    their released cells are checked.
    """
    inspection = _Inspection(original, released, frozenset(overwritten), frozenset(formal))
    sightings = [sighting for name in released.names for sighting in inspection.sightings(name)]
    sightings += inspection.copied_records()
    sightings += _sightings_in_labels(released)
    return tuple(replace(sighting, acknowledged=acknowledge.get(sighting.column, "")) for sighting in sightings)


def check_reasons(names: Sequence[str], reasons: Mapping[str, str]) -> dict[str, str]:
    """Return the reasons by column; raise if a column does not exist or a reason is empty."""
    for name, reason in reasons.items():
        if name not in names:
            raise UnknownName.of("column", name, names, "(guard.acknowledge)")
        if not reason.strip():
            raise GuardError(f"guard.acknowledge: column {name!r} needs a reason, got an empty text.")
    return dict(reasons)


def refuse_certain(sightings: Sequence[Sighting], allowing: str) -> None:
    """Raise if a sighting is certain and not acknowledged."""
    stopping = [sighting for sighting in sightings if sighting.stops]
    if stopping:
        sentences = " ".join(f"{sighting}: {sighting.advice}." for sighting in stopping)
        refusal = GuardError(f"nothing was written. {sentences} To let a column leave as it is: {allowing}.")
        refusal.sightings = tuple(sightings)
        raise refusal


def _sightings_in_labels(released: Table) -> Iterator[Sighting]:
    """Find identifiers in the names of released columns, and in the labels of columns and of their values."""
    names = list(released.names)
    for what, mask in _forms_in(names).items():
        for place, name in enumerate(names):
            if mask[place]:
                advice = "rename the column"
                yield Sighting(name, what, place + 1, len(names), certain=True, advice=advice, unit=NAME)
    if released.facts is None:
        return
    for name in names:
        values = [str(label) for label in released.facts.labels.get(name, {}).values() if label]
        labels = [*values, *filter(None, [released.facts.descriptions.get(name)])]
        forms = {what: sum(mask) for what, mask in _forms_in(labels).items()} or _form_of_labels(values)
        for what, count in forms.items():
            advice = "remove the labels from the file"
            yield Sighting(name, what, count, len(labels), certain=True, advice=advice, unit="labels")


def _forms_in(texts: Sequence[str]) -> dict[str, list[bool]]:
    """Return the kinds of identifiers found in single texts, each with a mask of the texts that contain one."""
    import polars as pl

    inside = {_plural(what): mask.to_list() for what, mask in traces_in(pl.Series(texts, dtype=pl.String))}
    return {_plural(what): mask for what, mask in recognise_alone(texts).items()} | inside


def _form_of_labels(labels: Sequence[str]) -> dict[str, int]:
    """Return the form that most value labels share, recognised like cells, with the number of labels."""
    import polars as pl

    different = list(dict.fromkeys(labels))
    named = int(only_names(pl.Series(different, dtype=pl.String)).sum())
    if len(different) >= FEWEST_NAMES and named > MOSTLY * len(different):
        return {_plural(NAMES): named}
    form = recognise(different, len(different)) if len(different) >= MANY_VALUES else None
    return {_plural(form[0].name): len(labels)} if form else {}


@dataclass(frozen=True)
class _Inspection:
    """Check of one released table against its original."""

    original: Table
    released: Table
    overwritten: frozenset[str]
    formal: frozenset[str]

    def sightings(self, name: str) -> Iterator[Sighting]:
        """Sightings in one column."""
        dtype = self.released.engine.types(self.released.rows.frame)[name]
        untouched = name not in self.overwritten
        codes = untouched or self._keeps_values(name)
        profile = profile_column(self.released, name, untouched=codes)
        filled = profile.all.rows
        if not filled:
            return
        if dtype.is_numeric():
            yield from self._numbers(name, profile)
        else:
            yield from self._texts(name, profile, codes=codes)
        if name in self.formal or name not in self.original.schema:
            return
        was = self.original.engine.types(self.original.rows.frame)[name]
        whole = dtype.is_integer() or (dtype.is_numeric() and was.is_integer())  # means of whole numbers are as coarse
        coarse = whole and bool(profile.width <= COARSE)
        yield from self._derived_values(name, filled)
        rare = self._rare(name, profile, untouched=untouched, coarse=coarse)
        yield from rare
        if not rare:
            yield from self._with_quasi(name, filled)

    def _keeps_values(self, name: str) -> bool:
        """Whether a column that a step overwrites still contains a text of the original column."""
        import polars as pl

        texts = (pl.String, pl.Categorical, pl.Enum)
        both = (self.original, self.released)
        if name not in self.original.schema or any(
            column_types(t)[name] not in texts or has_many_values(t, name) for t in both
        ):
            return False
        before, after = (count_values(table, name)[name].drop_nulls().cast(pl.String) for table in both)
        return bool(after.filter(after != "*").is_in(before.implode()).any())

    def _texts(self, name: str, profile: ColumnProfile, *, codes: bool) -> Iterator[Sighting]:
        filled, named = profile.all.rows, profile.amounts.get(ONLY_NAMES)
        nothing_else = (
            named is not None and profile.all.values >= FEWEST_NAMES and named.values > MOSTLY * profile.all.values
        )
        if named is not None and nothing_else:
            yield Sighting(name, _plural(NAMES), named.rows, filled, certain=True, advice=OUT)
        if not nothing_else and profile.is_text and not any(profile.traces()):
            form = recognise(profile.sample.to_list(), profile.all.values, codes=codes)
            if form:
                yield self._form(name, form[0], profile)
        for what, amount in profile.traces():
            if what == NAMES and nothing_else:
                continue
            certain = what != NAMES or amount.least < PUBLIC_NAME
            yield Sighting(name, _plural(what), amount.rows, filled, certain=certain, advice=OUT)

    def _form(self, name: str, pattern: Pattern, profile: ColumnProfile, computed: str = "") -> Sighting:
        """Sighting of a column of one form; certain unless many records share each value (the address of a school)."""
        certain = pattern.checked or profile.all.least < PUBLIC_NAME
        what = f"{computed}{_plural(pattern.name)}"
        return Sighting(name, what, profile.all.rows, profile.all.rows, certain=certain, advice=OUT)

    def _numbers(self, name: str, profile: ColumnProfile) -> Iterator[Sighting]:
        """Find numbers that are identifiers by their form, or that were computed from such numbers."""
        pattern = number_form(profile.numbers(name))
        if pattern is not None:
            yield self._form(name, pattern, profile)
            return
        original = self.original
        if name not in original.schema or name not in self.overwritten or name in self.formal:
            return
        is_weight = Role.WEIGHT in original.schema[name].roles
        if original.engine.types(original.rows.frame)[name].is_numeric() and not is_weight:
            pattern = number_form(profile_column(original, name, untouched=True).numbers(name))
            if pattern is not None and (pattern.checked or not pattern.fewest):
                yield self._form(name, pattern, profile, "numbers computed from ")

    def _rare(self, name: str, profile: ColumnProfile, *, untouched: bool, coarse: bool) -> list[Sighting]:
        """Find values that fewer than ``FEW`` persons of the original share, as cells or inside labels."""
        column, filled = self.original.schema[name], profile.all.rows
        numbers = column.kind in (Kind.NUMERIC, Kind.DATE) and not self._is_code_list(name, profile)
        same = not untouched and self._has_tolerance(name) and self._count_unchanged(name) >= NEARLY_ALL * filled
        if same:  # the original, rounded: a value counts as rare if few share it before and after
            cells, rare, untouched = min(_count_rare(self.original, name), _count_rare(self.released, name)), None, True
        elif profile.values is None:
            cells, rare = count_rare(self.original, self.released, name, FEW, untouched=untouched), None
        else:
            cells, rare = self._rare_cells(name, profile.values, untouched=untouched)
        share = cells / filled
        if cells and not untouched:
            unchanged = self._count_unchanged(name)
            untouched = unchanged >= NEARLY_ALL * filled if numbers else unchanged == filled
        large = len(self.original) >= SMALL_FILE and untouched and Role.WEIGHT not in column.roles
        what = f"values that fewer than {FEW} persons hold"
        if cells and not numbers:
            return [Sighting(name, what, cells, filled, certain=large, advice=COARSER)]
        if share >= MANY:
            certain = large and not coarse and share >= NEARLY_ALL
            return [Sighting(name, what, cells, filled, certain=certain, advice=COARSER)]
        if untouched or numbers or profile.values is None or rare is None:
            return []
        labels = self._count_labels(name, profile.values, rare)
        inside = f"labels made of values that fewer than {FEW} persons hold"
        return [Sighting(name, inside, labels, filled, certain=False, advice=COARSER)] if labels else []

    def _is_code_list(self, name: str, profile: ColumnProfile) -> bool:
        """Whether most values of a numeric column are category codes that have labels."""
        import polars as pl

        labels = {} if self.original.facts is None else self.original.facts.labels.get(name, {})
        codes = [float(code) for code in labels if isinstance(code, int | float)]
        if not codes:
            return False
        values = profile.numbers(name)
        return int(values.cast(pl.Float64, strict=False).is_in(codes).sum()) > MOSTLY * len(values)

    def _rare_cells(self, name: str, values: pl.DataFrame, *, untouched: bool) -> tuple[int, pl.Series]:
        """Count the released cells with a rare value; return the rare values too, as texts if the cells are texts."""
        import narwhals as nw
        import polars as pl

        engine, person = self.original.engine, self.original.schema.person
        whole = untouched and len(self.released) == len(self.original)
        if whole and person is None:  # the released column is the original one
            rare = values.filter(pl.col(ROWS) < FEW)
            return int(rare[ROWS].sum()), rare[name]
        if self.original.counts.frame is None and self.original.counts.has_counts([name], rows_only=False):
            counts = self.original.counts.histogram([name])
            few = counts.filter(counts.persons < FEW)
            rare = _as_texts(few.cells.with_columns(pl.Series(ROWS, few.rows)).drop_nulls(name), name)
        else:
            keys = dict.fromkeys([name] if person is None else [name, person])
            frame = nw.from_native(self.original.rows.frame).select(*keys).filter(~nw.col(name).is_null())
            counted = nw.from_native(engine.histogram(frame.to_native(), [name], person=person))
            rare_lazy = counted.filter(nw.col(PERSONS if person else ROWS) < FEW)
            text = as_text(name, rare_lazy.collect_schema()[name]).alias(name)
            rare = engine.collect(rare_lazy.select(text, nw.col(ROWS)).to_native())
        if whole:
            return int(rare[ROWS].sum() or 0), rare[name]
        shared = pl.col(ROWS) >= rare_row_limit(self.original, FEW)  # many released rows share it, once rounded
        still_rare = _as_texts(values.filter(~shared), name).join(rare.select(name), on=name, how="semi")
        return int(still_rare[ROWS].sum()), rare[name]

    def _has_tolerance(self, name: str) -> bool:
        """Whether a column is compared with a tolerance: decimals before or after, or numbers of a wide range."""
        sides = [table.engine.types(table.rows.frame)[name] for table in (self.original, self.released)]
        whole = all(side.is_integer() for side in sides)
        return all(side.is_numeric() for side in sides) and (not whole or is_wide(self.original, name))

    def _count_unchanged_numbers(self, name: str) -> int:
        """Count the records whose number is unchanged after rounding to the unit of the original column."""
        import narwhals as nw

        def cells(table: Table, alias: str) -> Frame:
            frame = nw.from_native(table.identified().rows.frame)
            return frame.select(nw.col(RECORD), nw.col(name).cast(nw.Float64).alias(alias)).drop_nulls()

        both = cells(self.released, "after").join(cells(self.original, "before"), on=[RECORD], how="inner")
        near = same_numbers(self.original, name, nw.col("before"), nw.col("after"))
        return self.released.engine.rows(both.filter(near).to_native())

    def _count_unchanged(self, name: str) -> int:
        """Count the records whose value is unchanged: a step that may overwrite a column need not do so."""
        import narwhals as nw

        if self.released.family is not self.original.family:
            return 0
        if self._has_tolerance(name):
            return self._count_unchanged_numbers(name)
        pairs = paired_counts(self.original, self.released, [name])
        if pairs is not None and name not in pairs.changed:
            return int(count_values(self.released, name).drop_nulls(name)[ROWS].sum())
        if pairs is not None:
            present = pairs.before.column(name).masked[pairs.kept] >= 0
            return int(pairs.rows[pairs.unchanged_cells(name) & present].sum())

        def cells(table: Table) -> Frame:
            frame = nw.from_native(table.identified().rows.frame)
            text = as_text(name, frame.collect_schema()[name]).alias(name)
            return frame.select(nw.col(RECORD), text).drop_nulls()

        same = cells(self.released).join(cells(self.original), on=[RECORD, name], how="semi")
        return self.released.engine.rows(same.to_native())  # where the rows are

    def _count_labels(self, name: str, values: pl.DataFrame, rare: pl.Series) -> int:
        """Count the cells with a set or a range of texts whose members or ends are rare values."""
        import polars as pl

        if values[name].dtype != pl.String:
            return 0
        labelled = values.filter(pl.col(name).str.contains(r"^[\[({].*(?:,| \.\. )"))
        rare_values = set(rare.to_list())
        shows_rare = [bool(rare_values.intersection(_members(label))) for label in labelled[name].to_list()]
        return int(labelled[ROWS].filter(pl.Series(shows_rare, dtype=pl.Boolean)).sum())

    def copied_records(self) -> Iterator[Sighting]:
        """Find a synthesis most of whose records repeat a record that only one person of the original has."""
        copies = count_copies(self.original, self.released, self.formal)
        if copies is None or not copies.are_many:
            return
        names = [name for name in self.released.names if name not in self.formal]
        column = max(names, key=lambda name: len(count_values(self.released, name)))
        advice = "the synthesis repeats its input: use larger leaves or strata, fewer columns, or smoothing"
        what = "together with the other columns a record that only one person of the original has"
        yield Sighting(column, what, copies.records, copies.of, certain=True, advice=advice, unit="records")

    def _derived_values(self, name: str, filled: int) -> Iterator[Sighting]:
        """Find a column that almost determines a changed column, and shows it more finely than released."""
        released, original = self.released, self.original
        if released.schema[name].roles != {Role.INSENSITIVE} or released.family is not original.family:
            return
        if len(original) < SMALL_FILE:
            return
        kept = name not in self.overwritten or (
            self._has_tolerance(name) and self._count_unchanged(name) >= NEARLY_ALL * filled
        )
        source = original if kept else released
        released_side = released if name not in self.overwritten else source
        for keys in self._predictors(name):
            filled_cells, deviating = self._count_deviations(original, keys, source, name)
            if filled_cells < MOSTLY * self._count_compared(keys) or deviating > DEVIATING * filled_cells:
                continue
            _, deviating_after = self._count_deviations(released, keys, released_side, name)
            if deviating_after > FINER * deviating:
                role = "quasi-identifier" if keys[0] in released.schema.quasi else "column"
                from_them = f"the {role} {keys[0]!r}" if len(keys) == 1 else f"{keys[0]!r} and {keys[1]!r} together"
                released_as = "it is" if len(keys) == 1 else "they are"
                what = f"values that follow from {from_them}, more finely than {released_as} released"
                advice = "declare it quasi" if role == "quasi-identifier" else "change it in the same way"
                yield Sighting(name, what, filled, filled, certain=True, advice=f"{advice}, or leave it out")
                return
        for key in self._close_numbers(name):
            what = f"numbers that keep the order of {key!r}, more finely than it is released"
            yield Sighting(name, what, filled, filled, certain=False, advice="declare it quasi, or leave it out")

    def _close_numbers(self, name: str) -> Iterator[str]:
        """Yield changed numeric columns whose order this column preserves, and that the release shows less finely."""
        from celosia.kernels.statistics.rank_order import explained_order

        original, released = self.original, self.released
        if name in self.overwritten or original.counts.frame is None or released.counts.frame is None:
            return
        rows = positions(original, released)
        step = max(1, len(rows) // SAMPLED)
        schema = released.schema
        for key in (*schema.quasi, *schema.sensitive):
            if key == name or key not in self.overwritten or key not in original.schema:
                continue
            if not (original.column(key).dtype.is_numeric() and original.column(name).dtype.is_numeric()):
                continue
            cells = released.column(name).gather_every(step)
            before = 1 - explained_order(original.column(key)[rows[::step]], cells)
            if before <= CLOSE and 1 - explained_order(released.column(key).gather_every(step), cells) > FINER * before:
                yield key

    def _predictors(self, name: str) -> Iterator[list[str]]:
        """Quasi-identifiers and sensitive columns that steps changed, each alone, then with another quasi-identifier.

        Without columns of almost unique values, which predict every column. Pairs only if the rows are in memory.
        """
        schema, original = self.released.schema, self.original
        quasi = [key for key in schema.quasi if key in original.schema and key != name]
        changed = [key for key in (*quasi, *schema.sensitive) if key in self.overwritten and key in original.schema]
        alone = [key for key in changed if key != name and self._is_shared(key)]
        yield from ([key] for key in alone)
        if original.counts.frame is not None and self.released.counts.frame is not None:
            pairs = [[key, other] for key in alone for other in quasi if other != key and self._is_shared(other)]
            different = {frozenset(pair): pair for pair in reversed(pairs)}
            yield from (pair for pair in reversed(different.values()) if len(different) <= MOST_PAIRS)

    def _count_compared(self, keys: list[str]) -> int:
        """Return the number of records of the original that are compared."""
        step = 1 if len(keys) == 1 else max(1, len(self.released) // SAMPLED)
        return len(self.original) // step

    def _is_shared(self, key: str) -> bool:
        """Whether several people share a value of the column, on average."""
        original = self.original

        def count() -> int:
            if original.counts.frame is None and has_many_values(original, key):
                return len(original)
            return len(count_values(original, key))

        return bool(original.cached(("guard values", key), count) <= MOSTLY * original.classes.total)

    def _count_deviations(self, whose: Table, keys: list[str], source: Table, name: str) -> tuple[int, int]:
        """Count filled cells of records that share their values of ``keys``, and those that differ from the majority.

        The majority is that of the other records with the same values: a record does not predict itself.
        """
        import narwhals as nw
        import polars as pl

        names = [f"key {place}" for place in range(len(keys))]
        columns = [nw.col(key).alias(alias) for key, alias in zip(keys, names, strict=True)]
        joint = nw.from_native(self._joint_counts(whose, keys, source, name))
        counted = joint.select(*columns, nw.col(name).alias("cell"), nw.col(ROWS)).filter(~nw.col("cell").is_null())
        if counted.collect_schema()["cell"] in (nw.String, nw.Categorical, nw.Enum):
            counted = counted.filter(nw.col("cell").cast(nw.String) != "*")
        groups = counted.group_by(*names).agg(nw.col(ROWS).sum().alias("all"), nw.col(ROWS).max().alias("top"))
        agree = nw.when(2 * nw.col("top") > nw.col("all") + 1).then(nw.col("top")).otherwise(0)
        sums = groups.filter(nw.col("all") > 1).select(nw.col("all").sum(), agree.sum().alias("agree")).to_native()
        filled_cells, predicted = (sums if isinstance(sums, pl.DataFrame) else whose.engine.collect(sums)).row(0)
        return int(filled_cells or 0), int(filled_cells or 0) - int(predicted or 0)

    def _joint_counts(self, whose: Table, keys: list[str], source: Table, name: str) -> Frame:
        """Count combinations of columns of one table and a column of another, paired by record."""
        import narwhals as nw
        import polars as pl

        if whose.counts.frame is not None and source.counts.frame is not None:
            step = 1 if len(keys) == 1 else max(1, len(self.released) // SAMPLED)  # there may be many pairs
            rows = positions(self.original, self.released)[::step]
            sides = (*((whose, key) for key in keys), (source, name))
            columns = [
                side.column(n).gather_every(step) if side is self.released else side.column(n)[rows]
                for side, n in sides
            ]
            return pl.DataFrame(columns).group_by(*keys, name).agg(pl.len().alias(ROWS))
        if whose is source and not (whose.schema.person or has_many_values(whose, name)):
            counted = whose.counts.histogram([*keys, name], rows_only=True)
            return counted.cells.with_columns(pl.Series(ROWS, counted.rows))
        if whose is source:
            return whose.engine.histogram(whose.rows.frame, [*keys, name])
        before, cells = (nw.from_native(table.identified().rows.frame) for table in (whose, source))
        paired = before.select(RECORD, *keys).join(cells.select(RECORD, name), on=[RECORD], how="inner")
        return whose.engine.histogram(paired.to_native(), [*keys, name])

    def _with_quasi(self, name: str, filled: int) -> Iterator[Sighting]:
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

        before = self.released.cached(("guard", *quasi), lambda: count_unique(quasi))
        more = count_unique([*quasi, name]) - before
        if more >= TOGETHER * filled:
            what = "values that single a record out together with the quasi-identifiers"
            yield Sighting(name, what, more, filled, certain=False, advice=f"declare it quasi; {COARSER}")


def _count_rare(table: Table, name: str) -> int:
    """Count the cells of a column with a value that fewer than ``FEW`` persons share."""
    return count_rare(table, table, name, FEW, untouched=True)


def number_form(values: pl.Series) -> Pattern | None:
    """Return the identifier pattern that most whole numbers of one length match, or None.

    Numbers of each length are tested separately, so that other numbers in the column cannot hide them.
    """
    import polars as pl

    numbers = values.cast(pl.Float64)
    whole = values.filter((numbers == numbers.round(0)) & (numbers.abs() < WHOLE))
    digits = whole.cast(pl.Int64).abs().cast(pl.String)
    lengths = digits.str.len_chars()
    for length in lengths.unique().sort(descending=True).to_list():
        if length < FEWEST_DIGITS:
            break
        alike = digits.filter(lengths == length)
        some = alike.gather_every(max(1, len(alike) // TRIED)).to_list()
        form = recognise(some, len(some))
        if form and (form[0].checked or (len(some) >= MANY_VALUES and length >= LONG)):
            return form[0]
    return None


def _members(label: str) -> tuple[str, ...]:
    """Raw values that a label names."""
    cell = parse(label)
    if isinstance(cell, OneOf):
        return tuple(cell.members)
    return (str(cell.low), str(cell.high)) if isinstance(cell, Interval) and cell.textual else ()


def _as_texts(counted: pl.DataFrame, name: str) -> pl.DataFrame:
    """Convert counted values to texts."""
    import narwhals as nw

    frame = nw.from_native(counted)
    return frame.select(as_text(name, frame.collect_schema()[name]).alias(name), nw.col(ROWS)).to_native()


def _plural(what: str) -> str:
    """Plural of what was found."""
    if what == NAMES:
        return "names of persons"
    return {"hash of an identifier": "hashes of identifiers"}.get(what, f"what looks like: {what}")
