"""``celosia apply``: the transformation of a release on new records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from celosia.cli.bases.options import Engine, Json, end_with


def apply(
    record: Annotated[Path, typer.Argument(help="The private record of a release.")],
    source: Annotated[str, typer.Argument(help="New records of the same schema.")],
    out: Annotated[Path, typer.Option(help="Path of the protected new records.")],
    released: Annotated[Path | None, typer.Option(help="The earlier release: requirements are judged on both.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a file that is there already.")] = False,
    violating: Annotated[
        bool,
        typer.Option("--write-violating", help="Write the file though a requirement does not hold; exit code 3."),
    ] = False,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Apply the transformation of a release to new records; list those that violate the requirements."""
    from celosia.cli.bases.show import console, print_json, print_left_out
    from celosia.release.apply import apply as reuse
    from celosia.release.evidence.certificate import load_record
    from celosia.release.output.write import write
    from celosia.release.policy.policy import Policy

    applied = reuse(record, source, released=released, engine=engine)
    if not applied.holds and not violating:
        _refuse(applied.spec(), json=json)
        return
    policy = Policy.from_record(load_record(record), record.parent)
    output = policy.output
    written = write(
        applied.table,
        out,
        original=applied.original,
        methods=applied.methods,
        keep=output.columns,
        order=output.order,
        originals=[source],
        overwrite=overwrite,
        keeping="output.columns",
        acknowledge=policy.guard.acknowledge,
    )
    leaving = written.leaving
    summary = {**applied.spec(), "out": str(out), "left_out": list(leaving.left_out)}
    summary["guard"] = [sighting.entry().spec() for sighting in leaving.sightings]
    end_with(0 if applied.holds else 3)
    if json:
        print_json(summary)
        return
    shown = console()
    shown.print(
        f"{summary['rows']} new records written to {out}; {summary['unplaced']} fit no class and are suppressed."
    )
    for requirement in summary["requirements"]:
        shown.print(f"{requirement['part']}: {requirement['violating']} new records violate it")
    print_left_out(leaving, "The policy of the release decides: change its roles or output.columns, and run it again.")


def _refuse(summary: Mapping[str, Any], *, json: bool) -> None:
    """Print the requirements that do not hold; nothing is written."""
    from celosia.cli.bases.show import console, print_json

    end_with(3)
    if json:
        print_json({**summary, "out": None})
        return
    shown = console()
    for requirement in summary["requirements"]:
        shown.print(f"{requirement['part']}: {requirement['violating']} new records violate it")
    shown.print(
        f"Nothing was written: {summary['rows']} new records do not meet every requirement. Apply more records at "
        "once, judge them together with the release (--released), run the policy on them, or pass --write-violating."
    )
