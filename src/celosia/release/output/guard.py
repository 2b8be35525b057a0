"""The guard: checks every released column and label for identifiers, names and rare values before writing.

It checks the cells as they would be written, and reports columns and counts, never values. A *certain* sighting stops
the release; any other is stated in the evidence, with the reason if the data owner acknowledges the column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from celosia.data.engines.lazy_frames import ROWS
from celosia.data.io.text.sniff import DATE
from celosia.data.schema import Kind, Role
from celosia.errors import GuardError, UnknownName
from celosia.hierarchy.values import Interval, OneOf, parse
from celosia.proposals.recognition.names import only_names
from celosia.proposals.recognition.patterns import Pattern, recognise, recognise_alone
from celosia.proposals.recognition.traces import NAMES, STREET, traces_in
from celosia.release.output.column_profile import ONLY_NAMES, TRIED, Amount, ColumnProfile, profile_column
from celosia.release.output.copies import count_copies
from celosia.release.output.derived import SMALL_FILE, DerivedColumns
from celosia.release.output.rarity import (
    FEW,
    count_rare_cells,
    count_unchanged,
    has_tolerance,
    is_almost_unchanged,
    rare_values,
)
from celosia.release.output.sighting import NAME, Sighting
from celosia.table.columns import column_types, count_values, has_many_values

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

NEARLY_ALL = 0.5
"""From this share of rare values on, a numeric or date column identifies like a name."""
ALMOST_UNTOUCHED = 0.95
"""From this share of unchanged cells on, a step that overwrites a column does not count, even if few cells are rare."""
MANY = 0.1
"""From this share of rare values on, a numeric or date column is reported."""
COARSE = 1000
"""Whole numbers within a range of this width (ages, marks, visits) are coarse: rare ones stop no release."""
PUBLIC_NAME = 20
"""A name in a value of at least this many records stops no release: schools and stations are named after people."""
PUBLIC = (NAMES, STREET)
"""What schools and stations have too."""
MOSTLY = 0.5
FEWEST_NAMES = 5
"""Smallest number of distinct values for which cells that are only names make a column of names."""
FEWEST_DIGITS = 7
"""Shorter whole numbers are not tried: a check digit fits some of them by chance."""
LONG, MANY_VALUES = 9, 20
"""Fewest digits and distinct values by which a number without a check digit (a telephone) is recognised."""
WHOLE = 2.0**63
"""Larger numbers do not fit into 64 bits."""
OUT = "leave the column out, or mask or redact it"
COARSER = "generalise, round or group it, or leave it out"


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
    for place, name in enumerate(names):
        if DATE.fullmatch(name):  # the first person of a file without a header, or a wide table by days
            advice = "rename the column"
            yield Sighting(name, "a date", place + 1, len(names), certain=False, advice=advice, unit=NAME)
    if released.origin.facts is None:
        return
    for name in names:
        values = [str(label) for label in released.origin.facts.labels.get(name, {}).values() if label]
        labels = [*values, *filter(None, [released.origin.facts.descriptions.get(name)])]
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
        dtype = self.released.rows.types[name]
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
        was = self.original.rows.types[name]
        whole = dtype.is_integer() or (dtype.is_numeric() and was.is_integer())  # means of whole numbers are as coarse
        coarse = whole and bool(profile.width <= COARSE)
        yield from self._derived.sightings(name, filled)
        rare = self._rare(name, profile, untouched=untouched, coarse=coarse)
        yield from rare
        if not rare:
            yield from self._derived.singling_out(name, filled)

    @cached_property
    def _derived(self) -> DerivedColumns:
        """Check of columns that follow from others."""
        return DerivedColumns(self.original, self.released, self.overwritten, self.formal)

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
        if not nothing_else and profile.is_text:
            plain = profile.without_traces(codes=codes)
            form = recognise(plain.to_list(), len(plain), codes=codes, mixed=MANY_VALUES)
            if form:
                yield self._form(name, form[0], profile, of=profile.count(plain, form[0].test))
        for what, amount in profile.traces():
            if what == NAMES and nothing_else:
                continue
            certain = what not in PUBLIC or amount.least < PUBLIC_NAME
            yield Sighting(name, _plural(what), amount.rows, filled, certain=certain, advice=OUT)

    def _form(
        self, name: str, pattern: Pattern, profile: ColumnProfile, computed: str = "", of: Amount | None = None
    ) -> Sighting:
        """Sighting of a column of one form; certain unless many records share each value (the address of a school)."""
        amount = profile.all if of is None else of
        certain = pattern.checked or amount.least < PUBLIC_NAME
        what = f"{computed}{_plural(pattern.name)}"
        return Sighting(name, what, amount.rows, profile.all.rows, certain=certain, advice=OUT)

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
        if original.rows.types[name].is_numeric() and not is_weight:
            pattern = number_form(profile_column(original, name, untouched=True).numbers(name))
            if pattern is not None and (pattern.checked or not pattern.fewest):
                yield self._form(name, pattern, profile, "numbers computed from ")

    def _rare(self, name: str, profile: ColumnProfile, *, untouched: bool, coarse: bool) -> list[Sighting]:
        """Find original values that fewer than ``FEW`` persons hold in the release, as cells or inside labels."""
        import polars as pl

        original, released = self.original, self.released
        column, filled = original.schema[name], profile.all.rows
        paired = released.provenance.family is original.provenance.family
        exact = untouched and paired and original.schema.person is None  # the released column alone shows the count
        numbers = column.kind in (Kind.NUMERIC, Kind.DATE) and not self._is_code_list(name, profile)
        unchanged = filled if untouched else None
        if not untouched and has_tolerance(original, released, name):
            unchanged = count_unchanged(original, released, name)
        if not untouched and unchanged is not None and unchanged >= NEARLY_ALL * filled:  # rare before and after
            sides = ((original, original), (original, released))
            cells = min(count_rare_cells(*pair, name, untouched=True) for pair in sides)
        elif profile.values is None:
            cells = count_rare_cells(original, released, name, untouched=untouched)
        else:
            rare = rare_values(original, released, name, untouched=untouched, values=profile.values)
            cells = int(rare.to_native()[ROWS].sum())
        share = cells / filled
        if unchanged is None:
            unchanged = count_unchanged(original, released, name) if cells else 0
        kept = unchanged >= (NEARLY_ALL if numbers or share >= MANY else ALMOST_UNTOUCHED) * filled
        redacted = column.kind == Kind.TEXT and not untouched
        large = len(original) >= SMALL_FILE and kept and not redacted and Role.WEIGHT not in column.roles
        what = f"values that fewer than {FEW} persons hold"
        if cells and (not numbers or share >= MANY):
            certain = large and (not numbers or (not coarse and share >= NEARLY_ALL))
            return [Sighting(name, what, cells, filled, certain=certain, advice=COARSER, exact=exact)]
        if (
            not untouched
            and not redacted
            and len(original) >= SMALL_FILE
            and is_almost_unchanged(original, released, name)
        ):
            sides = ((original, original), (original, released))
            cells = min(count_rare_cells(*pair, name, untouched=True) for pair in sides)
            if cells >= MANY * filled:
                what = f"almost unchanged values that fewer than {FEW} persons hold"
                return [Sighting(name, what, cells, filled, certain=True, advice=COARSER, exact=False)]
        if untouched or numbers or profile.values is None or profile.values[name].dtype != pl.String:
            return []
        labels = self._count_labels(name, profile.values)
        inside = f"labels made of values that fewer than {FEW} persons hold"
        return [Sighting(name, inside, labels, filled, certain=False, advice=COARSER, exact=False)] if labels else []

    def _is_code_list(self, name: str, profile: ColumnProfile) -> bool:
        """Whether most values of a numeric column are category codes that have labels."""
        import polars as pl

        labels = {} if self.original.origin.facts is None else self.original.origin.facts.labels.get(name, {})
        codes = [float(code) for code in labels if isinstance(code, int | float)]
        if not codes:
            return False
        values = profile.numbers(name)
        return int(values.cast(pl.Float64, strict=False).is_in(codes).sum()) > MOSTLY * len(values)

    def _count_labels(self, name: str, values: pl.DataFrame) -> int:
        """Count the cells with a set or a range of texts whose members or ends are rare values of the original."""
        import polars as pl

        labelled = values.filter(pl.col(name).str.contains(r"^[\[({].*(?:,| \.\. )"))
        if labelled.is_empty() or has_many_values(self.original, name):
            return 0
        before = count_values(self.original, name)
        rare = rare_values(self.original, self.original, name, untouched=True, values=before)
        held = set(rare.to_native()[name].to_list())
        shows_rare = [bool(held.intersection(_members(label))) for label in labelled[name].to_list()]
        return int(labelled[ROWS].filter(pl.Series(shows_rare, dtype=pl.Boolean)).sum())

    def copied_records(self) -> Iterator[Sighting]:
        """Find a synthesis most of whose records repeat a record that only one person of the original has."""
        syntheses = [secret["made"] for secret in self.released.private_history if "made" in secret]
        released = self.released.names
        pairs = [(self.original, self.released), *syntheses]  # the steps beside a synthesis may hide what it repeats
        counted = (count_copies(before, after, self.formal, released) for before, after in pairs)
        copies = next((each for each in counted if each is not None and each.are_many), None)
        if copies is None:
            return
        names = [name for name in self.released.names if name not in self.formal]
        column = max(names, key=lambda name: len(count_values(self.released, name)))
        advice = "the synthesis repeats its input: use larger leaves or strata, fewer columns, or smoothing"
        what = "together with the other columns a record that only one person of the original has"
        yield Sighting(
            column, what, copies.records, copies.of, certain=True, advice=advice, unit="records", exact=False
        )


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


def _plural(what: str) -> str:
    """Plural of what was found."""
    if what == NAMES:
        return "names of persons"
    return {"hash of an identifier": "hashes of identifiers"}.get(what, f"what looks like: {what}")
