"""The written file, judged a second time before its certificate is sealed, and again by whoever verifies it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.checker.checking import Claimed, Judged, judged
from celosia.checker.reading import OwnerFacts, Written, written
from celosia.data.engines.row_codes import NO_PERSON
from celosia.errors import CelosiaError, Contradiction
from celosia.parts import ComparesWithInput, Model, Risk, population_table
from celosia.release.evidence import evidence
from celosia.release.evidence.public import requirement
from celosia.release.leaving.leaving import overwritten

if TYPE_CHECKING:
    import polars as pl

    from celosia.data.schema import Schema
    from celosia.release.evidence.evidence import Release
    from celosia.release.evidence.findings import Finding
    from celosia.table import Table

MOST_PEOPLE = 100_000
"""People of a population that the second implementation looks at."""


def check_release(
    release: Release,
    draft: Path,
    certificate: Mapping[str, Any],
    record: Mapping[str, Any],
    type: str,  # noqa: A002
) -> dict[str, Any]:
    """Judge every claim from the file as it was written; refuse the release where the two implementations disagree.

    What the certificate says about it: the parts that were ``confirmed``, those of which only a ``sampled`` part of the
    classes was looked at, and those that were ``not checked``, with the reason.
    """
    findings = [*release.assessment.models, *release.assessment.risks]
    facts = _owner_facts(release, findings, record)
    file = written(draft, certificate["schema"], facts, type=type, seed=_seed(draft))
    _same_shape(file, certificate["release"])
    counted = certificate["counted"]
    verdicts = judged([_claimed(finding, counted) for finding in findings if _judgeable(finding)], file, facts)
    claims = (*certificate["requirements"], *certificate["risks"])
    _refuse_wrong(verdicts, {claim["part"]: claim["value"] for claim in claims})
    return summary(verdicts)


def further_claims(release: Release, name: str, draft: Path, type: str) -> dict[str, Any]:  # noqa: A002
    """Requirements and risks of a further table for the certificate, confirmed from the file as it was written.

    Empty for a table without the columns of the main one: its own method states what it guarantees.
    """
    if name not in release.further:
        return {}
    assessment = release.further[name]
    findings = [finding for finding in (*assessment.models, *assessment.risks) if _judgeable(finding)]
    file = written(draft, release.certificate["schema"], OwnerFacts(), type=type, seed=_seed(draft))
    verdicts = judged([_claimed(finding, release.certificate["counted"]) for finding in findings], file, OwnerFacts())
    _refuse_wrong(verdicts, {finding.spec()["part"]: finding.value for finding in findings})
    return {
        "suppressed": assessment.table.suppressed() if assessment.table.schema.quasi else 0,
        "requirements": [requirement(finding, assessment.table) for finding in assessment.models],
        "risks": [finding.spec() for finding in assessment.risks],
        "checked": summary(verdicts),
    }


def _refuse_wrong(verdicts: Iterable[Judged], stated: Mapping[str, Any]) -> None:
    wrong = [verdict for verdict in verdicts if verdict.agrees is False]
    if wrong:
        each = (f"{v.part} is stated as {stated.get(v.part)}, and found as {v.found:.12g}" for v in wrong)
        raise Contradiction(
            f"a second implementation contradicts the release: {'; '.join(each)}. Nothing was written. This is a "
            "fault of Celosia: please report it."
        )


def summary(verdicts: Iterable[Judged]) -> dict[str, Any]:
    """The verdicts as a certificate states them."""
    verdicts = list(verdicts)
    return {
        "confirmed": [v.part for v in verdicts if v.agrees and not v.sampled],
        "sampled": [v.part for v in verdicts if v.agrees and v.sampled],
        "not checked": {v.part: v.note for v in verdicts if v.agrees is None},
    }


def check_file(
    claims: Iterable[tuple[Model | Risk, Mapping[str, Any]]],
    data: Path,
    stated: Mapping[str, Any],
    record: Mapping[str, Any],
) -> list[Judged]:
    """Judge claims from a released file and its certificate alone; what needs the input is not judged."""
    from celosia.data.io.filetypes import type_of

    facts = OwnerFacts(persons=_owners(record, stated["release"]["rows"]))
    file = written(data, stated["schema"], facts, type=type_of(data).name, seed=_seed(data))
    return judged(
        [
            Claimed(claim["part"], part.name, _parameters(part), _as_float(claim["value"]), claim.get("holds"), counted)
            for part, claim in claims
            for counted in (claim.get("counted") or stated["counted"],)
        ],
        file,
        facts,
    )


def _seed(file: Path) -> int:
    return int(evidence.file_hash(file)[:8], 16)


def _as_float(value: Any) -> float | None:
    return None if value is None else float(value)


def _judgeable(finding: Finding) -> bool:
    return finding.holds is not None or isinstance(finding.part, Risk)


def _claimed(finding: Finding, counted: Any) -> Claimed:
    part = finding.part
    stated = finding.spec()["part"]
    return Claimed(stated, part.name, _parameters(part), finding.value, finding.holds, counted)


def _parameters(part: Any) -> dict[str, Any]:
    return {name: value for name, value in part.spec().items() if name != "use"}


def _same_shape(file: Written, claims: Mapping[str, Any]) -> None:
    """The file has the rows, columns and suppressed records that the certificate states."""
    hidden = {claims["suppressed"]}
    hidden |= {file.rows} if claims["suppressed"] == 0 and file.suppressed == file.rows else set()  # all stars
    stated = (claims["rows"], list(claims["columns"]))
    if (file.rows, list(file.columns)) != stated or file.suppressed not in hidden:
        raise Contradiction(
            f"the written file has {file.rows} rows, {file.suppressed} of them suppressed, and {len(file.columns)} "
            f"columns; the release has {claims['rows']}, {claims['suppressed']} and {len(claims['columns'])}. "
            "Nothing was written. This is a fault of Celosia: please report it."
        )


def _owner_facts(release: Release, findings: Iterable[Finding], record: Mapping[str, Any]) -> OwnerFacts:
    """What the publisher knows besides the file."""
    original, methods = release.original, [s["method"] for s in release.table.secrets if "method" in s]
    changed = set(overwritten(original, methods))
    drawn = any(method.rows == "new" for method in methods)
    schema = original.schema
    unchanged = frozenset() if drawn else frozenset(name for name in schema.names if name not in changed)
    compares = any(isinstance(finding.part, ComparesWithInput) for finding in findings)
    columns = [name for name in schema.sensitive if name in unchanged] if compares else []
    inputs = {name: distribution(original, name) for name in columns}
    populations = _populations(findings, schema.person)
    paths = {name: _paths(schema, name, counts["value"]) for name, counts in inputs.items()}
    for people in populations.values():  # raw values of the population, whose labels the file may hold
        paths |= {name: _paths(schema, name, people[name].unique()) for name in schema.quasi if name in people.columns}
    return OwnerFacts(
        persons=_owners(record),
        inputs=inputs,
        orders={name: schema[name].order for name in columns if schema[name].order},
        paths={name: path for name, path in paths.items() if path},
        unchanged=unchanged,
        populations={part: people.to_dicts() for part, people in populations.items()},
    )


def _owners(record: Mapping[str, Any], rows: int | None = None) -> list[int | None] | None:
    """The person of each row of the file, where the private record tells."""
    numbers = evidence.released_persons(record, rows)
    return None if numbers is None else [None if who == NO_PERSON else who for who in numbers.tolist()]


def distribution(table: Table, name: str) -> pl.DataFrame:
    """Each value of a column and how many persons have it, counted by the engine."""
    import narwhals as nw

    person = table.schema.person
    frame = nw.from_native(table.rows.frame).rename({name: "value"})
    if person is None:
        counted = frame.group_by("value").agg(nw.len().alias("count"))
        return table.engine.collect(counted.with_columns(each=nw.col("count")).to_native())
    pairs = frame.select("value", nw.col(person if person != name else "value").alias("who"))
    rows = pairs.group_by("value", "who").agg(nw.len().alias("rows"))
    unknown = nw.when(nw.col("who").is_null()).then(nw.col("rows")).otherwise(nw.lit(1))
    counted = (
        rows.with_columns(each=unknown)
        .group_by("value")
        .agg(nw.len().alias("count"), nw.col("each").sum().cast(nw.Int64))
    )
    return table.engine.collect(counted.to_native())


def _paths(schema: Schema, name: str, values: pl.Series) -> tuple[tuple[str, ...], ...]:
    """The labels of each value of a column up to the root; none without a hierarchy, or where it lacks one of them."""
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
    """The people of the populations that models count, where persons and rows are the same and they are not many."""
    from celosia.table.source import open_source

    populations = {}
    for finding in findings:
        source = population_table(finding.part) if finding.holds is not None else None
        if source is None:
            continue
        table = open_source(source)
        if person not in table.names and len(table) <= MOST_PEOPLE:
            populations[finding.spec()["part"]] = table.polars()
    return populations
