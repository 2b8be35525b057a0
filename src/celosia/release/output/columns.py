"""Selection of output columns and order of output records, for every file of records that is part of a release.

A column is released if it is declared and names no person, if a step made it, or if the data owner keeps it on purpose.
A column that names a person (an identifier, the id of a person or a household) is released only if a step declares to
overwrite it and no cell is left with a value of the original column, which is counted here. The same holds for a column
of free text that no step redacts. Then the guard checks all released columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from celosia.classes import Rows
from celosia.data.engines.lazy_frames import as_text, select_columns, sort_by_record
from celosia.data.schema import NAMING, Kind, Role
from celosia.errors import OutputError, UnknownName
from celosia.parts import Formal, identity
from celosia.release.evidence.certificate import KeptColumn
from celosia.release.output.column_profile import Frame
from celosia.release.output.guard import check_reasons, inspect, refuse_certain
from celosia.release.output.rarity import fold_text, is_almost_unchanged
from celosia.release.output.sighting import Sighting
from celosia.table.columns import column_types, count_values
from celosia.table.derive import with_provenance, with_record_ids
from celosia.table.materialise import reorder, shuffle

if TYPE_CHECKING:
    import polars as pl

    from celosia.parts import Method
    from celosia.streams import Stream
    from celosia.table import Table


@dataclass(frozen=True, eq=False)
class OutputTable:
    """Table with the columns that may be released, and the decisions about all columns."""

    original: Table
    table: Table
    methods: tuple[Method, ...]
    left_out: Mapping[str, str]
    """Columns that are not released, each with the reason: an identifying role, free text or undeclared."""
    kept: tuple[KeptColumn, ...]
    """Columns that are released only because the data owner keeps them on purpose."""
    sightings: tuple[Sighting, ...] = ()
    """Findings of the guard in the released columns."""


def select_output(
    original: Table,
    protected: Table,
    methods: Sequence[Method],
    keep: Collection[str] = (),
    *,
    keeping: str = "output.columns",
    acknowledge: Mapping[str, str] | None = None,
    changed: Collection[str] = (),
) -> OutputTable:
    """Drop the columns that must not be released from the protected table and from the further tables of its steps.

    ``keep`` names columns that the data owner releases in any case, ``keeping`` the option that lists them.
    ``acknowledge`` maps columns to the owner's reason to release them despite what the guard finds; ``changed`` names
    columns that were overwritten outside of steps. Raises if a step overwrites an identifying column but leaves
    original values in it, and if the guard has a certain finding.
    """
    for name in keep:
        if name not in protected.schema:
            raise UnknownName.of("column", name, protected.names, f"({keeping})")
    redacted = overwritten_columns(original, [method for method in methods if method.redacts])
    choice = _Choice(original, frozenset(keep), overwritten_columns(original, methods), redacted, keeping)
    left_out = choice.left_out(protected)
    if len(left_out) == len(protected.names):
        raise OutputError(f"no column is left to release: give the columns roles, or name those to keep ({keeping}).")
    secrets = tuple({**secret, **choice.further(secret)} for secret in protected.private_history)
    kept = [choice.describe_kept(protected, name) for name in protected.names if name in keep and choice.reason(name)]
    reasons = {name: choice.reason(name) for name in left_out}
    table = with_provenance(protected.drop(left_out), private_history=secrets)
    sightings = _run_guard(original, table, methods, keep, acknowledge, keeping, changed)
    return OutputTable(original, table, tuple(methods), reasons, tuple(kept), sightings)


def _run_guard(
    original: Table,
    table: Table,
    methods: Sequence[Method],
    keep: Collection[str],
    acknowledge: Mapping[str, str] | None,
    keeping: str,
    changed: Collection[str],
) -> tuple[Sighting, ...]:
    """Return the guard's findings in the main table and the further ones; raise if one stops the release."""
    reasons = dict.fromkeys(keep, f"kept on purpose ({keeping})") | check_reasons(
        [*original.names, *table.names], acknowledge or {}
    )
    formal = formal_columns(original, table, methods)
    rewritten = overwritten_columns(original, methods) | frozenset(changed)
    tables = (table, *further_tables(table).values())
    selected = [s for each in tables for s in inspect(original, each, rewritten, reasons, formal=formal)]
    sightings = tuple({(s.column, s.what): s for s in reversed(selected)}.values())[::-1]  # one per column and finding
    refuse_certain(sightings, keeping if acknowledge is None else '[guard] acknowledge = {"the column" = "the reason"}')
    return sightings


def order_records(output: OutputTable, order: str, stream: Stream) -> Table:
    """Return the table with its records in output order: ``shuffled`` by the stream, or ``kept`` as in the input.

    Further tables of original records are shuffled too, each by its own stream. Other methods or columns give another
    order under the same seed, so that two releases cannot be joined by position.
    """
    table = output.table
    if order == "kept":
        return reorder(table, sort_by_record(table.rows.frame))
    stream = order_stream(output, stream)
    secrets = tuple({**secret, **_shuffle_tables(output.original, secret, stream)} for secret in table.private_history)
    return with_provenance(shuffle(table, stream, lambda: _domains(table)), private_history=secrets)


def order_stream(output: OutputTable, stream: Stream) -> Stream:
    """Random stream of the order of the records."""
    return stream.child("output", *map(identity, output.methods), *output.table.names)


def _domains(table: Table) -> dict[str, pl.Series]:
    """Values of the text columns of a table that is not in memory, as the guard has counted them."""
    import polars as pl

    if table.counts.frame is not None:
        return {}
    types = column_types(table)
    return {name: count_values(table, name)[name] for name in table.names if types[name] == pl.String}


def further_tables(table: Table) -> dict[str, Table]:
    """Tables that steps made in addition to the main one: the second table of an anatomy, copies of a synthesis."""
    return {name: other for secret in table.private_history for name, other in secret.get("tables", {}).items()}


def with_further_tables(table: Table, further: Mapping[str, Table]) -> Table:
    """Return the table with its further tables replaced by name."""
    if not further:
        return table
    secrets = [
        {**secret, "tables": {name: further.get(name, other) for name, other in secret["tables"].items()}}
        if "tables" in secret
        else secret
        for secret in table.private_history
    ]
    return with_provenance(table, private_history=tuple(secrets))


@dataclass(frozen=True)
class _Choice:
    """Rules for selecting columns, the same for the main table and the further ones."""

    original: Table
    keep: frozenset[str]
    overwritten: frozenset[str]
    redacted: frozenset[str]
    keeping: str

    def left_out(self, table: Table) -> list[str]:
        names = [name for name in table.names if name not in self.keep and self.reason(name)]
        return [name for name in names if self._is_withheld(table, name)]

    def reason(self, name: str) -> str:
        """Reason not to release a column: an identifying role, free text or "undeclared"; empty if there is none."""
        if name not in self.original.schema:  # a step made it
            return ""
        column = self.original.schema[name]
        if column.kind == Kind.TEXT:
            return "free text"
        if column.roles == {Role.STRATUM}:
            return str(Role.STRATUM)
        role_name = next((str(role) for role in Role if role in column.roles & NAMING), "")
        return role_name if column.declared else "undeclared"

    def further(self, secret: Mapping[str, Any]) -> dict[str, Any]:
        """Further tables of a step, without the columns that must not be released."""
        tables = secret.get("tables", {})
        return {"tables": {name: other.drop(self.left_out(other)) for name, other in tables.items()}} if tables else {}

    def describe_kept(self, table: Table, name: str) -> KeptColumn:
        """Return the certificate's entry for a column that is kept on purpose.

        It states no number of cells, which a formal guarantee would not cover.
        """
        original, filled = _count_original_values(self.original, table, name)
        amount: Literal["none", "some", "all"] = "none" if not original else "all" if original == filled else "some"
        return KeptColumn(column=name, what=self.reason(name), values_of_original=amount)

    def _is_withheld(self, table: Table, name: str) -> bool:
        if self.original.schema[name].kind == Kind.TEXT and name in self.overwritten:
            return name not in self.redacted and (
                _count_original_values(self.original, table, name)[0] > 0
                or is_almost_unchanged(self.original, table, name)
            )
        if name not in self.overwritten or not self.original.schema[name].roles & NAMING:
            return True
        unchanged, filled = _count_original_values(self.original, table, name)
        if unchanged:
            raise OutputError(
                f"{self.reason(name)} column {name!r}: {unchanged} of {filled} cells still hold a value of the "
                "original column, though a step overwrites it. Overwrite all of them (pseudonymise, mask), drop the "
                f"column, or keep it on purpose ({self.keeping})."
            )
        if is_almost_unchanged(self.original, table, name):
            raise OutputError(
                f"{self.reason(name)} column {name!r}: a step changes few characters of its texts, which "
                "still identify people. Replace them (pseudonymise, mask), drop the column, or keep it on purpose "
                f"({self.keeping})."
            )
        if all(side.rows.types[name].is_numeric() for side in (self.original, table)):
            raise OutputError(
                f"{self.reason(name)} column {name!r}: a step computes numbers from its numbers, and a mean "
                "of a few of them still identifies people. Replace them (pseudonymise, mask), drop the column, or keep "
                f"it on purpose ({self.keeping})."
            )
        return False


def formal_columns(original: Table, table: Table, methods: Sequence[Method]) -> frozenset[str]:
    """Released columns that a formal guarantee covers: all columns if a formal method makes the records."""
    covering = [method for method in methods if isinstance(method, Formal)]
    if any(method.rows != "same" for method in covering):
        return frozenset(table.names)
    return frozenset(name for method in covering for name in method.overwrites(original.schema))


def overwritten_columns(original: Table, methods: Sequence[Method]) -> frozenset[str]:
    """Columns that steps declare to overwrite."""
    return frozenset(name for method in methods for name in method.overwrites(original.schema))


def _count_original_values(original: Table, protected: Table, name: str) -> tuple[int, int]:
    """Count the cells of a column with a value of the original column, and the cells with any value.

    The record does not matter: an identifier that was moved to another record still names a person.
    """
    import narwhals as nw

    def text(table: Table) -> Frame:
        frame = nw.from_native(table.rows.frame)
        dtype = frame.collect_schema()[name]
        texts = not (dtype.is_numeric() or dtype.is_temporal())
        text = as_text(name, dtype)
        return frame.select((fold_text(text) if texts else text).alias(name)).drop_nulls().to_native()

    engine = protected.engine
    original_values = original.engine.collect_bounded(nw.from_native(text(original)).unique().to_native())
    cells = text(protected)
    return engine.rows(engine.attach(cells, original_values, [name], keep_unmatched=False)), engine.rows(cells)


def _shuffle_tables(original: Table, secret: Mapping[str, Any], stream: Stream) -> dict[str, Any]:
    """Shuffle the further tables of a step that contain original records, each by its own stream."""
    tables: dict[str, Table] = dict(secret.get("tables", {}))
    for name, other in tables.items():
        if other.provenance.family is original.provenance.family:
            engine = other.engine
            shuffled = select_columns(
                engine.shuffle(with_record_ids(other).rows.frame, stream.child(name)), other.names
            )
            rows = Rows(engine, engine.identify(engine.materialise(shuffled)), other.schema)
            tables[name] = with_provenance(replace(other, rows=rows, _cache={}), family=object(), lineage=None)
    return {"tables": tables} if tables else {}
