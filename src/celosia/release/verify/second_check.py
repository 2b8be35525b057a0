"""Check the written file with the second implementation, before its certificate is sealed and when it is verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.checker.check import StatedValue, Verdict, judge_all
from celosia.checker.released_file import OwnerFacts, ReleasedRows, read_file
from celosia.data.engines.row_codes import NO_PERSON
from celosia.data.io.released import conflated_columns
from celosia.errors import CelosiaError, Contradiction, OutputError
from celosia.parts import ComparesWithInput, Model, Risk, population_table
from celosia.release.evidence.certificate import Claim, Requirement, SecondCheck
from celosia.release.evidence.row_map import released_persons
from celosia.release.evidence.seal import file_hash
from celosia.release.output.columns import overwritten_columns

if TYPE_CHECKING:
    import polars as pl

    from celosia.data.schema import Schema
    from celosia.parts import Part
    from celosia.release.evidence.certificate import Certificate, Counted, Record, RecordDraft, ReleasedTable
    from celosia.release.evidence.findings import Assessment, Finding
    from celosia.release.evidence.release import Release
    from celosia.table import Table

MOST_PEOPLE = 100_000
"""Largest population that the second implementation counts."""


def check_release(release: Release, draft: Path, type: str) -> SecondCheck:  # noqa: A002
    """Check every claim on the file as it was written; raise if the two implementations disagree."""
    findings = [*release.assessment.models, *release.assessment.risks]
    facts = _owner_facts(release, findings, release.private)
    _refuse_conflated(draft, type)
    file = read_file(draft, release.public.roles.spec(), facts, type=type, seed=_seed(draft))
    _check_shape(file, release.public.release)
    verdicts = judge_all(_stated_values(findings, release.public.counted), file, facts)
    claims = (*release.public.requirements, *release.public.risks)
    _refuse_wrong(verdicts, {claim.part: claim.value for claim in claims})
    return summarise(verdicts)


def check_further_table(release: Release, assessment: Assessment, draft: Path, type: str) -> SecondCheck:  # noqa: A002
    """Check the requirements and risks of a further table on the file as it was written."""
    findings = [*assessment.models, *assessment.risks]
    _refuse_conflated(draft, type)
    file = read_file(draft, release.public.roles.spec(), OwnerFacts(), type=type, seed=_seed(draft))
    verdicts = judge_all(_stated_values(findings, release.public.counted), file, OwnerFacts())
    _refuse_wrong(verdicts, {finding.label: finding.value for finding in findings})
    return summarise(verdicts)


def _refuse_conflated(draft: Path, type: str) -> None:  # noqa: A002
    """Raise if values of a column that differ would be read from the file as equal."""
    for name in conflated_columns(draft, type=type) if type == "csv" else ():  # the other types of file have types
        raise OutputError(
            f"column {name!r}: some of its texts differ but are read from a {type} file as one value (1 and 1.0, NA "
            "and nothing). Nothing was written. Write Parquet, or give such values one notation in the original."
        )


def _refuse_wrong(verdicts: Iterable[Verdict], stated: Mapping[str, Any]) -> None:
    wrong = [verdict for verdict in verdicts if verdict.agrees is False]
    if wrong:
        each = (f"{v.part} is stated as {stated.get(v.part)}, and computed as {v.found:.12g}" for v in wrong)
        raise Contradiction(
            f"a second implementation contradicts the release: {'; '.join(each)}. Nothing was written. This is a "
            "bug of Celosia: please report it."
        )


def summarise(verdicts: Iterable[Verdict]) -> SecondCheck:
    """Return the verdicts as a certificate states them."""
    verdicts = list(verdicts)
    return SecondCheck(
        confirmed=[v.part for v in verdicts if v.agrees and not v.sampled],
        sampled=[v.part for v in verdicts if v.agrees and v.sampled],
        not_checked={v.part: v.note for v in verdicts if v.agrees is None},
    )


def check_file(
    claims: Iterable[tuple[Model | Risk, Claim]], data: Path, stated: Certificate, record: Record | None
) -> list[Verdict]:
    """Check claims on a released file with its certificate alone; claims that need the input are left out."""
    from celosia.data.io.filetypes import type_of

    facts = OwnerFacts(persons=None if record is None else _persons(record, stated.release.rows))
    file = read_file(data, stated.roles.spec(), facts, type=type_of(data).name, seed=_seed(data))
    return judge_all(
        [
            StatedValue(
                claim.part,
                part.name,
                _parameters(part, claim.evidence),
                claim.number,
                claim.holds if isinstance(claim, Requirement) else None,
                claim.counted or stated.counted,
            )
            for part, claim in claims
        ],
        file,
        facts,
    )


def _seed(file: Path) -> int:
    return int(file_hash(file)[:8], 16)


def _stated_values(findings: Iterable[Finding], counted: Counted) -> list[StatedValue]:
    """Return the findings on models and risks, not those of attacks, as the checker takes them."""
    return [
        StatedValue(finding.label, finding.part.name, parameters, finding.value, finding.holds, counted)
        for finding in findings
        if finding.holds is not None or isinstance(finding.part, Risk)
        for parameters in [_parameters(finding.part, finding.evidence)]
    ]


def _parameters(part: Part, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a part, with the distances that its evidence states where none was given."""
    given = {name: value for name, value in part.spec().items() if name != "use"}
    decided = part.model_dump().get("distance") == "auto" and "distance" in evidence
    return {**given, "distance": evidence["distance"]} if decided else given


def _check_shape(file: ReleasedRows, stated: ReleasedTable) -> None:
    """Raise unless the file has the rows, columns and suppressed records that the certificate states."""
    possible = {stated.suppressed}
    if stated.suppressed == 0 and file.suppressed == file.rows:  # everything was generalised to *
        possible.add(file.rows)
    if (file.rows, list(file.columns)) != (stated.rows, stated.columns) or file.suppressed not in possible:
        raise Contradiction(
            f"the written file has {file.rows} rows, {file.suppressed} of them suppressed, and {len(file.columns)} "
            f"columns; the release has {stated.rows}, {stated.suppressed} and {len(stated.columns)}. "
            "Nothing was written. This is a bug of Celosia: please report it."
        )


def _owner_facts(release: Release, findings: Iterable[Finding], record: RecordDraft) -> OwnerFacts:
    """Collect the facts that the publisher knows and the file does not show."""
    original, methods = release.original, [s["method"] for s in release.table.private_history if "method" in s]
    changed = set(overwritten_columns(original, methods))
    synthetic = any(method.rows == "new" for method in methods)
    schema = original.schema
    unchanged = frozenset() if synthetic else frozenset(name for name in schema.names if name not in changed)
    compares = any(isinstance(finding.part, ComparesWithInput) for finding in findings)
    columns = [name for name in schema.sensitive if name in unchanged] if compares else []
    inputs = {name: distribution(original, name) for name in columns}
    populations = _populations(findings, schema.person)
    paths = {name: _paths(schema, name, counts["value"]) for name, counts in inputs.items()}
    for people in populations.values():  # raw values of the population, whose labels the file may hold
        paths |= {name: _paths(schema, name, people[name].unique()) for name in schema.quasi if name in people.columns}
    return OwnerFacts(
        persons=_persons(record),
        inputs=inputs,
        orders={name: schema[name].order for name in columns if schema[name].order},
        paths={name: path for name, path in paths.items() if path},
        unchanged=unchanged,
        populations={part: people.to_dicts() for part, people in populations.items()},
    )


def _persons(record: RecordDraft, rows: int | None = None) -> list[int | None] | None:
    """Return the person of each row of the file; None where the private record does not identify them."""
    numbers = released_persons(record, rows)
    return None if numbers is None else [None if who == NO_PERSON else who for who in numbers.tolist()]


def distribution(table: Table, name: str) -> pl.DataFrame:
    """Count the persons of each value of a column, and of the table, in the engine."""
    import narwhals as nw
    import polars as pl

    person = table.schema.person
    frame = nw.from_native(table.rows.frame).rename({name: "value"})
    if person is None:
        counted = frame.group_by("value").agg(nw.len().alias("count"))
        each = table.engine.collect(counted.with_columns(each=nw.col("count")).to_native())
        return each.with_columns(persons=pl.lit(len(table)), persons_each=pl.lit(len(table)))
    pairs = frame.select("value", nw.col(person if person != name else "value").alias("who"))
    rows = pairs.group_by("value", "who").agg(nw.len().alias("rows"))
    unknown = nw.when(nw.col("who").is_null()).then(nw.col("rows")).otherwise(nw.lit(1))
    counted = (
        rows.with_columns(each=unknown)
        .group_by("value")
        .agg(nw.len().alias("count"), nw.col("each").sum().cast(nw.Int64))
    )
    people = pairs.group_by("who").agg(nw.len().alias("rows")).with_columns(each=unknown)
    whole = table.engine.collect(
        people.select(nw.len().alias("persons"), persons_each=nw.col("each").sum()).to_native()
    )
    return table.engine.collect(counted.to_native()).join(whole, how="cross")


def _paths(schema: Schema, name: str, values: pl.Series) -> tuple[tuple[str, ...], ...]:
    """Return the labels of each value of a column up to the root; none if the hierarchy lacks one of the values."""
    hierarchy = schema.hierarchy(name)
    if hierarchy is None:
        return ()
    try:
        levels = hierarchy.levels(values.drop_nulls(), column=name)
    except CelosiaError:
        return ()
    columns = [levels.labels(level) for level in range(levels.height + 1)]
    return tuple(tuple(map(str, path)) for path in zip(*columns, strict=True))


def _populations(findings: Iterable[Finding], person: str | None) -> dict[str, pl.DataFrame]:
    """Return the records of the populations that models count, where a row is a person and they are not too many."""
    from celosia.table.source import open_source

    populations = {}
    for finding in findings:
        source = population_table(finding.part) if finding.holds is not None else None
        if source is None:
            continue
        table = open_source(source)
        if person not in table.names and len(table) <= MOST_PEOPLE:
            populations[finding.label] = table.polars()
    return populations
