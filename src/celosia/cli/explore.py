"""``celosia explore``: many candidates between risk and loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli.bases.options import Engine, Json, Memory, Quasi, end_with, expand_options, names
from celosia.errors import OutputError

WRITTEN = (".csv", ".tex", ".svg", ".png", ".pdf")
"""Endings of the files that an exploration is written to."""
if TYPE_CHECKING:
    from celosia.frontier import Frontier, Point
    from celosia.table import Table


@dataclass(frozen=True, kw_only=True)
class ExploreOptions:
    """Settings of an exploration; what is not given is taken from the policy."""

    risk: Annotated[str | None, typer.Option(help="The risk to measure.")] = None
    loss: Annotated[str | None, typer.Option(help="The loss to measure.")] = None
    seeds: Annotated[int | None, typer.Option(min=1, help="How often each candidate is tried; 5 if not given.")] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the exploration repeatable.")] = None
    max_risk: Annotated[float | None, typer.Option(help="Largest risk that is allowed.")] = None
    max_loss: Annotated[float | None, typer.Option(help="Largest loss that is allowed.")] = None
    budget_seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; one per core if not given.")] = None
    store: Annotated[Path | None, typer.Option(help="Keep results in this file; a later run only adds.")] = None


@expand_options
def explore(
    *,
    source: Annotated[str, typer.Argument(help="A policy (.toml) or a file.")],
    quasi: Quasi = None,
    candidate: Annotated[
        list[str] | None, typer.Option(help="A method to try, such as 'noise(columns=[age], p=0.1)'.")
    ] = None,
    options: ExploreOptions,
    html: Annotated[Path | None, typer.Option(help="Write the map of risk and utility as a page.")] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(help="Write the points (.csv, .tex) or their map (.svg, .png, .pdf); repeatable."),
    ] = None,
    engine: Engine = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Try many methods and parameters; show the balance of risk and loss, and the best under limits."""
    from celosia.cli.bases.show import console, print_json, progress
    from celosia.cli.bases.sources import guess_schema, open_source
    from celosia.data.toml_text import steps_text
    from celosia.frontier import explore as search
    from celosia.release.policy.policy import Exploration

    wrong = next((path for path in out or () if path.suffix.lower() not in WRITTEN), None)
    if wrong is not None:
        raise OutputError(f"{str(wrong)!r}: an exploration is written as {', '.join(WRITTEN)}.")
    table, policy = open_source(source, {"quasi": names(quasi)}, engine=engine, memory=memory)
    if policy is None and not quasi:
        table = table.with_schema(guess_schema(table))
    _refuse_secrets(table, candidate or [])
    plan = policy.explore if policy else Exploration()
    defaults = {**vars(plan), "seed": policy.run.seed if policy else None}
    settings = {name: defaults[name] if value is None else value for name, value in vars(options).items()}
    with progress() as report_progress:
        frontier = search(table, candidate or plan.candidates, progress=report_progress, **settings)
    if html is not None:
        from celosia.release.report.ru_map import exploration_page

        exploration_page(frontier, html, language=policy.output.language if policy else "en")
    for path in out or ():
        frontier.save(path)
    best = _best_of(frontier)
    if json:
        print_json({**frontier.spec(), "best": best.spec() if best else None})
    else:
        shown = console()
        shown.print(frontier)
        if best is not None:
            shown.print("\nThe best as steps of a policy:\n")
            shown.print(steps_text(best.candidate.spec()), end="")
    end_with(0 if best is not None else 3)


def _refuse_secrets(table: Table, candidates: Sequence[str]) -> None:
    """Refuse a secret that stands on the command line itself."""
    from celosia.data.credentials import refuse_literal
    from celosia.frontier.candidates import candidates_of
    from celosia.parts import Credential, marked_fields

    for tried in candidates_of(table, candidates) if candidates else ():
        for method in tried.methods:
            for field in marked_fields(method, Credential):
                refuse_literal(getattr(method, field), f"{method.name}: {field}")


def _best_of(frontier: Frontier) -> Point | None:
    """Return the best point under the limits, or None."""
    from celosia.errors import RequirementError

    try:
        return frontier.best()
    except RequirementError:
        return None
