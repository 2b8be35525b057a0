"""``celosia apply``: the transformation of a release on new records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli.bases.options import Engine, Json, end_with
from celosia.errors import ParameterError

if TYPE_CHECKING:
    from celosia.release.apply import Reused


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
    suppress_violating: Annotated[
        bool, typer.Option("--suppress-violating", help="Suppress the records that violate a requirement.")
    ] = False,
    acknowledge: Annotated[
        list[str] | None, typer.Option(help="COLUMN=REASON: release what the guard reports in the column.")
    ] = None,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Apply the transformation of a release to new records; list those that violate the requirements."""
    from celosia.cli.bases.show import console, print_json, print_left_out
    from celosia.data.io.atomic import refuse_existing
    from celosia.release.apply import apply as reuse
    from celosia.release.evidence.certificate import load_record
    from celosia.release.output.write import write
    from celosia.release.policy.policy import Policy

    reasons = dict(map(_reason, acknowledge or []))
    if not overwrite:
        refuse_existing([out])
    applied = reuse(record, source, released=released, suppress_violating=suppress_violating, engine=engine)
    if not applied.holds and not violating:
        _refuse(applied, json=json)
        return
    policy = Policy.from_record(load_record(record), record.parent)
    output = policy.output
    originals = [Path(source), record, *(path for path in (released, policy.input.path) if path is not None)]
    written = write(
        applied.table,
        out,
        original=applied.original,
        methods=applied.methods,
        keep=output.columns,
        order=output.order,
        originals=originals,
        overwrite=overwrite,
        keeping="output.columns",
        acknowledge={**policy.guard.acknowledge, **reasons},
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
    if suppress_violating:
        shown.print(f"{int(applied.suppressed.sum())} more violated a requirement and are suppressed.")
    for requirement in summary["requirements"]:
        shown.print(f"{requirement['part']}: {requirement['violating']} new records violate it")
    _print_drift(applied)
    print_left_out(leaving, "The policy of the release decides: change its roles or output.columns, and run it again.")


def _reason(text: str) -> tuple[str, str]:
    """Return column and reason of an option COLUMN=REASON."""
    column, sign, reason = text.partition("=")
    if not sign or not reason.strip():
        raise ParameterError(f"--acknowledge must be COLUMN=REASON, got {text!r}.")
    return column, reason.strip()


def _print_drift(applied: Reused) -> None:
    """Print the columns of the new records that differ from the earlier ones."""
    from celosia.cli.bases.show import console, print_rows

    if applied.drift is None:
        console().print("Drift was not measured: the original is not there, and no release is given (--released).")
        return
    rows = [
        (column.column, f"{column.unknown:,}", f"{column.distance:.1%}", "SHIFTED" if column.is_shifted else "")
        for column in applied.drift
        if column.unknown or column.is_shifted
    ]
    if rows:
        print_rows("Drift against the earlier records", ("column", "records with new values", "distance", ""), rows)


def _refuse(applied: Reused, *, json: bool) -> None:
    """Print the requirements that do not hold; nothing is written."""
    from celosia.cli.bases.show import console, print_json

    summary = applied.spec()
    end_with(3)
    if json:
        print_json({**summary, "out": None})
        return
    shown = console()
    for requirement in summary["requirements"]:
        shown.print(f"{requirement['part']}: {requirement['violating']} new records violate it")
    shown.print(
        f"Nothing was written: {summary['rows']} new records do not meet every requirement. Apply more records at "
        "once, judge them together with the release (--released), suppress the records that violate it "
        "(--suppress-violating), run the policy on them, or pass --write-violating."
    )
    _print_drift(applied)
