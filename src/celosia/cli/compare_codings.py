"""``celosia compare-codings``: crisp and fuzzy codings of the quasi-identifiers."""

from __future__ import annotations

from typing import Annotated

import typer

from celosia.cli.bases.options import Engine, Json, Memory, Quasi, Sensitive, names


def compare_codings(
    source: Annotated[str, typer.Argument(help="A file (- is standard input), or a policy (.toml) that describes it.")],
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    columns: Annotated[str | None, typer.Option(help="Numeric columns that are coded; the quasi-identifiers.")] = None,
    cells: Annotated[int, typer.Option(min=2, max=100, help="Cells of each column, or of all together.")] = 3,
    least_degree: Annotated[
        float, typer.Option(min=0, max=1, help="Cells in which no record has this degree do not count.")
    ] = 0.0,
    engine: Engine = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Compare k-means, global recoding, fuzzy c-means and Gustafson-Kessel by k, Q-anonymity, l and t."""
    from celosia.cli.bases.show import print_json, print_rows
    from celosia.cli.bases.sources import guess_schema, open_source
    from celosia.release.compare_codings import compare_codings as measure

    roles = {"quasi": names(quasi or columns), "sensitive": names(sensitive)}
    table, policy = open_source(source, roles, engine=engine, memory=memory)
    if policy is None and not table.schema.quasi:
        table = table.with_schema(guess_schema(table))
    codings = measure(table, cells, columns=names(columns), least_degree=least_degree)
    if json:
        print_json({"codings": codings.to_dicts()})
        return
    rows = [
        (
            row["coding"],
            "joint" if row["joint"] else "independent",
            *(_format_value(row[name]) for name in codings.columns[2:]),
        )
        for row in codings.to_dicts()
    ]
    print_rows("Codings (larger k, Q and l and a smaller t are safer)", ("coding", "", *codings.columns[2:]), rows)


def _format_value(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
