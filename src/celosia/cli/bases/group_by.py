"""``celosia assess --sql``: the GROUP BY tests of k-anonymity and distinct l-diversity, run in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.classes import STAR
from celosia.cli.bases.show import console, print_json
from celosia.data.io.sources import is_url
from celosia.data.io.statement import quote_name
from celosia.errors import DataError, InputError, ParameterError, SchemaError
from celosia.parts import Model, SmallestCount, build, meets


def smallest_classes(
    table: str, quasi: Sequence[str], sensitive: Sequence[str], person: str | None = None
) -> dict[str, str]:
    """Return the statements for the smallest class, and for the fewest distinct values of a class in each sensitive
    column.

    A missing quasi-identifier is a value, and a missing id a person, of its own; a missing sensitive value counts only
    where a class has no other. A value that every person of a class has leaves it with one value. Suppressed records
    without a sensitive value are left out where there are other records, as in every other verdict.

    >>> print(smallest_classes("person", ["age"], [])["k"])  # doctest: +NORMALIZE_WHITESPACE
    SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM person
    WHERE NOT (COALESCE(CAST("age" AS VARCHAR(9)), '') = '*' AND EXISTS
    (SELECT 1 FROM person WHERE NOT (COALESCE(CAST("age" AS VARCHAR(9)), '') = '*'))) GROUP BY "age") AS classes
    """
    keys = ", ".join(map(quote_name, quasi))
    stars = " AND ".join(f"COALESCE(CAST({quote_name(name)} AS VARCHAR(9)), '') = '{STAR}'" for name in quasi)
    hidden = " AND ".join([stars, *(f"{quote_name(name)} IS NULL" for name in sensitive)])
    others = f"EXISTS (SELECT 1 FROM {table} WHERE NOT ({stars}))"  # noqa: S608
    rows = f"FROM {table} WHERE NOT ({hidden} AND {others})"

    def smallest(counted: str) -> str:
        return f"SELECT MIN(n) FROM (SELECT {counted} AS n {rows} GROUP BY {keys}) AS classes"  # noqa: S608

    def fewest(name: str, person: str) -> str:
        """Return the SQL for the fewest values of a class; 1 where all its persons with a value share one."""
        non_missing, everyone = f"{quote_name(name)} IS NOT NULL", _distinct(person)
        each = f"SELECT {keys}, {everyone} AS c_each {rows} AND {non_missing} GROUP BY {keys}, {quote_name(name)}"
        most = f"COUNT(*) AS c_values, MAX(c_each) AS c_most, 0 AS c_all FROM ({each}) AS e"
        counts = [
            f"SELECT {keys}, {most} GROUP BY {keys}",
            f"SELECT {keys}, 0 AS c_values, 0 AS c_most, {everyone} AS c_all {rows} AND {non_missing} GROUP BY {keys}",
            f"SELECT {keys}, 1 AS c_values, 0 AS c_most, 0 AS c_all {rows} GROUP BY {keys}",
        ]
        value = "CASE WHEN MAX(c_most) = MAX(c_all) THEN 1 ELSE MAX(c_values) END"
        inner = f"SELECT {value} AS n FROM ({' UNION ALL '.join(counts)}) AS counts GROUP BY {keys}"  # noqa: S608
        return f"SELECT MIN(n) FROM ({inner}) AS classes"  # noqa: S608

    statements = {"k": smallest("COUNT(*)" if person is None else _distinct(person))}
    values = {name: smallest(_values(name)) if person is None else fewest(name, person) for name in sensitive}
    return statements | {f"l of {name}": value for name, value in values.items()}


def _distinct(name: str) -> str:
    column = quote_name(name)
    return f"COUNT(DISTINCT {column}) + MAX(CASE WHEN {column} IS NULL THEN 1 ELSE 0 END)"


def _values(name: str) -> str:
    """Distinct values of a sensitive column; a missing one counts only where no other is in the class."""
    column = quote_name(name)
    return f"COUNT(DISTINCT {column}) + MIN(CASE WHEN {column} IS NULL THEN 1 ELSE 0 END)"


def assess_by_sql(
    source: str, roles: Mapping[str, Any], require: Sequence[str], *, query: str | None, json: bool
) -> bool:
    """Print the statements and run them in the database; return whether the requirements on k and l hold."""
    quasi, sensitive = roles.get("quasi") or [], roles.get("sensitive") or []
    if not quasi:
        raise SchemaError("no quasi-identifier is declared: name at least one with --quasi.")
    if not is_url(source):
        raise InputError("--sql runs in a database: give its URL, and the table or query with --query.")
    if not query:
        raise ParameterError("--sql needs --query: the name of a table, or a SELECT statement.")
    table = f"({query}) AS source" if query.lstrip()[:6].lower() in {"select", "with"} else query
    asked = [(model, _statement_names(model, sensitive)) for model in (build("model", text) for text in require)]
    statements = smallest_classes(table, quasi, sensitive, roles.get("person"))
    values = {name: _run(source, statement) for name, statement in statements.items()}
    verdicts = {str(model): all(meets(model, values[name]) for name in names) for model, names in asked}
    if json:
        print_json({"sql": statements, "values": values, "holds": verdicts})
    else:
        out = console()
        for name, statement in statements.items():
            out.print(f"-- {name}\n{statement};\n{name} = {values[name]}\n")
        for wish, holds in verdicts.items():
            out.print(f"{wish}: {'yes' if holds else 'NO'}")
    return all(verdicts.values())


def _statement_names(model: Model, sensitive: Sequence[str]) -> list[str]:
    """Return the names of the statements that give the value of a requirement."""
    # only the bound and the column: any other parameter changes what is counted
    plain = len({name for name in model.spec() if name not in ("use", "column")}) == 1
    counted = model.smallest_count() if plain and isinstance(model, SmallestCount) else None
    if counted == "members":
        return ["k"]
    if counted == "values":
        named = [name for name in model.counted_columns() if name is not None]
        if not sensitive or not set(named) <= set(sensitive):
            raise SchemaError(f"{model}: name the columns that it counts with --sensitive.")
        return [f"l of {name}" for name in (named or sensitive)]
    raise ParameterError(
        f"--sql tests k-anonymity (k) and distinct l-diversity (l, column) only, got {model}. "
        "Leave --sql out to measure it here."
    )


def _run(url: str, statement: str) -> int:
    """Return the number that a statement gives."""
    from celosia.data.io import scan
    from celosia.data.io.filetypes import collect_frame

    value = collect_frame(scan(url, query=statement).frame).item()
    if value is None:
        raise DataError("the table has no rows.")
    return int(value)
