"""The declaration of a data set for the gateway, written from a form: queryable columns and the budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.toml_text import inline, table
from celosia.errors import CelosiaError, InputError
from celosia.gateway.commands import init
from celosia.gateway.metadata import DatasetFacts
from celosia.studio import forms
from celosia.studio.forms import Parameters, Submitted
from celosia.table.columns import column_types

if TYPE_CHECKING:
    import polars as pl

    from celosia.release.policy.policy import Policy
    from celosia.studio.project import Project
    from celosia.table import Table

FILE = "gateway.toml"
TYPES = ("integer", "number", "text", "boolean", "date")
READ = (".csv", ".parquet", ".pq")


@dataclass(frozen=True)
class ColumnDraft:
    """A column in the form. Bounds and values come from the policy, never from the data: declarations are public."""

    name: str
    type: str
    low: str = ""
    high: str = ""
    categories: str = ""
    offered: bool = True


def drafts(policy: Policy, data: Table) -> list[ColumnDraft]:
    """Return the columns of the data; identifiers and columns such as weights are not offered by default."""
    schema = policy.schema
    excluded = {*schema.identifiers, schema.person, schema.household, schema.weight}
    offered = []
    for name, kind in column_types(data).items():
        if name not in data.schema:
            continue
        column = data.schema[name]
        low, high = (f"{end:g}" for end in column.bounds) if column.bounds else ("", "")
        values = ", ".join(column.order or ())
        offered.append(ColumnDraft(name, _type(kind), low, high, values, name not in excluded))
    return offered


def _type(kind: pl.DataType) -> str:
    if kind.is_integer():
        return "integer"
    if kind.is_numeric():
        return "number"
    name = str(kind)
    return "boolean" if name == "Boolean" else "date" if name == "Date" else "text"


def declaration_text(sent: Submitted, policy: Policy, folder: Path) -> str:
    """Return the TOML text of the declaration in a form; invalid input raises."""
    path = policy.input.path
    if path is None or path.suffix.lower() not in READ:
        raise InputError(
            "the gateway reads CSV and Parquet files. For a database write the declaration by hand: "
            f"put {FILE} into the project's folder, as the how-to page on differential privacy shows."
        )
    columns = {
        name: _column(sent, i)
        for i, name in enumerate(_names(sent))
        if f"use-{i}" in sent or sent.get("person") == name
    }
    if not columns:
        raise InputError("declare at least one column that may be queried.")
    facts: Parameters = {"source": str(path.resolve().relative_to(folder)), "columns": columns}
    if sent.get("person"):
        facts |= {"person": str(sent["person"]), "rows": forms.read_number(sent, "rows", 1, whole=True)}
    name = str(sent.get("name", "")).strip()
    data: Parameters = {"name": name, "epsilon": forms.read_number(sent, "epsilon")}
    if str(sent.get("delta", "")).strip():
        data["delta"] = forms.read_number(sent, "delta")
    data["tables"] = {"data": facts}
    DatasetFacts.of(data)
    return _toml_text(data)


def declare(project: Project, text: str) -> None:
    """Write the declaration and create its ledger; remove the file again if the data do not fit."""
    place = project.folder / FILE
    if place.exists():
        raise InputError(f"there is a declaration already: {FILE}. Its budget is binding, so it stays.")
    from celosia.data.io.atomic import replace_file

    with replace_file(place, 0o600) as draft:
        draft.write_text(text, encoding="utf-8")
    try:
        init(place)
    except CelosiaError:
        place.unlink()
        raise


def _names(sent: Submitted) -> list[str]:
    names: list[str] = []
    while f"column-{len(names)}" in sent:
        names.append(str(sent[f"column-{len(names)}"]))
    return names


def _column(sent: Submitted, i: int) -> Parameters:
    kind = str(sent.get(f"type-{i}", "text"))
    facts: Parameters = {"type": kind}
    low, high = (str(sent.get(f"{end}-{i}", "")).strip() for end in ("low", "high"))
    if kind in ("integer", "number") and (low or high):
        facts["bounds"] = [forms.read_number(sent, f"low-{i}"), forms.read_number(sent, f"high-{i}")]
    values = [value.strip() for value in str(sent.get(f"categories-{i}", "")).split(",") if value.strip()]
    if values and kind in ("integer", "text"):
        if kind == "integer" and not all(value.lstrip("-").isdigit() for value in values):
            raise InputError("the values of a column of whole numbers must be whole numbers.")
        facts["categories"] = [int(value) for value in values] if kind == "integer" else values
    return facts


def _toml_text(data: Mapping[str, Any]) -> str:
    import tomlkit

    document = tomlkit.document()
    for key, value in data.items():
        if key != "tables":
            document.add(key, inline(value))
    tables = tomlkit.table(is_super_table=True)
    for name, facts in data["tables"].items():
        here = table({key: value for key, value in facts.items() if key != "columns"})
        here.add("columns", table(facts["columns"]))
        tables.add(name, here)
    document.add("tables", tables)
    return tomlkit.dumps(document)
