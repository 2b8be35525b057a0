"""Result of a query with the owner of each row, in a fixed order, as a table without identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celosia.consent.sql.elements import ANY, Columns, Elements, parse_query, same_table
from celosia.data.credentials import is_reference, resolve_reference
from celosia.data.pure_functions import refuse_escaped
from celosia.data.quiet import silence
from celosia.data.schema import Schema
from celosia.errors import DataError, ParameterError, UnknownName, explain_failures
from celosia.table.derive import with_record_ids

if TYPE_CHECKING:
    import polars as pl
    from sqlglot import exp

    from celosia.table import Table

OWNER = "celosia_owner"
"""Name of an owner column that is added to a query."""
DIALECT_OF = {"postgresql": "postgres"} | {name: name for name in ("postgres", "sqlite", "duckdb", "mysql")}


def with_owner(sql: str, owner: str, dialect: str, query: Elements) -> tuple[str, str]:
    """Return the query with its owner column, and the name of that column in the result.

    >>> from celosia.consent.sql.lineage import elements
    >>> sql = "SELECT e.town FROM student e"
    >>> with_owner(sql, "student.card", "postgres", elements(sql))
    ('SELECT e.town, e.card AS celosia_owner FROM student AS e', 'celosia_owner')
    """
    from sqlglot import exp

    table, _, name = owner.rpartition(".")
    for output in query.outputs:
        if output.name.casefold() == owner.casefold():
            return sql, output.name
        if table and any(f == name.casefold() and same_table(t, table) for t, f in output.same):
            return sql, output.name
    if not table:
        raise UnknownName.of(
            "owner column", owner, [o.name for o in query.outputs], "Give it as table.field to add it."
        )
    tree = parse_query(sql, dialect).copy()
    if not isinstance(tree, exp.Select) or tree.args.get("group") or tree.args.get("distinct") or _aggregates_all(tree):
        raise DataError(
            "the rows of the query have no single owner (it groups, merges or unites rows); name the owner in it."
        )
    sources = [s.this for s in (tree.args.get("from_") or tree.args.get("from"), *(tree.args.get("joins") or ())) if s]
    for source in sources:
        if isinstance(source, exp.Table) and same_table(".".join(p.name for p in source.parts), table):
            column = exp.column(name, table=source.alias_or_name)
            return tree.select(exp.alias_(column, OWNER), copy=False).sql(dialect=dialect), OWNER
    raise DataError(f"the query does not read the table {table!r} that holds the owner. Join it, or name the owner.")


def _aggregates_all(tree: exp.Select) -> bool:
    """Return whether the columns are aggregates over all rows."""
    from sqlglot import exp

    aggregates = (node for column in tree.expressions for node in column.find_all(exp.AggFunc))
    return any(node.find_ancestor(exp.Window, exp.Select) is tree for node in aggregates)


def known_columns(source: str | pl.DataFrame | None, sql: str, dialect: str) -> Columns:
    """Return the columns of the tables of a query from the catalogue of the database; the query is not run."""
    if not isinstance(source, str):
        return {}
    from sqlglot import exp

    from celosia.data.io.database import table_columns

    names = {".".join(part.name for part in table.parts) for table in parse_query(sql, dialect).find_all(exp.Table)}
    return table_columns(source, sorted(name for name in names if name))


def dialect_of(source: str | pl.DataFrame) -> str:
    """Return the dialect of a database; that of PostgreSQL for a frame."""
    if not isinstance(source, str):
        return "postgres"
    name = resolve_reference(source).split(":", 1)[0].split("+", 1)[0]
    if name not in DIALECT_OF:
        url = source if is_reference(source) else f"a {name!r} URL"
        raise ParameterError(f"state the dialect of the query: it does not follow from {url}.")
    return DIALECT_OF[name]


def translate_query(sql: str, dialect: str, native: str) -> str:
    """Return the parsed query in the dialect of the database: only this text is run.

    >>> translate_query("SELECT a /* x */ FROM t", "oracle", "postgres")
    'SELECT a FROM t'
    """
    refuse_escaped(sql)
    with silence():
        text = parse_query(sql, dialect).sql(dialect=native, comments=False, normalize_functions=False)
        again = parse_query(text, native).sql(dialect=native, comments=False, normalize_functions=False)
    if text != again:
        raise DataError(f"the query cannot be written in {native} SQL without a change. Write it plainer.")
    return text


def fetch(source: str | pl.DataFrame, sql: str) -> pl.DataFrame:
    """Run the query and return its result, sorted; a frame is returned unchanged.

    A database returns rows in any order, and random numbers are drawn by position: sorting makes the release
    reproducible.
    """
    if not isinstance(source, str):
        return source
    from celosia.data.io.database import scan

    scanned = scan(source, query=sql).frame
    with explain_failures():
        frame: pl.DataFrame = scanned.pl() if hasattr(scanned, "pl") else scanned.collect()
    if not len(frame):
        raise DataError("the query has no records.")
    names = _sortable_columns(frame)
    return frame.sort(names) if names else frame


def refuse_other_columns(frame: pl.DataFrame, query: Elements, added: int) -> None:
    """Raise if the result has other columns than the parsed query."""
    names = [output.name.casefold() for output in query.outputs]
    given = [name.casefold() for name in frame.columns]
    named = [name for name in names if not name.startswith("column_")]
    if len(given) != len(names) + added or not set(named) <= set(given):
        raise DataError("the result has other columns than the query names. Write each column, with a name by AS.")


def column_of(frame: pl.DataFrame, name: str) -> str:
    """Return the column with a name in any case, since databases fold names differently."""
    if name in frame.columns:
        return name
    alike = [c for c in frame.columns if c.casefold() == name.casefold()]
    if not alike:
        raise UnknownName.of("column", name, frame.columns)
    return alike[0]


def columns_of(frame: pl.DataFrame, query: Elements, names: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of the result for output columns of the query: by name, else by position.

    ``*`` of an unknown table means every column that the query does not name.
    """
    output_names = [output.name for output in query.outputs]
    columns: dict[str, None] = {}
    for name in names:
        if name == ANY:
            named = {other.casefold() for other in output_names}
            columns |= dict.fromkeys(column for column in frame.columns if column.casefold() not in named)
        elif name.casefold() not in {column.casefold() for column in frame.columns} and ANY not in output_names:
            columns[frame.columns[output_names.index(name)]] = None
        else:
            columns[column_of(frame, name)] = None
    return tuple(columns)


def table_of(
    frame: pl.DataFrame,
    owners: pl.Series,
    *,
    owner: str,
    identifiers: Sequence[str],
    quasi: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Any],
) -> Table:
    """Return the result as a table without identifiers, with owners as persons."""
    import polars as pl

    from celosia.table import read

    dropped = {owner, *(column_of(frame, name) for name in identifiers)}
    records = frame.drop(dropped, strict=False)
    for name in set(records.columns) - set(_sortable_columns(records)):
        raise DataError(f"column {name!r} holds lists or bytes: turn it into text in the query, or leave it out.")
    records = records.with_columns(owners.alias(OWNER))
    # a row without an owner is a person of its own
    records = records.with_columns(
        pl.when(pl.col(OWNER).is_null())
        .then(pl.concat_str(pl.lit("\x00"), pl.int_range(pl.len())))
        .otherwise(pl.col(OWNER))
        .alias(OWNER)
    )
    quasi = [column_of(records, name) for name in quasi]
    sensitive = [column_of(records, name) for name in sensitive]
    rest = records.drop([*quasi, *sensitive, OWNER])
    _refuse_names(rest)
    several = records[OWNER].n_unique() < len(records)
    schema = Schema.of(
        quasi=quasi,
        sensitive=sensitive,
        insensitive=rest.columns,  # the query names them
        person=OWNER if several else None,
        identifiers=() if several else (OWNER,),
        hierarchies=hierarchies,
    )
    return with_record_ids(read(records, schema))


def _refuse_names(frame: pl.DataFrame) -> None:
    """Raise if a text column without a role differs in every row: it may name people."""
    import polars as pl

    for name in frame.columns:
        if frame[name].dtype == pl.String and len(frame) >= 20 and frame[name].n_unique() == len(frame):
            raise DataError(
                f"column {name!r} has another text in every row, as names and numbers of people do. List it under "
                "identifiers, which are left out, or under sensitive if it must be published."
            )


def _sortable_columns(frame: pl.DataFrame) -> list[str]:
    """Return the columns that can be sorted and written as text."""
    import polars as pl

    return [name for name, dtype in frame.schema.items() if not (dtype.is_nested() or dtype in (pl.Binary, pl.Object))]
