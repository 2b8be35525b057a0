"""``celosia run``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Details, Engine, Json, Memory, Sign, end_with


def run(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    until: Annotated[str | None, typer.Option(help="Run the steps up to this one.")] = None,
    without: Annotated[list[str] | None, typer.Option(help="Leave this step out.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a release that is there already.")] = False,
    sign: Sign = None,
    engine: Engine = None,
    memory: Memory = None,
    details: Details = False,
    json: Json = False,
) -> None:
    """The main job: protected file, report, certificate and private record from a policy."""
    from celosia.cli.bases.show import print_release, progress
    from celosia.release.running import run as run_policy

    with progress() as tell:
        release = run_policy(
            policy,
            until=until,
            without=without or (),
            overwrite=overwrite,
            sign=sign,
            engine=engine,
            memory=memory,
            progress=tell,
        )
    print_release(release, json=json, details=details)
    end_with(0 if release.holds else 3)
