"""The guard: before anything is written, every released column and every label in it is looked at.

What must not leave is searched for in the cells as they would be written: identifiers, names, values that hardly
anybody shares. It is told by column and count, never by value. A *certain* sighting stops the release; any other stands
in the evidence until the owner acknowledges the column with a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from celosia.data.engines.engine import RECORD, as_text
from celosia.data.engines.row_codes import PERSONS, ROWS
from celosia.data.schema import Kind, Role
from celosia.errors import GuardError, UnknownName
from celosia.hierarchy.values import Interval, OneOf, parse
from celosia.proposals.recognition.names import only_names
from celosia.proposals.recognition.patterns import Pattern, recognise, recognise_alone
from celosia.proposals.recognition.traces import NAMES, traces_in
from celosia.release.evidence.certificate import GuardEntry
from celosia.release.output.column_profile import ONLY_NAMES, TRIED, Seen, rare_afar, rows_of, seen
from celosia.release.output.copies import count_copies
from celosia.table.pairing import is_wide, paired_counts, positions, same_numbers

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

FEW = 3
"""A value that fewer persons hold singles them out: the threshold of official statistics."""
SMALL_FILE = 50
"""In a file of fewer records most values are rare by nature: rarity alone stops nothing there."""
NEARLY_ALL = 0.5
"""From this share of rare values on, a number or a date is as good as a name."""
MANY = 0.1
"""From this share of rare values on, a number or a date is told."""
COARSE = 1000
"""Whole numbers within a range of this width (ages, marks, visits) are coarse: that few hold one stops nothing."""
TOGETHER = 0.2
"""From this share of records that a column singles out with the quasi-identifiers, it is told."""
DEVIATING, FINER = 0.05, 5
"""A column follows from a quasi-identifier if at most this share of its cells deviates, and at least so many times as
many deviate from what the released quasi-identifier predicts."""
CLOSE = 0.02
"""Numbers keep the order of others if at most this share of the variance of their ranks is not explained."""
MOST_PAIRS, SAMPLED = 100, 20_000
"""More pairs of quasi-identifiers are not tried, and in a sample of about so many records."""
PUBLIC_NAME = 20
"""A name in a value that so many records hold is told only: a school or a station is named after somebody."""
MOSTLY = 0.5
FEWEST_NAMES = 5
"""Different values from which on single words of names make a column of names."""
FEWEST_DIGITS = 7
"""Shorter whole numbers are not tried: a check digit fits some of them by chance."""
LONG, MANY_VALUES = 9, 20
"""Digits and different values of a number without a check digit (a telephone) before its form says anything."""
WHOLE = 2.0**63
"""Larger numbers are no whole numbers of 64 bits."""
NAME = "the name of column"
OUT = "leave the column out, or mask or redact it"
COARSER = "generalise, round or group it, or leave it out"


@dataclass(frozen=True)
class Sighting:
    """Something in a column that should not leave: what, in how many of its cells, and what helps."""

    column: str
    what: str
    cells: int
    of: int
    certain: bool
    advice: str
    acknowledged: str = ""
    """Why the owner lets it leave; empty while nobody has said so."""
    unit: str = "cells"
    """What is counted: cells, records, names of columns, or labels."""

    @property
    def stops(self) -> bool:
        """Whether it stops the release."""
        return self.certain and not self.acknowledged

    def entry(self) -> GuardEntry:
        """Return the finding as a certificate states it."""
        unit = "" if self.unit == "cells" else f" ({self.unit})"
        entry = GuardEntry(column=self.column, what=f"{self.what}{unit}", cells=self.cells, of=self.of)
        if self.acknowledged:
            entry.acknowledged = self.acknowledged
        return entry

    def __str__(self) -> str:
        if self.unit == NAME:  # the name is what must not be repeated
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
    """Look at a table that is about to leave.

    ``overwritten`` names the columns whose cells a step may have changed; ``acknowledge`` gives the owner's reason by
    column. The columns of ``formal`` have a formal guarantee: counts against the original would void it, so that only
    what is in them is looked at.
    """
    look = _Look(original, released, frozenset(overwritten), frozenset(formal))
    seen = [sight for name in released.names for sight in look.column(name)]
    seen += look.copied_records()
    seen += _in_texts_about_columns(released)
    return tuple(replace(sighting, acknowledged=acknowledge.get(sighting.column, "")) for sighting in seen)


def acknowledged(names: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """The reasons by column, checked: each column is there, each reason says something."""
    for name, reason in given.items():
        if name not in names:
            raise UnknownName.of("column", name, names, "(guard.acknowledge)")
        if not reason.strip():
            raise GuardError(f"guard.acknowledge: column {name!r} needs a reason, got an empty text.")
    return dict(given)


def stop(sightings: Sequence[Sighting], allowing: str) -> None:
    """Refuse to go on when one of the sightings is certain and nobody has acknowledged it."""
    stopping = [sighting for sighting in sightings if sighting.stops]
    if stopping:
        sentences = " ".join(f"{sighting}: {sighting.advice}." for sighting in stopping)
        refusal = GuardError(f"nothing was written. {sentences} To let a column leave as it is: {allowing}.")
        refusal.sightings = tuple(sightings)
        raise refusal


def _in_texts_about_columns(released: Table) -> Iterator[Sighting]:
    """Identifiers in the names of released columns, and in the labels of columns and of their values."""
    names = list(released.names)
    for what, held in _forms_in(names).items():
        for place, name in enumerate(names):
            if held[place]:
                advice = "rename the column"
                yield Sighting(name, what, place + 1, len(names), certain=True, advice=advice, unit=NAME)
    if released.facts is None:
        return
    for name in names:
        values = [str(label) for label in released.facts.labels.get(name, {}).values() if label]
        labels = [*values, *filter(None, [released.facts.descriptions.get(name)])]
        forms = {what: sum(held) for what, held in _forms_in(labels).items()} or _form_of_labels(values)
        for what, count in forms.items():
            advice = "remove the labels from the file"
            yield Sighting(name, what, count, len(labels), certain=True, advice=advice, unit="labels")


def _forms_in(texts: Sequence[str]) -> dict[str, list[bool]]:
    """Return the identifiers found in single texts, inside them or as a whole, with the texts that hold each."""
    import polars as pl

    inside = {_several(what): held.to_list() for what, held in traces_in(pl.Series(texts, dtype=pl.String))}
    return {_several(what): held for what, held in recognise_alone(texts).items()} | inside


def _form_of_labels(labels: Sequence[str]) -> dict[str, int]:
    """Return the form that value labels have together, recognised like cells, with the number of labels."""
    import polars as pl

    different = list(dict.fromkeys(labels))
    named = int(only_names(pl.Series(different, dtype=pl.String)).sum())
    if len(different) >= FEWEST_NAMES and named > MOSTLY * len(different):
        return {_several(NAMES): named}
    form = recognise(different, len(different)) if len(different) >= MANY_VALUES else None
    return {_several(form[0].name): len(labels)} if form else {}


@dataclass(frozen=True)
class _Look:
    """One look at one table."""

    original: Table
    released: Table
    overwritten: frozenset[str]
    formal: frozenset[str]

    def column(self, name: str) -> Iterator[Sighting]:
        """What is seen in one column."""
        dtype = self.released.engine.types(self.released.rows.frame)[name]
        untouched = name not in self.overwritten
        codes = untouched or self._keeps_values(name)
        looked = seen(self.released, name, untouched=codes)
        filled = looked.all.rows
        if not filled:
            return
        if dtype.is_numeric():
            yield from self._numbers(name, looked)
        else:
            yield from self._texts(name, looked, codes=codes)
        if name in self.formal or name not in self.original.schema:
            return
        was = self.original.engine.types(self.original.rows.frame)[name]
        whole = dtype.is_integer() or (dtype.is_numeric() and was.is_integer())  # means of whole numbers are as coarse
        coarse = whole and bool(looked.width <= COARSE)
        yield from self._derived(name, filled)
        rare = self._rare(name, looked, untouched=untouched, coarse=coarse)
        yield from rare
        if not rare:
            yield from self._with_quasi(name, filled)

    def _keeps_values(self, name: str) -> bool:
        """Whether a column that a step overwrites still holds a text of the original column."""
        import polars as pl

        texts = (pl.String, pl.Categorical, pl.Enum)
        both = (self.original, self.released)
        if name not in self.original.schema or any(t.polars_types()[name] not in texts or t.afar(name) for t in both):
            return False
        before, after = (table.tally(name)[name].drop_nulls().cast(pl.String) for table in both)
        return bool(after.filter(after != "*").is_in(before.implode()).any())

    def _texts(self, name: str, looked: Seen, *, codes: bool) -> Iterator[Sighting]:
        filled, named = looked.all.rows, looked.amounts.get(ONLY_NAMES)
        nothing_else = (
            named is not None and looked.all.values >= FEWEST_NAMES and named.values > MOSTLY * looked.all.values
        )
        if named is not None and nothing_else:
            yield Sighting(name, _several(NAMES), named.rows, filled, certain=True, advice=OUT)
        if not nothing_else and looked.is_text and not any(looked.traces()):
            form = recognise(looked.first.to_list(), looked.all.values, codes=codes)
            if form:
                yield self._form(name, form[0], looked)
        for what, amount in looked.traces():
            if what == NAMES and nothing_else:
                continue
            certain = what != NAMES or amount.least < PUBLIC_NAME
            yield Sighting(name, _several(what), amount.rows, filled, certain=certain, advice=OUT)

    def _form(self, name: str, pattern: Pattern, looked: Seen, computed: str = "") -> Sighting:
        """What a column looks like as a whole; a value that many hold (the address of a school) does not stop it."""
        certain = pattern.checked or looked.all.least < PUBLIC_NAME
        what = f"{computed}{_several(pattern.name)}"
        return Sighting(name, what, looked.all.rows, looked.all.rows, certain=certain, advice=OUT)

    def _numbers(self, name: str, looked: Seen) -> Iterator[Sighting]:
        """Numbers that are identifiers by their form, as they are released, or that were computed from such numbers."""
        pattern = number_form(looked.numbers(name))
        if pattern is not None:
            yield self._form(name, pattern, looked)
            return
        original = self.original
        if name not in original.schema or name not in self.overwritten or name in self.formal:
            return
        if original.engine.types(original.rows.frame)[name].is_numeric() and not _is_weight(original, name):
            pattern = number_form(seen(original, name, untouched=True).numbers(name))
            if pattern is not None and (pattern.checked or not pattern.fewest):
                yield self._form(name, pattern, looked, "numbers computed from ")

    def _rare(self, name: str, looked: Seen, *, untouched: bool, coarse: bool) -> list[Sighting]:
        """Values of the original that hardly anybody holds, as cells or inside labels."""
        column, filled = self.original.schema[name], looked.all.rows
        numbers = column.kind in (Kind.NUMERIC, Kind.DATE) and not self._is_code_list(name, looked)
        same = not untouched and self._has_tolerance(name) and self._own(name) >= NEARLY_ALL * filled
        if same:  # the original once rounded: counted where few hold the value before, and few do after
            cells, rare, untouched = min(_rare_in(self.original, name), _rare_in(self.released, name)), None, True
        elif looked.values is None:
            cells, rare = rare_afar(self.original, self.released, name, FEW, untouched=untouched), None
        else:
            cells, rare = self._rare_cells(name, looked.values, untouched=untouched)
        share = cells / filled
        if cells and not untouched:
            own = self._own(name)
            untouched = own >= NEARLY_ALL * filled if numbers else own == filled
        large = len(self.original) >= SMALL_FILE and untouched and Role.WEIGHT not in column.roles
        what = f"values that fewer than {FEW} persons hold"
        if cells and not numbers:
            return [Sighting(name, what, cells, filled, certain=large, advice=COARSER)]
        if share >= MANY:
            certain = large and not coarse and share >= NEARLY_ALL
            return [Sighting(name, what, cells, filled, certain=certain, advice=COARSER)]
        if untouched or numbers or looked.values is None or rare is None:
            return []
        labels = self._labels(name, looked.values, rare)
        inside = f"labels made of values that fewer than {FEW} persons hold"
        return [Sighting(name, inside, labels, filled, certain=False, advice=COARSER)] if labels else []

    def _is_code_list(self, name: str, looked: Seen) -> bool:
        """Whether most values of a column of numbers are codes, whose labels make them categories."""
        import polars as pl

        labels = {} if self.original.facts is None else self.original.facts.labels.get(name, {})
        codes = [float(code) for code in labels if isinstance(code, int | float)]
        if not codes:
            return False
        values = looked.numbers(name)
        return int(values.cast(pl.Float64, strict=False).is_in(codes).sum()) > MOSTLY * len(values)

    def _rare_cells(self, name: str, values: pl.DataFrame, *, untouched: bool) -> tuple[int, pl.Series]:
        """How many released cells hold a rare value, and the rare values (as texts, where they are looked for)."""
        import narwhals as nw
        import polars as pl

        engine, person = self.original.engine, self.original.schema.person
        whole = untouched and len(self.released) == len(self.original)
        if whole and person is None:  # the released column is the original one
            rare = values.filter(pl.col(ROWS) < FEW)
            return int(rare[ROWS].sum()), rare[name]
        if self.original.memory() is None and self.original.counts.knows([name], rows_only=False):
            values_held = self.original.count([name])
            few_hold = values_held.filter(values_held.persons < FEW)
            rare = _as_texts(few_hold.cells.with_columns(pl.Series(ROWS, few_hold.rows)).drop_nulls(name), name)
        else:
            keys = dict.fromkeys([name] if person is None else [name, person])
            frame = nw.from_native(self.original.rows.frame).select(*keys).filter(~nw.col(name).is_null())
            counted = nw.from_native(engine.histogram(frame.to_native(), [name], person=person))
            few = counted.filter(nw.col(PERSONS if person else ROWS) < FEW)
            text = as_text(name, few.collect_schema()[name]).alias(name)
            rare = engine.collect(few.select(text, nw.col(ROWS)).to_native())
        if whole:
            return int(rare[ROWS].sum() or 0), rare[name]
        shared = pl.col(ROWS) >= rows_of(self.original, FEW)  # a rounded value is rare no longer
        held = _as_texts(values.filter(~shared), name).join(rare.select(name), on=name, how="semi")
        return int(held[ROWS].sum()), rare[name]

    def _has_tolerance(self, name: str) -> bool:
        """Whether a column is compared as numbers: they are decimals before or after, or have a wide range."""
        sides = [table.engine.types(table.rows.frame)[name] for table in (self.original, self.released)]
        whole = all(side.is_integer() for side in sides)
        return all(side.is_numeric() for side in sides) and (not whole or is_wide(self.original, name))

    def _own_numbers(self, name: str) -> int:
        """How many records hold the number that they had, once it is rounded as the original column is."""
        import narwhals as nw

        def cells(table: Table, alias: str) -> Any:
            frame = nw.from_native(table.identified().rows.frame)
            return frame.select(nw.col(RECORD), nw.col(name).cast(nw.Float64).alias(alias)).drop_nulls()

        both = cells(self.released, "after").join(cells(self.original, "before"), on=[RECORD], how="inner")
        near = same_numbers(self.original, name, nw.col("before"), nw.col("after"))
        return self.released.engine.rows(both.filter(near).to_native())

    def _own(self, name: str) -> int:
        """How many records hold the value that they had: a step that may overwrite a column need not do so."""
        import narwhals as nw

        if self.released.family is not self.original.family:
            return 0
        if self._has_tolerance(name):
            return self._own_numbers(name)
        pairs = paired_counts(self.original, self.released, [name])
        if pairs is not None and name not in pairs.changed:
            return int(self.released.tally(name).drop_nulls(name)[ROWS].sum())
        if pairs is not None:
            present = pairs.before.column(name).masked[pairs.kept] >= 0
            return int(pairs.rows[pairs.unchanged(name) & present].sum())

        def cells(table: Table) -> Any:
            frame = nw.from_native(table.identified().rows.frame)
            text = as_text(name, frame.collect_schema()[name]).alias(name)
            return frame.select(nw.col(RECORD), text).drop_nulls()

        same = cells(self.released).join(cells(self.original), on=[RECORD, name], how="semi")
        return self.released.engine.rows(same.to_native())  # where the rows are

    def _labels(self, name: str, values: pl.DataFrame, rare: pl.Series) -> int:
        """How many cells hold a set or a range of texts whose ends or members are rare values."""
        import polars as pl

        if values[name].dtype != pl.String:
            return 0
        labelled = values.filter(pl.col(name).str.contains(r"^[\[({].*(?:,| \.\. )"))
        rare_values = set(rare.to_list())
        telling = [bool(rare_values.intersection(_parts(label))) for label in labelled[name].to_list()]
        return int(labelled[ROWS].filter(pl.Series(telling, dtype=pl.Boolean)).sum())

    def copied_records(self) -> Iterator[Sighting]:
        """Synthetic records most of which repeat a record that only one person of the original has."""
        copies = count_copies(self.original, self.released, self.formal)
        if copies is None or not copies.are_many:
            return
        names = [name for name in self.released.names if name not in self.formal]
        column = max(names, key=lambda name: len(self.released.tally(name)))
        advice = "the synthesis repeats its input: use larger leaves or strata, fewer columns, or smoothing"
        what = "together with the other columns a record that only one person of the original has"
        yield Sighting(column, what, copies.records, copies.of, certain=True, advice=advice, unit="records")

    def _derived(self, name: str, filled: int) -> Iterator[Sighting]:
        """A column that follows from what steps changed but for a few cells, and shows it more finely than released."""
        released, original = self.released, self.original
        if released.schema[name].roles != {Role.INSENSITIVE} or released.family is not original.family:
            return
        if len(original) < SMALL_FILE:
            return
        kept = name not in self.overwritten or (self._has_tolerance(name) and self._own(name) >= NEARLY_ALL * filled)
        source = original if kept else released
        shown = released if name not in self.overwritten else source
        for keys in self._predictors(name):
            filled_cells, deviating = self._count_deviations(original, keys, source, name)
            if filled_cells < MOSTLY * self._records(keys) or deviating > DEVIATING * filled_cells:
                continue
            _, left_open = self._count_deviations(released, keys, shown, name)
            if left_open > FINER * deviating:
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
        """Changed columns of numbers whose order a column of numbers keeps, and that the release shows less finely."""
        from celosia.kernels.statistics.rank_order import explained_order

        original, released = self.original, self.released
        if name in self.overwritten or original.memory() is None or released.memory() is None:
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
            own = 1 - explained_order(original.column(key)[rows[::step]], cells)
            if own <= CLOSE and 1 - explained_order(released.column(key).gather_every(step), cells) > FINER * own:
                yield key

    def _predictors(self, name: str) -> Iterator[list[str]]:
        """Quasi-identifiers and sensitive columns that steps changed, each alone, then with another quasi-identifier.

        Not those of which hardly two people share a value: they predict every column. Pairs where rows are in memory.
        """
        schema, original = self.released.schema, self.original
        quasi = [key for key in schema.quasi if key in original.schema and key != name]
        changed = [key for key in (*quasi, *schema.sensitive) if key in self.overwritten and key in original.schema]
        alone = [key for key in changed if key != name and self._is_shared(key)]
        yield from ([key] for key in alone)
        if original.memory() is not None and self.released.memory() is not None:
            pairs = [[key, other] for key in alone for other in quasi if other != key and self._is_shared(other)]
            different = {frozenset(pair): pair for pair in reversed(pairs)}
            yield from (pair for pair in reversed(different.values()) if len(different) <= MOST_PAIRS)

    def _records(self, keys: list[str]) -> int:
        """How many records of the original are compared."""
        step = 1 if len(keys) == 1 else max(1, len(self.released) // SAMPLED)
        return len(self.original) // step

    def _is_shared(self, key: str) -> bool:
        """Whether the values of a column are few enough for several people to have each."""
        original = self.original

        def count() -> int:
            if original.memory() is None and original.afar(key):
                return len(original)
            return len(original.tally(key))

        return bool(original.cached(("guard values", key), count) <= MOSTLY * original.classes.total)

    def _count_deviations(self, whose: Table, keys: list[str], source: Table, name: str) -> tuple[int, int]:
        """Count filled cells of records that share their values of ``keys``, and those that deviate from the majority.

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
        held = counted.group_by(*names).agg(nw.col(ROWS).sum().alias("all"), nw.col(ROWS).max().alias("top"))
        agree = nw.when(2 * nw.col("top") > nw.col("all") + 1).then(nw.col("top")).otherwise(0)
        sums = held.filter(nw.col("all") > 1).select(nw.col("all").sum(), agree.sum().alias("agree")).to_native()
        filled_cells, predicted = (sums if isinstance(sums, pl.DataFrame) else whose.engine.collect(sums)).row(0)
        return int(filled_cells or 0), int(filled_cells or 0) - int(predicted or 0)

    def _joint_counts(self, whose: Table, keys: list[str], source: Table, name: str) -> Any:
        """Combinations of columns of one table and a column of another, paired by record, with their rows."""
        import narwhals as nw
        import polars as pl

        if whose.memory() is not None and source.memory() is not None:
            step = 1 if len(keys) == 1 else max(1, len(self.released) // SAMPLED)  # there may be many pairs
            rows = positions(self.original, self.released)[::step]
            sides = (*((whose, key) for key in keys), (source, name))
            columns = [
                side.column(n).gather_every(step) if side is self.released else side.column(n)[rows]
                for side, n in sides
            ]
            return pl.DataFrame(columns).group_by(*keys, name).agg(pl.len().alias(ROWS))
        if whose is source and not (whose.schema.person or whose.afar(name)):
            counted = whose.count([*keys, name], rows_only=True)
            return counted.cells.with_columns(pl.Series(ROWS, counted.rows))
        if whose is source:
            return whose.engine.histogram(whose.rows.frame, [*keys, name])
        before, cells = (nw.from_native(table.identified().rows.frame) for table in (whose, source))
        paired = before.select(RECORD, *keys).join(cells.select(RECORD, name), on=[RECORD], how="inner")
        return whose.engine.histogram(paired.to_native(), [*keys, name])

    def _with_quasi(self, name: str, filled: int) -> Iterator[Sighting]:
        """A column that is declared harmless, and singles records out together with the quasi-identifiers."""
        import narwhals as nw

        schema, engine = self.released.schema, self.released.engine
        quasi = [key for key in schema.quasi if key != name]
        if not quasi or schema[name].roles != {Role.INSENSITIVE} or len(self.original) < SMALL_FILE:
            return

        def single(keys: list[str]) -> int:
            if self.released.memory() is None and schema.person is None and not self.released.afar(name):
                return int((self.released.count(keys, rows_only=True).rows == 1).sum())
            counted = nw.from_native(engine.histogram(self.released.rows.frame, keys))
            return engine.rows(counted.filter(nw.col(ROWS) == 1).to_native())

        before = self.released.cached(("guard", *quasi), lambda: single(quasi))
        more = single([*quasi, name]) - before
        if more >= TOGETHER * filled:
            what = "values that single a record out together with the quasi-identifiers"
            yield Sighting(name, what, more, filled, certain=False, advice=f"declare it quasi; {COARSER}")


def _rare_in(table: Table, name: str) -> int:
    """How many cells of a column hold a value that fewer than ``FEW`` persons hold."""
    return rare_afar(table, table, name, FEW, untouched=True)


def number_form(values: pl.Series) -> Pattern | None:
    """The form of identifiers that most whole numbers of one length have; None when there is none.

    Numbers of each length are judged by themselves, so that other numbers in the column hide nothing.
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


def _is_weight(table: Table, name: str) -> bool:
    return Role.WEIGHT in table.schema[name].roles


def _parts(label: str) -> tuple[str, ...]:
    """The raw values that a label names."""
    cell = parse(label)
    if isinstance(cell, OneOf):
        return tuple(cell.members)
    return (str(cell.low), str(cell.high)) if isinstance(cell, Interval) and cell.textual else ()


def _as_texts(counted: pl.DataFrame, name: str) -> pl.DataFrame:
    """Values with their numbers of rows, the values as texts."""
    import narwhals as nw

    frame = nw.from_native(counted)
    return frame.select(as_text(name, frame.collect_schema()[name]).alias(name), nw.col(ROWS)).to_native()


def _several(what: str) -> str:
    """What was found, in the plural."""
    if what == NAMES:
        return "names of persons"
    return {"hash of an identifier": "hashes of identifiers"}.get(what, f"what looks like: {what}")
