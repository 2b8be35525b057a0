"""Compare codings of the quasi-identifiers by the fuzzy models: ``celosia.compare_codings``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.schema import Role
from celosia.errors import NotApplicable, explain_failures
from celosia.models import FuzzyLDiversity, FuzzyTCloseness, QAnonymity
from celosia.table import read
from celosia.table.columns import column_types

if TYPE_CHECKING:
    import polars as pl

    from celosia.data.schema import Schema

CODINGS = (
    ("global-recode", False),
    ("k-means", False),
    ("c-means", False),
    ("k-means", True),
    ("c-means", True),
    ("gustafson-kessel", True),
)
"""Codings and whether all columns are coded together; of one column Gustafson–Kessel is fuzzy c-means."""


@explain_failures()
def compare_codings(
    table: object,
    cells: int = 3,
    *,
    schema: Schema | None = None,
    columns: Sequence[str] = (),
    least_degree: float = 0.0,
) -> pl.DataFrame:
    """Measure every coding of the numeric quasi-identifiers: one row per coding.

    Each column is coded in ``cells`` cells and the codings are crossed (independent), or all columns are coded together
    (joint). ``k`` is the smallest number of records whose largest degree is in one cell; Q-anonymity is that of the
    mean over the cells and of the smallest cell; l and t are of the sensitive columns, the worst of them. Cells in
    which no record has ``least_degree`` do not count.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [21, 22, 23, 61, 62, 63], "ill": ["a", "b", "a", "b", "a", "b"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["ill"]))
    >>> compare_codings(table, 2).select("coding", "k", "l").head(2).rows()
    [('global-recode', 3, 2.0), ('k-means', 3, 2.0)]
    """
    import polars as pl

    before = read(table, schema)
    types = column_types(before)
    names = list(columns) or [name for name in before.schema.quasi if types[name].is_numeric()]
    if not names:
        raise NotApplicable("compare-codings: no quasi-identifier holds numbers; name the columns that are coded.")
    own = before.schema
    for name in own.names:
        roles = frozenset({Role.QUASI}) if name in names else own[name].roles - {Role.QUASI}
        own = own.change(name, roles=roles or frozenset({Role.INSENSITIVE}))
    coded = before.with_schema(own)
    rows = []
    for coding, joint in CODINGS:
        if joint and len(names) == 1:
            continue
        common = {"coding": coding, "joint": joint, "cells": cells, "least_degree": least_degree}
        model = QAnonymity(q=1, **common)
        counted = model.table_cells(coded)
        hard = counted.cell_of_each_record()
        hard = hard[hard >= 0]
        sensitive = bool(coded.schema.sensitive)
        rows.append(
            {
                "coding": coding,
                "joint": joint,
                "cells": len(model.classes(coded)),
                "k": int(np.unique(hard, return_counts=True)[1].min(initial=len(hard))),
                "Q mean": model.value(coded),
                "Q min": QAnonymity(q=1, aggregate="min", **common).value(coded),
                "l": FuzzyLDiversity(l=1, **common).value(coded) if sensitive else None,
                "t": FuzzyTCloseness(t=1, **common).value(coded) if sensitive else None,
            }
        )
    return pl.DataFrame(rows)
