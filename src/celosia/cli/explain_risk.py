"""``celosia explain-risk``: why one record is at risk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Engine, Json, Memory, Quasi, Sensitive, end_with, names


def explain_risk(
    record: Annotated[int, typer.Argument(min=1, help="The row of the original, from 1.")],
    original: Annotated[str, typer.Argument(help="The original file, or a policy (.toml) that describes it.")],
    protected: Annotated[str, typer.Argument(help="The protected file.")],
    private: Annotated[
        Path | None, typer.Option(help="The private record of the release: pairs the rows, knows the columns.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Column of both files that names a record.")] = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    risk: Annotated[list[str] | None, typer.Option(help="A further risk or attack to look at.")] = None,
    limit: Annotated[float, typer.Option(min=0, max=1, help="A chance from which a record counts as reached.")] = 0.2,
    values: Annotated[bool, typer.Option("--values", help="Show the cells of the record, too.")] = False,
    engine: Engine = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Explain the risk of one record: which attacks reach it, through which columns, what would protect it."""
    from celosia.cli.bases.show import console, print_json
    from celosia.cli.bases.sources import open_source
    from celosia.errors import InputError
    from celosia.parts import build
    from celosia.release.evidence.certificate import load_record
    from celosia.release.evidence.plain_data import plain
    from celosia.release.evidence.row_map import row_map
    from celosia.release.explain_risk import explain_risk as explain
    from celosia.release.policy.policy import Policy
    from celosia.table import read
    from celosia.table.derive import with_record_ids
    from celosia.table.pairing import by_ids, by_key

    if (private is None) == (key is None):
        raise InputError("explain-risk: give the private record of the release (--private) or a key column (--key).")
    roles = {"quasi": names(quasi), "sensitive": names(sensitive)}
    before = open_source(original, roles, engine=engine, memory=memory)[0]
    recorded = None if private is None else load_record(private)
    if recorded is not None and private is not None and not before.schema.quasi and recorded.policy:
        before = before.with_schema(Policy.from_record(recorded, private.parent).schema)
    before = with_record_ids(before)
    after = read(protected, engine=engine, memory=memory)
    after = after.with_schema(before.schema.keep(after.names).loose())
    if recorded is None:
        paired = by_key(before, after, str(key)).drop([str(key)])  # it pairs the files, nobody knows it
    else:
        synthetic = [step.name for step in recorded.steps if build("method", step.parameters).rows == "new"]
        if synthetic:
            raise InputError(f"explain-risk: step {synthetic[0]!r} made new records, which are nobody's.")
        paired = by_ids(before, after, row_map(recorded))
    explanation = explain(before, paired, record - 1, attacks=risk or [], limit=limit, values=values)
    print_json(plain(explanation.spec())) if json else console().print(explanation)
    end_with(3 if explanation.reached else 0)
