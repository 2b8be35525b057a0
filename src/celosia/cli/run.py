"""``celosia run``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli.bases.options import Details, Engine, Json, Memory, Sign, end_with

if TYPE_CHECKING:
    from celosia.frontier import Frontier
    from celosia.release.policy.policy import Policy


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
    """Run the main job of a policy: protected file, report, certificate and private record."""
    from celosia.cli.bases.show import print_release, progress
    from celosia.release.policy.policy import Policy
    from celosia.release.run import run as run_policy

    given = Policy.load(policy)
    with progress() as report_progress:
        release = run_policy(
            given,
            until=until,
            without=without or (),
            overwrite=overwrite,
            sign=sign,
            engine=engine,
            memory=memory,
            progress=report_progress,
            exploration=_stored_exploration(given),
        )
    print_release(release, json=json, details=details)
    end_with(0 if release.holds and not release.is_empty else 3)


def _stored_exploration(policy: Policy) -> Frontier | None:
    """Return the exploration that the policy's store holds, for the map in the report; nothing is evaluated."""
    plan = policy.explore
    if plan.store is None or not plan.store.exists():
        return None
    from celosia.frontier import explore

    frontier = explore(
        policy.table(),
        plan.candidates,
        risk=plan.risk,
        loss=plan.loss,
        seeds=plan.seeds,
        seed=policy.run.seed,
        max_risk=plan.max_risk,
        max_loss=plan.max_loss,
        store=plan.store,
        budget_seconds=0.0,
    )
    return frontier if frontier.points else None
