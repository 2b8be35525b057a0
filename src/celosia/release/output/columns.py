"""What leaves: which columns and in which order. Every file of records that is written as a release is decided here.

A column leaves when it is declared and names nobody, when a step made it, or when it is kept on purpose. A column that
names somebody (an identifier, the id of a person or a household) leaves only when a step declares to overwrite it and
none of its cells holds a value of the original column: that is counted, not believed. A column of free text leaves only
when a step overwrites it. Then the guard looks at all that is about to leave.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from celosia.classes import Rows
from celosia.data.engines.engine import as_text
from celosia.data.schema import NAMING, Kind, Role
from celosia.errors import OutputError, UnknownName
from celosia.parts import Formal, identity
from celosia.release.evidence.certificate import KeptColumn
from celosia.release.output.guard import Sighting, acknowledged, inspect, stop

if TYPE_CHECKING:
    import polars as pl

    from celosia.parts import Method
    from celosia.streams import Stream
    from celosia.table import Table


@dataclass(frozen=True, eq=False)
class Leaving:
    """A table as it may leave, and what was decided about its columns."""

    original: Table
    table: Table
    methods: tuple[Method, ...]
    left_out: Mapping[str, str]
    """Columns that stay behind, and what they are: a role that names somebody, or undeclared."""
    kept: tuple[KeptColumn, ...]
    """Columns that are released only because the owner keeps them on purpose."""
    sightings: tuple[Sighting, ...] = ()
    """What the guard has seen in the columns that leave."""


def releasable(
    original: Table,
    protected: Table,
    methods: Sequence[Method],
    keep: Collection[str] = (),
    *,
    keeping: str = "output.columns",
    acknowledge: Mapping[str, str] | None = None,
    changed: Collection[str] = (),
) -> Leaving:
    """The protected table, and the further tables of its steps, without the columns that must not leave.

    ``keep`` names columns that leave in any case, on the word of the owner; ``keeping`` is where the owner says so.
    ``acknowledge`` gives the owner's reason, by column, why something that the guard sees may leave; ``changed`` names
    columns that were overwritten by something that is no step. Refuses a column that names somebody when a step
    overwrites it and original values are left in it, and what the guard is sure of.
    """
    for name in keep:
        if name not in protected.schema:
            raise UnknownName.of("column", name, protected.names, f"({keeping})")
    choice = _Choice(original, frozenset(keep), overwritten(original, methods), keeping)
    left_out = choice.left_out(protected)
    if len(left_out) == len(protected.names):
        raise OutputError(f"no column is left to release: give the columns roles, or name those to keep ({keeping}).")
    secrets = tuple({**secret, **choice.further(secret)} for secret in protected.secrets)
    kept = [choice.kept(protected, name) for name in protected.names if name in keep and choice.doubted(name)]
    reasons = {name: choice.nature(name) for name in left_out}
    table = replace(protected.drop(left_out), secrets=secrets)
    sightings = _guarded(original, table, methods, keep, acknowledge, keeping, changed)
    return Leaving(original, table, tuple(methods), reasons, tuple(kept), sightings)


def _guarded(
    original: Table,
    table: Table,
    methods: Sequence[Method],
    keep: Collection[str],
    acknowledge: Mapping[str, str] | None,
    keeping: str,
    changed: Collection[str],
) -> tuple[Sighting, ...]:
    """What the guard sees in all that leaves; what it is certain about stops the release."""
    reasons = dict.fromkeys(keep, f"kept on purpose ({keeping})") | acknowledged(
        [*original.names, *table.names], acknowledge or {}
    )
    formal = formal_columns(original, table, methods)
    rewritten = overwritten(original, methods) | frozenset(changed)
    leaving = (table, *further_tables(table).values())
    seen = [s for each in leaving for s in inspect(original, each, rewritten, reasons, formal=formal)]
    sightings = tuple({(s.column, s.what): s for s in reversed(seen)}.values())[::-1]  # a further copy adds nothing
    stop(sightings, keeping if acknowledge is None else '[guard] acknowledge = {"the column" = "the reason"}')
    return sightings


def arranged(leaving: Leaving, order: str, stream: Stream) -> Table:
    """The table with its records as they are written: ``shuffled`` by the stream, or ``kept`` as they came in.

    Further tables of original records are shuffled too, each in its own way. Other methods or columns give another
    order under the same seed: two releases must not be put side by side.
    """
    table, engine = leaving.table, leaving.table.engine
    if order == "kept":
        return table.arranged(engine.ordered(table.rows.frame))
    stream = order_stream(leaving, stream)
    secrets = tuple({**secret, **_shuffled(leaving.original, secret, stream)} for secret in table.secrets)
    return replace(table.shuffled(stream, _domains(table)), secrets=secrets)


def order_stream(leaving: Leaving, stream: Stream) -> Stream:
    """The stream that the order of the records comes from."""
    return stream.child("output", *map(identity, leaving.methods), *leaving.table.names)


def _domains(table: Table) -> dict[str, pl.Series]:
    """The values of the columns of text of a table that is not in memory, as the guard has counted them."""
    import polars as pl

    if table.memory() is not None or not table.engine.local:
        return {}
    types = table.polars_types()
    return {name: table.tally(name)[name] for name in table.names if types[name] == pl.String}


def further_tables(table: Table) -> dict[str, Table]:
    """Tables that steps made besides the main one: the second table of an anatomy, further copies of a synthesis."""
    return {name: other for secret in table.secrets for name, other in secret.get("tables", {}).items()}


def with_further_tables(table: Table, further: Mapping[str, Table]) -> Table:
    """Return the table with others in place of its further tables of these names."""
    if not further:
        return table
    secrets = [
        {**secret, "tables": {name: further.get(name, other) for name, other in secret["tables"].items()}}
        if "tables" in secret
        else secret
        for secret in table.secrets
    ]
    return replace(table, secrets=tuple(secrets))


@dataclass(frozen=True)
class _Choice:
    """Which columns leave, for the main table and the further ones alike."""

    original: Table
    keep: frozenset[str]
    overwritten: frozenset[str]
    keeping: str

    def left_out(self, table: Table) -> list[str]:
        doubted = [name for name in table.names if name not in self.keep and self.doubted(name)]
        return [name for name in doubted if self._stays(table, name)]

    def doubted(self, name: str) -> bool:
        """Whether a column of the original names somebody or is not declared; a column that a step made is neither."""
        return name in self.original.schema and bool(self.nature(name))

    def nature(self, name: str) -> str:
        """The role by which a column names somebody, or that it has none; empty when neither."""
        column = self.original.schema[name]
        if column.kind == Kind.TEXT:
            return "free text"
        if column.roles == {Role.STRATUM}:
            return str(Role.STRATUM)
        role_name = next((str(role) for role in Role if role in column.roles & NAMING), "")
        return role_name if column.declared else "undeclared"

    def further(self, secret: Mapping[str, Any]) -> dict[str, Any]:
        """The further tables of a step without the columns that must not leave."""
        tables = secret.get("tables", {})
        return {"tables": {name: other.drop(self.left_out(other)) for name, other in tables.items()}} if tables else {}

    def kept(self, table: Table, name: str) -> KeptColumn:
        """Return a column that is kept on purpose as a certificate states it.

        It states no number of cells, which a formal guarantee would not cover.
        """
        original, filled = _count_original_values(self.original, table, name)
        amount: Literal["none", "some", "all"] = "none" if not original else "all" if original == filled else "some"
        return KeptColumn(column=name, what=self.nature(name), values_of_original=amount)

    def _stays(self, table: Table, name: str) -> bool:
        if self.original.schema[name].kind == Kind.TEXT:
            return name not in self.overwritten
        if name not in self.overwritten or not self.original.schema[name].roles & NAMING:
            return True
        held, filled = _count_original_values(self.original, table, name)
        if held:
            raise OutputError(
                f"{self.nature(name)} column {name!r}: {held} of {filled} cells still hold a value of the original "
                "column, though a step overwrites it. Overwrite all of them (pseudonymise, mask), drop the column, "
                f"or keep it on purpose ({self.keeping})."
            )
        if all(side.engine.types(side.rows.frame)[name].is_numeric() for side in (self.original, table)):
            raise OutputError(
                f"{self.nature(name)} column {name!r}: a step computes numbers from its numbers, and a mean "
                "of a few of them still identifies people. Replace them (pseudonymise, mask), drop the column, or keep "
                f"it on purpose ({self.keeping})."
            )
        return False


def formal_columns(original: Table, table: Table, methods: Sequence[Method]) -> frozenset[str]:
    """The released columns that a formal guarantee covers: all of them where a formal method makes the records."""
    covering = [method for method in methods if isinstance(method, Formal)]
    if any(method.rows != "same" for method in covering):
        return frozenset(table.names)
    return frozenset(name for method in covering for name in method.overwrites(original.schema))


def overwritten(original: Table, methods: Sequence[Method]) -> frozenset[str]:
    """The columns that steps declare to overwrite."""
    return frozenset(name for method in methods for name in method.overwrites(original.schema))


def _count_original_values(original: Table, protected: Table, name: str) -> tuple[int, int]:
    """How many cells of a column hold a value that the original column has, and how many hold any value.

    Values are compared wherever they stand: an identifier that was moved to another record still names somebody.
    """
    import narwhals as nw

    def text(table: Table) -> Any:
        frame = nw.from_native(table.rows.frame)
        return frame.select(as_text(name, frame.collect_schema()[name]).alias(name)).drop_nulls().to_native()

    engine = protected.engine
    original_values = original.engine.bounded(nw.from_native(text(original)).unique().to_native())
    cells = text(protected)
    return engine.rows(engine.attach(cells, original_values, [name], keep_unmatched=False)), engine.rows(cells)


def _shuffled(original: Table, secret: Mapping[str, Any], stream: Stream) -> dict[str, Any]:
    """The further tables of a step, those of original records in an order of their own."""
    tables = dict(secret.get("tables", {}))
    for name, other in tables.items():
        if other.family is original.family:
            engine = other.engine
            moved = engine.select(engine.shuffle(other.identified().rows.frame, stream.child(name)), other.names)
            rows = Rows(engine, engine.identify(engine.materialised(moved)), other.schema)
            tables[name] = replace(other, rows=rows, family=object(), lineage=None, _cache={})
    return {"tables": tables} if tables else {}
