"""``celosia assess --sql``: the GROUP BY tests of k-anonymity and distinct l-diversity, run in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.cli.show import console, print_json
from celosia.data.io.sources import is_url
from celosia.errors import InputError, ParameterError, SchemaError
from celosia.parts import build


def tests(table: str, quasi: Sequence[str], sensitive: Sequence[str]) -> dict[str, str]:
    """The statements: the smallest class, and for each sensitive column the fewest distinct values of a class.

    A missing value counts as a value of its own, as it does in ``l-diversity``.

    >>> print(tests("person", ["age"], [])["k"])
    SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM person GROUP BY "age") AS classes
    """
    keys = ", ".join(map(_quoted, quasi))
    found = {"k": f"SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM {table} GROUP BY {keys}) AS classes"}  # noqa: S608
    for name in sensitive:
        column = _quoted(name)
        missing = f"MAX(CASE WHEN {column} IS NULL THEN 1 ELSE 0 END)"
        inner = f"SELECT COUNT(DISTINCT {column}) + {missing} AS n FROM {table} GROUP BY {keys}"  # noqa: S608
        found[f"l of {name}"] = f"SELECT MIN(n) FROM ({inner}) AS classes"  # noqa: S608
    return found


def assess_by_sql(
    source: str, roles: Mapping[str, Any], require: Sequence[str], *, query: str | None, json: bool
) -> bool:
    """Print the tests and run them where the table lives; tells whether the requirements on k and l hold."""
    quasi, sensitive = roles.get("quasi") or [], roles.get("sensitive") or []
    if not quasi:
        raise SchemaError("no quasi-identifier is declared: name at least one with --quasi.")
    if not is_url(source):
        raise InputError("--sql runs in a database: give its URL, and the table or query with --query.")
    if not query:
        raise ParameterError("--sql needs --query: the name of a table, or a SELECT statement.")
    table = f"({query}) AS source" if query.lstrip()[:6].lower() in {"select", "with"} else query
    statements = tests(table, quasi, sensitive)
    values = {name: _run(source, statement) for name, statement in statements.items()}
    wishes = _wishes(require, sensitive)
    verdicts = {name: values[name] >= bound for name, bound in wishes.items()}
    if json:
        print_json({"sql": statements, "values": values, "holds": verdicts})
    else:
        out = console()
        for name, statement in statements.items():
            out.print(f"-- {name}\n{statement};\n{name} = {values[name]}\n")
        for name, bound in wishes.items():
            out.print(f"{name} at least {bound}: {'yes' if verdicts[name] else 'NO'}")
    return all(verdicts.values())


def _wishes(require: Sequence[str], sensitive: Sequence[str]) -> dict[str, int]:
    wishes: dict[str, int] = {}
    for text in require:
        model = build("model", text)
        if model.name == "k-anonymity":
            wishes["k"] = int(model.k)
        elif model.name == "l-diversity" and model.variant == "distinct":
            for name in [model.column] if model.column else sensitive:
                wishes[f"l of {name}"] = int(model.l)
        else:
            raise ParameterError(f"--sql tests k-anonymity and distinct l-diversity only, got {model.name}.")
    return wishes


def _run(url: str, statement: str) -> int:
    from celosia.data.io import scan
    from celosia.data.io.filetypes import materialised

    found = materialised(scan(url, query=statement).frame)
    value = found.item()
    return int(value) if value is not None else 0


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
