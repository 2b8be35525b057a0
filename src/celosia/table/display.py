"""Display a table at the prompt of Python and in a notebook: its size, its roles, and a preview of rows.

The preview is shown in interactive sessions only. A script, a service, a log or an error message has the counts and the
roles alone, since others may read it.
"""

from __future__ import annotations

import sys
from html import escape
from typing import TYPE_CHECKING

from celosia.data.engines.lazy_frames import HIDDEN, select_columns
from celosia.data.schema import Role

if TYPE_CHECKING:
    import polars as pl

    from celosia.table.table import Table

PREVIEW = 5
"""Rows of a preview."""
WIDEST = 60
"""Characters of a cell in a preview."""


def is_interactive() -> bool:
    """Whether the session is interactive: the prompt of Python, or a notebook."""
    shell = sys.modules.get("IPython")
    return hasattr(sys, "ps1") or (shell is not None and shell.get_ipython() is not None)


def description(table: Table) -> str:
    """Describe the size of a table, its steps and its roles, without cells."""
    roles = roles_of(table)
    width = max((len(role) for role in roles), default=0)
    return "\n".join([headline(table), *(f"  {role:<{width}}  {', '.join(names)}" for role, names in roles.items())])


def headline(table: Table) -> str:
    """State the number of rows, if it is known or counted fast, the number of columns, and the steps."""
    counted = table.engine.can_preview() or table.counts.has_length
    rows = f"{len(table):,} rows × " if counted else ""
    steps = [str(entry.get("step", "")) for entry in table.history]
    done = f", after {', '.join(steps)}" if steps else ""
    return f"Table: {rows}{len(table.names)} columns on {table.engine.name}{done}"


def roles_of(table: Table) -> dict[str, list[str]]:
    """List the columns by role; one with several roles is under each."""
    roles = {str(role): [c.name for c in table.schema.columns if role in c.roles and c.declared] for role in Role}
    roles["no role"] = [c.name for c in table.schema.columns if not c.declared]
    return {role: names for role, names in roles.items() if names}


def preview(table: Table, rows: int = PREVIEW) -> pl.DataFrame:
    """Collect the first rows."""
    import narwhals as nw

    frame = nw.from_native(select_columns(table.rows.frame, [n for n in table.names if n not in HIDDEN]))
    return table.engine.collect(frame.head(rows).to_native())


def preview_html(table: Table) -> str:
    """Format the first rows for a notebook."""
    data = preview(table)
    head = "".join(f"<th>{escape(name)}</th>" for name in data.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>" for row in data.rows()
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


__all__ = ["description", "headline", "is_interactive", "preview", "preview_html", "roles_of"]
