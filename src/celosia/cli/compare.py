"""``celosia compare``: what was lost between two files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli.bases.options import Details, Engine, Json, Memory, Quasi, Sensitive, names

if TYPE_CHECKING:
    from celosia.table import Table


def compare(
    original: Annotated[str, typer.Argument(help="The original file, or a policy (.toml) that describes it.")],
    protected: Annotated[str, typer.Argument(help="The protected file.")],
    key: Annotated[str | None, typer.Option(help="Column of both files that names a record.")] = None,
    by_position: Annotated[
        bool, typer.Option("--by-position", help="State that both files have the same row order.")
    ] = False,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    loss: Annotated[list[str] | None, typer.Option(help="A loss to measure.")] = None,
    risk: Annotated[list[str] | None, typer.Option(help="A risk or an attack to measure.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the comparison as a page as well.")] = None,
    engine: Engine = None,
    memory: Memory = None,
    details: Details = False,
    json: Json = False,
) -> None:
    """Show what was lost between an original and a protected file."""
    from celosia.cli.bases.show import print_comparison, print_json
    from celosia.cli.bases.sources import guess_schema, open_source
    from celosia.release.compare import compare as measure
    from celosia.table import read

    roles = {"quasi": names(quasi), "sensitive": names(sensitive)}
    before, policy = open_source(original, roles, engine=engine, memory=memory)
    if not before.schema.quasi and policy is None:
        before = before.with_schema(guess_schema(before))
    after = read(protected, engine=engine, memory=memory)
    after = after.with_schema(before.schema.keep(after.names).loose())
    losses = loss or (policy.losses if policy else _default_losses(before, after))
    risks = risk or (policy.risks if policy else ())
    comparison = measure(before, after, losses, risks, key=key, by="position" if by_position else None)
    if html is not None:
        from celosia.release.report import comparison_page

        comparison_page(comparison, html)
    print_json(comparison.spec()) if json else print_comparison(comparison, details=details)


def _default_losses(before: Table, after: Table) -> list[str]:
    """Return the default losses: those of classes, and those that suit the columns."""
    from celosia.release.policy.policy import MEASURED_LOSSES
    from celosia.table.pairing import shared_numbers

    numbers = ["scaled-error", "probabilistic-loss", "absolute-error(on=correlation)"]
    return [*MEASURED_LOSSES, "hellinger", "entropy-loss", *(numbers if shared_numbers(before, after) else [])]
