"""Tables that a query may read: base tables, which rules name, and never the tables of the preference store.

A rule names the columns of a base table. A view, a materialised view, a partition, a foreign table or a function shows
the same columns under another name, so that a block would be ignored. Such objects are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from celosia.consent.owners.tables import tables
from celosia.consent.publication.result import dialect_of
from celosia.consent.sql.elements import parsed
from celosia.data.credentials import address
from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl
    from sqlglot import exp

ROW_FUNCTIONS = frozenset({"unnest", "generate_series", "range", "json_each", "json_tree", "flatten", "values"})
"""Functions in FROM whose rows come from their arguments alone; the columns in the arguments are traced."""
_POSTGRES_TABLE = """
SELECT c.relkind::text, c.relispartition OR EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid)
FROM pg_class c WHERE c.oid = to_regclass(:name)
"""
_FUNCTIONS = """
SELECT CAST(p.proname AS text) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
"""
_OBJECTS = {
    "postgres": "SELECT CAST(relname AS text) FROM pg_class",
    "sqlite": "SELECT name FROM sqlite_master",
    "duckdb": "SELECT table_name FROM information_schema.tables",
}
_SYSTEM = ("pg_", "duckdb_", "sqlite_", "pragma_", "dbstat")
_LONGEST_NAME = 63
"""Bytes of a name that PostgreSQL reads."""
_POSTGRES_KINDS = {"v": "a view", "m": "a materialised view", "f": "a foreign table"}


def refuse_derived(source: str | pl.DataFrame, sql: str, dialect: str, ruled: Iterable[str] = ()) -> None:
    """Refuse a query that reads anything but base tables, or a table of the preference store.

    ``ruled`` are the tables that rules name: no WITH query may have the name of one.
    """
    tree = parsed(sql, dialect)
    read = list(_tables(tree))
    own = {table.name for table in tables().metadata.tables.values()}
    _refuse_shadowing(tree, source, {*own, *(name.rpartition(".")[2] for name in ruled)})
    for table in read:
        if table.name.casefold() in own:
            raise DataError(f"{table.name!r} belongs to the preferences of data subjects, which are never published.")
    if not isinstance(source, str):
        return
    native = dialect_of(source)
    with address(source) as url:
        kinds = {"postgres": _postgres_kinds, "sqlite": _sqlite_kinds, "duckdb": _duckdb_kinds}.get(native)
        if kinds is None:
            raise DataError(
                f"the kind of the tables of a {native} database is not known, and a view would bypass the blocks. Copy "
                "the tables to PostgreSQL, SQLite or DuckDB."
            )
        refused = [*kinds(url, read), *_functions(url, {sql, tree.sql(dialect=native)}, native)]
    for name, kind in refused:
        raise DataError(
            f"{name!r} is {kind}: rules name the columns of base tables, so blocks would be ignored. Write the query "
            "on the base tables themselves."
        )


def _refuse_shadowing(tree: exp.Query, source: str | pl.DataFrame, taken: set[str]) -> None:
    """Refuse a WITH query whose name another object has: which of the two a name means depends on the database."""
    from sqlglot import exp

    names = [cte.alias for cte in tree.find_all(exp.CTE)]
    if names and isinstance(source, str) and (query := _OBJECTS.get(dialect_of(source))):
        taken = taken.union(_first_column(source, query))
    count = Counter(name.casefold() for name in names) + Counter({name.casefold() for name in taken})
    for name in names:
        plain = name.isidentifier() and len(name.encode()) <= _LONGEST_NAME
        if count[name.casefold()] > 1 or not plain or name.casefold().startswith(_SYSTEM):
            raise DataError(
                f"the WITH query {name!r} may hide a table, a view or another WITH query of that name, so blocks would "
                "be ignored. Give it a name of its own: letters, digits and underscores, at most "
                f"{_LONGEST_NAME} bytes."
            )


def _tables(tree: exp.Query) -> Iterator[exp.Table]:
    """Tables that a query names, without its common table expressions."""
    from sqlglot import exp

    for table in tree.find_all(exp.Table):
        named = not table.db and table.name.casefold()
        at, local = table.parent, False
        while named and at is not None and not local:
            clause = at.args.get("with_") or at.args.get("with")
            local = clause is not None and any(cte.alias.casefold() == named for cte in clause.expressions)
            at = at.parent
        if not local:
            yield table


def _functions(url: str, texts: Iterable[str], native: str) -> Iterator[tuple[str, str]]:
    """Names in a query that functions or macros of the database have; PostgreSQL also calls ``f(t)`` as ``t.f``."""
    import sqlglot

    if native == "sqlite":  # its functions belong to a connection, not to the database
        return
    tokens = (token for text in texts for token in sqlglot.tokenize(text, read=native))
    names = {token.text.casefold() for token in tokens if token.token_type.name != "STRING"}
    own = {name.casefold() for name in _first_column(url, _FUNCTIONS)}
    yield from ((name, "a function of this database") for name in sorted(own & names))


def _first_column(url: str, query: str) -> list[str]:
    """First column of a query on the catalogue of a database; an empty result has no values."""
    if dialect_of(url) == "duckdb":
        from celosia.data.io.database import scan

        return [row[0] for row in scan(url, query=query).frame.fetchall()]
    import sqlalchemy as sa

    from celosia.data.io.database import connected

    with address(url) as plain:
        engine = connected(plain, read_only=True)
        try:
            with engine.connect() as connection:
                return [str(name) for name in connection.execute(sa.text(query)).scalars()]
        except sa.exc.SQLAlchemyError as problem:
            raise DataError(f"the database cannot be reached ({type(problem).__name__}).") from None
        finally:
            engine.dispose()


def _called(table: exp.Table) -> str:
    """Name of a function in FROM; empty for a table."""
    from sqlglot import exp

    if isinstance(table.this, exp.Identifier):
        return ""
    return (table.this.name or table.this.key if isinstance(table.this, exp.Anonymous) else table.this.key).casefold()


def _postgres_kinds(url: str, read: list[exp.Table]) -> Iterator[tuple[str, str]]:
    import sqlalchemy as sa

    from celosia.data.io.database import connected

    engine = connected(url, read_only=True)
    try:
        with engine.connect() as connection:
            for table in read:
                if name := _called(table):
                    if name not in ROW_FUNCTIONS:
                        yield name, "a function"
                    continue
                path = ".".join(part.sql(dialect="postgres") for part in table.parts)
                row = connection.execute(sa.text(_POSTGRES_TABLE), {"name": path}).first()
                if row is not None and row[0] not in ("r", "p"):
                    yield table.name, _POSTGRES_KINDS.get(row[0], "not a base table")
                elif row is not None and row[1]:
                    yield table.name, "a partition or a child of another table"
    except sa.exc.SQLAlchemyError as problem:
        raise DataError(f"the database cannot be reached ({type(problem).__name__}).") from None
    finally:
        engine.dispose()


def _sqlite_kinds(url: str, read: list[exp.Table]) -> Iterator[tuple[str, str]]:
    from celosia.data.io.database import scan

    listed = scan(url, query="SELECT name, type, sql FROM sqlite_master").frame.collect()
    kinds = {
        name.casefold(): (kind, text or "") for name, kind, text in listed.iter_rows() if kind in ("table", "view")
    }
    for table in read:
        if name := _called(table):
            if name not in ROW_FUNCTIONS:
                yield name, "a function"
            continue
        kind, text = kinds.get(table.name.casefold(), ("", ""))
        if kind == "view":
            yield table.name, "a view"
        elif text[:14].casefold() == "create virtual":
            yield table.name, "a virtual table"
        elif not kind and table.name.casefold().startswith(("pragma_", "sqlite_", "dbstat")):
            yield table.name, "not a base table"


def _duckdb_kinds(url: str, read: list[exp.Table]) -> Iterator[tuple[str, str]]:
    from celosia.data.io.database import scan

    listed = scan(url, query="SELECT table_name, table_type FROM information_schema.tables").frame.fetchall()
    there = {name.casefold() for name, kind in listed if kind == "BASE TABLE"}
    views = {name.casefold() for name, kind in listed if kind == "VIEW"}
    for table in read:
        if name := _called(table):
            if name not in ROW_FUNCTIONS:
                yield name, "a function"
        elif table.name.casefold() in views:
            yield table.name, "a view"
        elif table.name.casefold() not in there:
            yield table.name, "not a table of this database"
