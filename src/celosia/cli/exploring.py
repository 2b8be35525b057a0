"""``celosia explore``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.cli.measure import guessed_schema, open_source
from celosia.cli.show import console, print_json, progress
from celosia.data.credentials import refuse_literal
from celosia.data.toml_text import steps_text
from celosia.errors import RequirementError
from celosia.parts import Credential
from celosia.release.policy import Exploration

if TYPE_CHECKING:
    from celosia.frontier import Frontier, Point


def explore_source(
    source: str,
    *,
    roles: Mapping[str, Any],
    candidates: Sequence[str],
    settings: Mapping[str, Any],
    seed: int | None,
    html: Path | None,
    json: bool,
) -> bool:
    """Explore a file or a policy and print the frontier; tells whether a candidate keeps the limits."""
    from celosia.frontier import explore
    from celosia.frontier.candidates import listed

    table, policy = open_source(source, roles)
    if policy is None and not roles.get("quasi"):
        table = table.with_schema(guessed_schema(table))
    for method in (method for one in (listed(table, candidates) if candidates else ()) for method in one.methods):
        for field in method.fields_marked(Credential):
            refuse_literal(getattr(method, field), f"{method.name}: {field}")
    plan = policy.explore if policy else Exploration()
    given = {name: value for name, value in settings.items() if value is not None}
    chosen = {**{name: getattr(plan, name) for name in settings}, **given}
    chosen_seed = seed if seed is not None else (policy.run.seed if policy else None)
    with progress() as tell:
        found = explore(table, list(candidates) or plan.candidates, seed=chosen_seed, progress=tell, **chosen)
    if html is not None:
        from celosia.release.report.ru_map import exploration_page

        exploration_page(found, html, language=policy.output.language if policy else "en")
    best = best_of(found)
    if json:
        print_json({**found.spec(), "best": best.spec() if best else None})
    else:
        out = console()
        out.print(found)
        if best is not None:
            out.print("\nThe best as steps of a policy:\n")
            out.print(steps_text(best.candidate.spec()), end="")
    return best is not None


def best_of(found: Frontier) -> Point | None:
    """The best point under the limits, or None."""
    try:
        return found.best()
    except RequirementError:
        return None
