"""``celosia demo``: the main job on generated data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Details, Engine, Json, end_with


def demo(
    out: Annotated[Path, typer.Option(help="Directory for the demonstration.")] = Path("demo"),
    persons: Annotated[
        int, typer.Option(min=100, max=10_000_000, help="Number of persons in the generated population.")
    ] = 20_000,
    engine: Engine = None,
    details: Details = False,
    json: Json = False,
) -> None:
    """Run the main job on a generated population of patients: no argument needed."""
    from celosia.cli.bases.show import print_release, progress
    from celosia.demo import prepare
    from celosia.release.run import run as run_policy

    policy = prepare(out, persons)
    with progress() as report_progress:
        release = run_policy(policy, overwrite=True, engine=engine, progress=report_progress)
    print_release(release, json=json, details=details)
    end_with(0 if release.holds else 3)
