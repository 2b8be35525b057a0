"""Check that rows disclose nothing beyond their columns, and nothing about other data subjects than their owner.

The rows of a query disclose its conditions: all rows of ``WHERE district = 'D1'`` have that district, whatever is
done to the columns. And a row has one owner, whose choices alone are honoured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from celosia.consent.rules.matches import Match, names_field
from celosia.consent.sql.elements import Columns, Elements, Field, parse_query, same_table
from celosia.errors import DataError, RequirementError

if TYPE_CHECKING:
    from sqlglot import exp

Fields = frozenset[Field]


def owner_fields(query: Elements, owner: str) -> Fields:
    """Return the fields of base tables that the owner column of a request shows."""
    table, _, name = owner.casefold().rpartition(".")
    for output in query.outputs:
        if output.name.casefold() == owner.casefold():
            return output.same
    return frozenset(
        {(table, name)} | {field for field in query.fields if same_table(field[0], table) and field[1] == name}
    )


def refuse_disclosure(
    query: Elements,
    owner: str,
    fired: Mapping[str, tuple[Match, ...]],
    *,
    excluded: bool,
    sql: str,
    dialect: str,
    columns: Columns,
) -> None:
    """Raise if fields of a blocked inference decide which rows there are, or are in rows of other data subjects."""
    own = owner_fields(query, owner)
    keys = {name for _, name in own}
    for inference, matched in fired.items():
        candidates = {field for field in query.fields if field[1] not in keys}
        ruled = {f for f in candidates if any(names_field(m.fields, f) for m in matched)}
        fields = ruled | {f for f in candidates if f[1] in {v.casefold() for m in matched for v in m.values}}
        if not fields:
            continue
        _refuse_others(query, own, fields, inference, parse_query(sql, dialect), columns)
        if excluded:  # the rows of those who block it are left out, whatever they show
            continue
        shown = {field for output in query.outputs if output.exact for field in output.same}
        if hidden := ruled & (query.decisive | (query.filtering - shown)):
            raise RequirementError(
                f"data subjects block {inference!r}, and the query uses {_list(hidden)} in a condition, a join, "
                "a group, an order or a set operation that decides which rows there are: they show the value, and no "
                "change of a column hides it. Drop the condition, or put the column into the output and compare it "
                "with constants in the WHERE clause alone; or strengthen: 'exclude'."
            )


def _refuse_others(
    query: Elements, own: Fields, fields: Collection[Field], inference: str, tree: exp.Query, columns: Columns
) -> None:
    """Raise if rows of a query can show fields of a rule about other persons than the owner of the row."""
    keys = {name for _, name in own}
    for aggregated, grouping in query.across:
        if (used := set(fields) & aggregated) and not {name for _, name in grouping} & keys:
            raise RequirementError(
                f"data subjects block {inference!r}, and the query uses {_list(used)} in an aggregate or a window "
                "function over rows of several persons, whose blocks would be ignored. Group or partition by the "
                f"owner ({_list(own)})."
            )
    same = set(own)
    while more := {f for pair in query.equal if pair & same for f in pair} - same:
        same |= more
    persons = {table for table, _ in fields}
    counted = _reads(tree)
    listed = {(name, field.casefold()) for name, names in columns.items() for field in names}
    for table in {*persons, *(table for table, _ in same)}:
        times = max((times for name, times in counted.items() if same_table(name, table)), default=0)
        if times > 1:
            raise RequirementError(
                f"data subjects block {inference!r}, and the query reads {table!r} more than once: a row could show "
                "the values of another person, whose blocks would be ignored. Read it once."
            )
    for table in persons - {table for table, _ in same}:
        if any(field in keys and same_table(name, table) for name, field in query.fields | listed):
            raise RequirementError(
                f"data subjects block {inference!r}, and the query does not join {table!r} by the owner "
                f"({_list(own)}): a row could show the values of another person, whose blocks would be ignored. Join "
                "it by the owner."
            )


def _reads(tree: exp.Query) -> Counter[str]:
    """Count how often each table can contribute to one row: WITH queries are expanded, UNION takes the maximum."""
    from sqlglot import exp

    common = {cte.alias.casefold(): cte.this for cte in tree.find_all(exp.CTE)}

    def count(node: exp.Expr, inside: frozenset[str]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for table in node.find_all(exp.Table):
            cte = table.find_ancestor(exp.CTE)
            if cte is not None and any(parent is node for parent in _parents(cte)):
                continue  # counted at its use
            name = ".".join(part.name.casefold() for part in table.parts)
            if name in common and name not in inside:
                counts += count(common[name], inside | {name})
            else:
                counts[name] += 1
        return counts

    def branches(node: exp.Expr) -> Iterator[exp.Expr]:
        if isinstance(node, exp.Union):
            yield from branches(node.this)
            yield from branches(node.expression)
        else:
            yield node

    most: Counter[str] = Counter()
    for branch in branches(tree):
        most |= count(branch, frozenset())
    return most


def _parents(node: exp.Expr) -> Iterator[exp.Expr]:
    at = node.parent
    while at is not None:
        yield at
        at = at.parent


def refuse_computed_owner(query: Elements, owner: str) -> None:
    """Raise if the owner column is no plain column of a base table: blocks of other people would be honoured."""
    for output in query.outputs:
        if output.name.casefold() == owner.casefold() and not (output.exact and output.same):
            raise DataError(
                f"the owner column {output.name!r} is computed, or a constant in some rows: blocks would be "
                "honoured for other people. Select the column of the base table itself."
            )


def _list(fields: Collection[Field]) -> str:
    return ", ".join(f"{table}.{field}" for table, field in sorted(fields))
