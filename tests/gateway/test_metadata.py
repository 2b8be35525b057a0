"""A declaration that does not fit is refused, with the place; what is just inside the limits is taken."""

from __future__ import annotations

from typing import Any

import pytest

from celosia.errors import PolicyError
from celosia.gateway.metadata import DatasetFacts

COLUMNS: dict[str, Any] = {"who": {"type": "integer"}, "age": {"type": "integer", "bounds": [0, 100]}}


def declared(table: dict[str, Any] | None = None, column: dict[str, Any] | None = None, **more: Any) -> DatasetFacts:
    columns = {**COLUMNS, "x": column} if column else COLUMNS
    tables = {"t": {"columns": columns, **(table or {})}, "towns": {"columns": {"name": {"type": "text"}}}}
    return DatasetFacts.of({"name": "d", "epsilon": 1.0, "tables": tables, **more})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"table": {"rows": 2}}, "person column"),
        ({"table": {"rows": 2, "person": "who", "unique": True}}, "person column"),
        ({"table": {"rows": 0, "person": "who"}}, "greater than or equal to 1"),
        ({"table": {"rows": 10_001, "person": "who"}}, "less than or equal to 10000"),
        ({"table": {"person": "owner"}}, "not declared"),
        ({"table": {"keys": ["town"]}}, "not declared"),
        ({"table": {"person": "who", "public": True}}, "no person column"),
        ({"table": {"columns": {"age": {"type": "integer"}, "Age": {"type": "integer"}}}}, "upper and lower case"),
        ({"column": {"type": "text", "bounds": [0, 1]}}, "bounds belong to numbers"),
        ({"column": {"type": "number", "bounds": [1, 0]}}, "the smaller first"),
        ({"column": {"type": "number", "bounds": [-1.1e15, 0]}}, "at most 1e"),
        ({"column": {"type": "number", "categories": [1]}}, "categories belong to text or integers"),
        ({"column": {"type": "text", "categories": []}}, "at least one value"),
        ({"column": {"type": "text", "categories": [1]}}, "are texts"),
        ({"column": {"type": "integer", "categories": ["a"]}}, "are whole numbers"),
        ({"column": {"type": "integer", "categories": [2 * 10**15]}}, "at most 1e"),
        ({"column": {"type": "integer", "bounds": [0.2, 0.8]}}, "no whole number"),
        ({"column": {"type": "number", "unit": 0}}, "greater than 0"),
        ({"shares": [{"epsilon": 0}]}, "greater than 0"),
        ({"shares": [{"rho": 0}]}, "greater than 0"),
        ({"shares": [{"epsilon": 1, "delta": 1}]}, "less than 1"),
        ({"shares": [{"epsilon": 1, "period": "week"}]}, "period"),
        ({"epsilon": 0}, "greater than 0"),
        ({"rho": 1}, "epsilon or as rho"),
        ({"delta": 1}, "less than 1"),
        ({"seconds": 0}, "greater than 0"),
        ({"joins": [{"left": "t.age", "right": "t.nothing"}]}, "not a declared table.column"),
        ({"joins": [{"left": "t.age", "right": "towns.name"}]}, "one type"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    with pytest.raises(PolicyError, match=said):
        declared(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"table": {"rows": 2, "person": "who"}},
        {"table": {"rows": 1, "person": "who", "unique": True}},
        {"table": {"rows": 10_000, "person": "who"}},
        {"column": {"type": "number", "bounds": [-1e15, 1e15]}},
        {"column": {"type": "integer", "bounds": [0.2, 1.0]}},
        {"column": {"type": "integer", "categories": [10**15]}},
        {"shares": [{"epsilon": 0.1, "period": "day"}]},
        {"delta": 1e-9},
    ],
)
def test_what_is_just_inside_is_taken(given):
    assert declared(**given).name == "d"
