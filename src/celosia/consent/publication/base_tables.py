"""Check that a query reads base tables only, which rules name, and no table of the preference store.

A rule names the columns of a base table. A view, a materialised view, a partition, a foreign table or a function shows
the same columns under another name, so that a block would be ignored. Views are replaced by their definitions; the
other objects are refused.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from celosia.consent.owners.tables import tables
from celosia.consent.publication.result import dialect_of
from celosia.consent.sql.elements import Columns, Elements, parse_query, same_table
from celosia.consent.sql.relations import UNRESOLVED
from celosia.data.credentials import address
from celosia.data.pure_functions import refuse_constructions, refuse_escaped
from celosia.data.quiet import silence
from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl
    from sqlglot import exp

ROW_FUNCTIONS = frozenset({"unnest", "generate_series", "range", "json_each", "json_tree", "flatten", "values"})
"""Functions in FROM whose rows come from their arguments alone; the columns in the arguments are traced."""
_POSTGRES_TABLE = """
WITH RECURSIVE below(oid) AS (
    SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass(:name)
    UNION SELECT i.inhrelid FROM pg_inherits i JOIN below b ON i.inhparent = b.oid
)
SELECT n.nspname::text AS schema, c.relkind::text AS kind,
    c.relispartition OR EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid) AS child,
    ARRAY(SELECT d.relname::text FROM below b JOIN pg_class d ON d.oid = b.oid) AS children,
    EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated <> '') AS computed
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass(:name)
"""
_POSTGRES_VIEW = """
SELECT pg_catalog.pg_get_viewdef(c.oid) FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass(:name) AND c.relkind = 'v' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
"""
_MOST_VIEWS = 50
"""Largest number of views that one query may read, those inside views included."""
_FUNCTIONS = """
SELECT CAST(p.proname AS text) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
"""
_OPERATORS = """
SELECT CAST(o.oprname AS text) FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
WHERE n.nspname <> 'pg_catalog' AND NOT EXISTS
    (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.objid = o.oid AND d.deptype = 'e')
"""
_CASTS = """
SELECT CAST(p.proname AS text) FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc p ON p.oid = c.castfunc
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace JOIN pg_catalog.pg_type s ON s.oid = c.castsource
JOIN pg_catalog.pg_type t ON t.oid = c.casttarget
WHERE n.nspname <> 'pg_catalog' AND s.typnamespace <> n.oid AND t.typnamespace <> n.oid
"""
"""Casts between types that are not of the schema of their function: between built-in ones."""
_OBJECTS = {
    "postgres": "SELECT CAST(relname AS text) FROM pg_class",
    "sqlite": "SELECT name FROM sqlite_master",
    "duckdb": "SELECT table_name FROM information_schema.tables",
}
_NAMES = ("this", "db", "catalog", "alias")
_SYSTEM = ("pg_", "duckdb_", "sqlite_", "pragma_", "dbstat")
_LONGEST_NAME = 63
"""Bytes of a name that PostgreSQL reads."""
_SQLITE_KINDS = {"view": "a view", "virtual": "a virtual table", "shadow": "a table of a virtual table"}
_POSTGRES_KINDS = {"v": "a view", "m": "a materialised view", "f": "a foreign table"}


def expand_views(source: str, sql: str) -> str:
    """Return the query with every view of PostgreSQL and SQLite replaced by its definition in the database.

    A view that cannot be parsed stays, and :func:`refuse_derived` refuses it.
    """
    from sqlglot import exp

    native = dialect_of(source)
    definition = {"postgres": _postgres_view, "sqlite": _sqlite_view}.get(native)
    tree, count = parse_query(sql, native), 0
    if definition is None:
        return sql
    with address(source) as url:
        while views := [(t, text) for t in _tables(tree) if _is_plain(t) and (text := definition(url, t))]:
            _refuse_shadowing(tree, source, set())
            count += len(views)
            if count > _MOST_VIEWS:
                raise DataError(
                    f"the query reads more than {_MOST_VIEWS} views. Write it on the base tables themselves."
                )
            for table, body in views:
                alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
                table.replace(exp.Subquery(this=body, alias=alias.copy()))
    return tree.sql(dialect=native, comments=False, normalize_functions=False) if count else sql


def _is_plain(table: exp.Table) -> bool:
    """Return whether a table of a query is a name and an alias, and nothing else."""
    from sqlglot import exp

    named = isinstance(table.this, exp.Identifier)
    return named and not any(value for key, value in table.args.items() if key not in _NAMES)


def _postgres_view(url: str, table: exp.Table) -> exp.Query | None:
    path = ".".join(part.sql(dialect="postgres") for part in table.parts)
    texts = _first_column(url, _POSTGRES_VIEW, {"name": path})
    return parse_query(texts[0], "postgres") if texts else None


def _sqlite_view(url: str, table: exp.Table) -> exp.Query | None:
    """Return the query of a view, its columns named as the view names them."""
    import sqlglot
    from sqlglot import exp

    if table.catalog or table.db.casefold() not in ("", "main"):
        return None
    stored = "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = :name COLLATE NOCASE"
    texts = _first_column(url, stored, {"name": table.name})
    if not texts:
        return None
    refuse_escaped(texts[0])
    with silence():
        view = sqlglot.parse_one(texts[0], read="sqlite", error_level=sqlglot.ErrorLevel.IGNORE)
    if not isinstance(view, exp.Create) or not isinstance(view.expression, exp.Query):
        return None
    body = parse_query(view.expression.sql(dialect="sqlite"), "sqlite")
    if not isinstance(view.this, exp.Schema):
        return body
    names = [name.name for name in view.this.expressions]
    if not isinstance(body, exp.Select) or len(names) != len(body.expressions) or body.is_star:
        return None
    named = [exp.alias_(e.unalias(), name, quoted=True) for e, name in zip(body.expressions, names, strict=True)]
    body.set("expressions", named)
    return body


def refuse_derived(source: str | pl.DataFrame, sql: str, dialect: str, ruled: Iterable[str] = ()) -> None:
    """Raise if a query reads anything but base tables, or a table of the preference store.

    ``ruled`` are the tables that rules name: no WITH query may have the name of one.
    """
    refuse_escaped(sql)
    tree = parse_query(sql, dialect)
    if isinstance(source, str):
        refuse_constructions(tree)
    ruled = {name.rpartition(".")[2].casefold() for name in ruled}
    read = list(_tables(tree))
    own = {table.name for table in tables().metadata.tables.values()}
    _refuse_shadowing(tree, source, {*own, *ruled})
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
        refused = [*_calls(read), *kinds(url, read, ruled), *_functions(url, sql, native)]
    for name, kind in refused:
        raise DataError(
            f"{name!r} is {kind}: rules name the columns of base tables, so blocks would be ignored. Write the query "
            "on the base tables themselves."
        )


def refuse_unlisted(query: Elements, columns: Columns) -> None:
    """Raise if a column is not known in its table: the database may resolve the name to something else."""
    used = query.fields.union(
        *(output.direct for output in query.outputs), {(UNRESOLVED, name) for name in query.unresolved}
    )
    for table, field in sorted(used):
        listed = {c.casefold() for name, fields in columns.items() if same_table(name, table) for c in fields}
        if field not in listed:
            raise DataError(
                f"the query names {field!r}, which no table of it is known to have, so blocks could be ignored. "
                "Name columns of base tables only; a row as a whole, or a column of the system, is not published."
            )


def _refuse_shadowing(tree: exp.Query, source: str | pl.DataFrame, taken: set[str]) -> None:
    """Raise if a WITH query has the name of another object: which of them is read depends on the database."""
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
    """Iterate over the tables that a query names, without its common table expressions."""
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


def _calls(read: Iterable[exp.Table]) -> Iterator[tuple[str, str]]:
    """Iterate over the functions in FROM whose rows depend on more than their arguments."""
    return ((name, "a function") for table in read if (name := _function_name(table)) and name not in ROW_FUNCTIONS)


def _functions(url: str, sql: str, native: str) -> Iterator[tuple[str, str]]:
    """Iterate over names that are functions or macros of the database; PostgreSQL also calls ``f(t)`` as ``t.f``."""
    import sqlglot

    if native == "sqlite":  # its functions belong to a connection, not to the database
        return
    tokens = list(sqlglot.tokenize(sql, read=native))
    names = {token.text.casefold() for token in tokens if token.token_type.name != "STRING"}
    own = {name.casefold() for name in _first_column(url, _FUNCTIONS)}
    yield from ((name, "a function of this database") for name in sorted(own & names))
    if native == "postgres":
        yield from (
            (name, "an operator of this database") for name in sorted({*_first_column(url, _OPERATORS)} & names)
        )
        yield from ((name, "a cast of this database") for name in _first_column(url, _CASTS))


def _first_column(url: str, query: str, parameters: Mapping[str, str] | None = None) -> list[str]:
    """Return the first column of a query on the catalogue of a database."""
    if dialect_of(url) == "duckdb":
        from celosia.data.io.database import scan

        return [row[0] for row in scan(url, query=query).frame.fetchall()]
    import sqlalchemy as sa

    from celosia.data.io.database import create_engine

    with address(url) as plain:
        engine = create_engine(plain, read_only=True)
        try:
            with engine.connect() as connection:
                return [str(name) for name in connection.execute(sa.text(query), parameters or {}).scalars()]
        except sa.exc.SQLAlchemyError as problem:
            raise DataError(f"the database cannot be reached ({type(problem).__name__}).") from None
        finally:
            engine.dispose()


def _function_name(table: exp.Table) -> str:
    """Return the name of a function in FROM; empty for a table."""
    from sqlglot import exp

    if isinstance(table.this, exp.Identifier):
        return ""
    return (table.this.name or table.this.key if isinstance(table.this, exp.Anonymous) else table.this.key).casefold()


def _postgres_kinds(url: str, read: list[exp.Table], ruled: Collection[str]) -> Iterator[tuple[str, str]]:
    import sqlalchemy as sa

    from celosia.data.io.database import create_engine

    engine = create_engine(url, read_only=True)
    try:
        with engine.connect() as connection:
            for table in read:
                if _function_name(table):
                    continue
                path = ".".join(part.sql(dialect="postgres") for part in table.parts)
                row = connection.execute(sa.text(_POSTGRES_TABLE), {"name": path}).first()
                if row is None or row.schema.startswith("pg_") or row.schema == "information_schema":
                    yield table.name, "not a table of a user"
                elif row.kind not in ("r", "p"):
                    yield table.name, _POSTGRES_KINDS.get(row.kind, "not a base table")
                elif row.child:
                    yield table.name, "a partition or a child of another table"
                elif {name.casefold() for name in row.children} & set(ruled):
                    yield table.name, "a parent of a table that a rule names"
                elif row.computed and table.name.casefold() in ruled:
                    yield table.name, "a table with a generated column, which shows other columns under its own name"
    except sa.exc.SQLAlchemyError as problem:
        raise DataError(f"the database cannot be reached ({type(problem).__name__}).") from None
    finally:
        engine.dispose()


def _sqlite_kinds(url: str, read: list[exp.Table], ruled: Collection[str]) -> Iterator[tuple[str, str]]:
    from celosia.data.io.database import scan

    listed = scan(url, query="SELECT name, type FROM pragma_table_list WHERE schema = 'main'").frame.collect()
    kinds = {name.casefold(): kind for name, kind in listed.iter_rows()}
    texts = dict(
        scan(url, query="SELECT name, sql FROM sqlite_master WHERE type = 'table'").frame.collect().iter_rows()
    )
    computed = {name.casefold() for name, text in texts.items() if _is_computed(text or "", "sqlite")}
    for table in read:
        if _function_name(table):
            continue
        name = table.name.casefold()
        kind = kinds.get(name, "missing")
        if kind != "table" or name.startswith("sqlite_") or table.db.casefold() not in ("", "main") or table.catalog:
            yield table.name, _SQLITE_KINDS.get(kind, "not a base table")
        elif name in computed and name in ruled:
            yield table.name, "a table with a generated column, which shows other columns under its own name"


def _duckdb_kinds(url: str, read: list[exp.Table], ruled: Collection[str]) -> Iterator[tuple[str, str]]:
    from celosia.data.io.database import scan

    query = "SELECT table_schema, table_name, table_type FROM information_schema.tables"
    kinds = {(s.casefold(), n.casefold()): kind for s, n, kind in scan(url, query=query).frame.fetchall()}
    texts = scan(url, query="SELECT schema_name, table_name, sql FROM duckdb_tables").frame.fetchall()
    computed = {(s.casefold(), n.casefold()) for s, n, text in texts if _is_computed(text or "", "duckdb")}
    for table in read:
        key = (table.db.casefold() or "main", table.name.casefold())
        if _function_name(table):
            continue
        if kinds.get(key) != "BASE TABLE" or table.catalog:
            yield table.name, "a view" if kinds.get(key) == "VIEW" else "not a table of this database"
        elif key in computed and key[1] in ruled:
            yield table.name, "a table with a generated column, which shows other columns under its own name"


def _is_computed(text: str, dialect: str) -> bool:
    """Return whether the definition of a table has a generated column: ``name AS (…)``."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        words = [token.text.casefold() for token in sqlglot.tokenize(text, read=dialect)]
    except SqlglotError:
        return True
    return ("as", "(") in itertools.pairwise(words)
