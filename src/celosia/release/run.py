"""The main job: from a policy to a release, written whole or not at all."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import __version__
from celosia.data.io import write
from celosia.data.io.atomic import refuse_existing
from celosia.data.io.facts import file_version
from celosia.data.io.filetypes import type_of
from celosia.data.spill import sweep_here
from celosia.errors import DataError, OutputError, PolicyError, RequirementError, UnknownName, explain_failures
from celosia.methods.bases.domain import cover_hierarchies
from celosia.parts import Attack, Formal, public_spec, withheld_parameters
from celosia.parts.progress import Progress, subrange
from celosia.release.assess import assess_table
from celosia.release.compare import compare
from celosia.release.evidence import history
from celosia.release.evidence.certificate import (
    CERTIFICATE_FORMAT,
    RECORD_FORMAT,
    About,
    CertificateDraft,
    Facts,
    FurtherTable,
    Input,
    Order,
    PublicStep,
    RecordDraft,
    RecordedStep,
    ReleasedTable,
    Roles,
    load_certificate,
)
from celosia.release.evidence.findings import Assessment, Comparison
from celosia.release.evidence.plain_data import plain, pretty_json
from celosia.release.evidence.public import Disclosure, public_evidence, public_requirement, without_names
from celosia.release.evidence.release import Release
from celosia.release.evidence.row_map import (
    first_records_of_persons,
    pack_persons,
    pack_remaining,
    remaining_ids,
)
from celosia.release.evidence.seal import draft_files, file_hash, finish_interrupted, fresh_key, now, seal
from celosia.release.evidence.signature import Signer
from celosia.release.output.column_profile import Frame
from celosia.release.output.columns import (
    OutputTable,
    formal_columns,
    further_tables,
    order_records,
    order_stream,
    select_output,
    with_further_tables,
)
from celosia.release.output.write import output_facts, sibling_path, writer_options
from celosia.release.plan import Plan, check_columns
from celosia.release.policy.feasibility import formal_options
from celosia.release.policy.policy import Output, Policy, Step
from celosia.release.policy.text import absolute_spec, policy_toml
from celosia.release.verify.second_check import check_further_table, check_release
from celosia.show.notebook import progress_bar
from celosia.streams import Stream, fresh_seed
from celosia.table import Table
from celosia.table.columns import column_types
from celosia.table.derive import with_record_ids
from celosia.table.frames import stream_rows, table_fingerprint, visible_frame
from celosia.table.materialise import materialise
from celosia.table.suppression import blank_suppressed, drop_marks

if TYPE_CHECKING:
    from celosia.frontier import Frontier

SMALLEST_SEED = 1 << 64
"""A smaller seed can be found by trying all of them, and with it anyone can replay the noise."""
RESIDENT_INPUT = 300_000
"""Cells of the largest input whose rows a run keeps in memory; from there on stored codes take less time and memory."""
INNER = {"method", "tables", "aside", "made"}
"""Objects in the private evidence of a step, which are not written into the record."""


@explain_failures()
def run(
    policy: Policy | str | Path,
    *,
    until: str | None = None,
    without: Sequence[str] = (),
    overwrite: bool = False,
    sign: str | Path | None = None,
    engine: str | None = None,
    memory: str | int | None = None,
    progress: Progress | None = None,
    exploration: Frontier | None = None,
) -> Release:
    """Read, protect, measure and write the release that a policy describes.

    ``until`` runs the steps up to one, ``without`` leaves some out. Existing files are replaced only with
    ``overwrite``, or if the policy sets ``output.overwrite``. ``sign`` is the file of a private key that signs the
    certificate (:mod:`celosia.release.evidence.signature`). ``engine`` and ``memory`` ("2GB") override the policy's.
    ``exploration`` is a result of :func:`celosia.explore`, whose map the internal report shows.
    """
    policy = policy if isinstance(policy, Policy) else Policy.load(policy)
    policy = policy.select(until=until, without=without)
    sweep_here()
    with progress_bar(progress) as listener:
        report = listener or (lambda *_: None)
        seed = _seed(policy)
        signer = None if sign is None else Signer.load(sign)
        if not (overwrite or policy.output.overwrite):
            refuse_existing(release_paths(policy.output).values())  # before the work
        report("read", 0.0)
        methods = [step.method for step in policy.steps]
        as_text = formal_options(methods, policy.schema, policy.source)
        source = policy.table(engine=engine, memory=memory, options=as_text)
        source.engine.resident_cells = RESIDENT_INPUT
        original = materialise(with_record_ids(source))
        formal = any(isinstance(method, Formal) and method.covers_table for method in methods)
        original = with_record_ids(cover_hierarchies(original)) if formal else original
        check_input(original, formal=formal)
        measured = [*policy.require, *policy.risks, *policy.losses]
        plan = Plan.resolve(original, policy.steps, seed=seed, measured=measured, scheme=policy.run.streams)
        check_columns(original, [*policy.require, *policy.risks])
        check_purpose(original, policy)
        policy = policy.model_copy(update={"steps": plan.steps})
        protected = plan.run(progress=subrange(report, 0.1, 0.8))
        report("measure", 0.8)
        release = finish(original, protected, policy, seed)
        report("write", 0.9)
        replaces = overwrite or policy.output.overwrite
        written = write_release(release, policy, overwrite=replaces, signer=signer, exploration=exploration)
        report("done", 1.0)
    return written


def finish(original: Table, protected: Table, policy: Policy, seed: int) -> Release:
    """Decide what is released, measure it, and build the evidence."""
    if not all(len(table) for table in (protected, *further_tables(protected).values())):
        raise RequirementError(
            "the steps leave no record: there is nothing to release. Ask for less, generalise before records are "
            "suppressed, or keep suppressed records as rows (drop = false)."
        )
    formal = _is_formal(policy)
    require = () if formal else policy.require  # under a formal guarantee no cell may depend on the input
    copies = {
        name: drop_marks(blank_suppressed(table, require))
        for name, table in further_tables(protected).items()
        if table.schema.quasi
    }
    protected = with_further_tables(drop_marks(blank_suppressed(protected, require)), copies)
    methods = [step.method for step in policy.steps]
    leaving = select_output(original, protected, methods, policy.output.columns, acknowledge=policy.guard.acknowledge)
    earlier = history.check_history(original, leaving.table, policy)
    before = assess_table(original, policy.require, policy.risks)
    after = assess_table(protected, policy.require, policy.risks)
    further = _assess_further(protected, policy)
    attacks = tuple(risk for risk in policy.risks if isinstance(risk, Attack))
    comparison = compare(original, protected, policy.losses, attacks)
    stream = Stream.of(seed, functools.partial(table_fingerprint, original))
    released = order_records(leaving, policy.output.order, stream)
    certificate = _certificate(released, leaving, policy, after, comparison)
    certificate.holds = after.holds and all(each.holds for each in further.values())
    record = _record(leaving, released, policy, seed, _order(leaving, policy, stream), before, after, comparison)
    if policy.history.releases:
        disclosure = Disclosure.between(original, protected)
        certificate.history = history.public_check(earlier, policy, disclosure, formal=formal)
        record.committed = history.commitments(policy)
        record.history = [finding.claim() for finding in earlier]
    keep = policy.purpose.keep
    return Release(released, original, after, before, comparison, certificate, record, further=further, keep=keep)


def _is_formal(policy: Policy) -> bool:
    """Return whether a step of the policy has a formal guarantee."""
    return any(isinstance(step.method, Formal) for step in policy.steps)


def _assess_further(protected: Table, policy: Policy) -> dict[str, Assessment]:
    """Measure requirements and risks on every further table that has the columns of the main one."""
    copies = {n: t for n, t in further_tables(protected).items() if set(t.names) == set(protected.names)}
    return {name: assess_table(copy, policy.require, policy.risks) for name, copy in copies.items()}


def check_input(table: Table, *, formal: bool = False) -> None:
    """Validate an input table, and encode the columns that all later counts are computed from.

    Raise if it has no rows, no quasi-identifier, an empty quasi-identifier, or numbers that are not finite.

    Under a ``formal`` guarantee the cells are not checked, as they must not decide whether there is a release.
    """
    import narwhals as nw

    quasi = table.schema.need_quasi()
    if len(table) == 0:
        raise DataError("the table has no rows.")
    if formal:
        return
    types = table.rows.types
    checks: dict[str, Any] = {}
    for name in (n for n in types if not n.startswith("__") and types[n].is_float()):
        checks[name] = (nw.col(name).is_nan() | ~nw.col(name).is_finite()).cast(nw.Int64).sum()
    frame = nw.from_native(table.rows.frame)
    counts = table.engine.collect(frame.select(**checks).to_native()).row(0, named=True) if checks else {}
    for name, count in counts.items():
        if count:
            raise DataError(f"column {name!r} holds {count} values that are not finite numbers (NaN or infinite).")
    # all later counts are computed from these
    table.counts.prepare(quasi, table.schema.sensitive, keep_rows=True)
    for name in quasi:
        if table.counts.histogram([name], rows_only=True).column(name).present.is_empty():
            raise DataError(f"quasi-identifier {name!r} has no value in any of the {len(table)} rows: leave it out.")


def check_purpose(table: Table, policy: Policy) -> None:
    """Raise if ``keep`` names a column that the table does not have."""
    for name in policy.purpose.keep:
        if name not in table.names:
            raise UnknownName.of("column", name, table.names, "([purpose] keep)")


def _seed(policy: Policy) -> int:
    seed = policy.run.seed
    if seed is None:
        return fresh_seed()
    if seed < SMALLEST_SEED and not policy.run.testing:
        raise PolicyError(
            f"run.seed has {seed.bit_length()} bits: a small seed can be guessed and undoes the protection. "
            "Leave it out, give at least 65 bits, or say testing = true for a test."
        )
    return seed


BASELINE = (
    "distributions are compared with those of the input table; a column that a step wrote record by record (synthesis, "
    "noise, swapping) is compared with its own distribution after that step"
)


def _certificate(
    released: Table, leaving: OutputTable, policy: Policy, after: Assessment, comparison: Comparison
) -> CertificateDraft:
    original, protected = comparison.original, comparison.protected
    unreleased = set(leaving.original.names) - set(released.names)
    certificate = CertificateDraft(
        format=CERTIFICATE_FORMAT,
        celosia=__version__,
        created=now(),
        release=ReleasedTable(rows=len(released), columns=list(released.names), suppressed=int(released.suppressed())),
        roles=Roles.model_validate(released.schema.spec()),
        counted="persons" if protected.schema.person else "records",
        left_out=len(unreleased),
        guard=[sighting.entry() for sighting in leaving.sightings],
        holds=after.holds,
        requirements=[public_requirement(finding, protected) for finding in after.models],
        risks=[finding.claim() for finding in after.risks],
        steps=_public_steps(policy.steps, released.history, unreleased),
        baseline=BASELINE,
        order=policy.output.order,
    )
    about = policy.about.model_dump(mode="json", exclude_defaults=True)
    if about:
        certificate.about = About(**about)
    if leaving.kept:
        certificate.kept = list(leaving.kept)
    if _is_formal(policy):
        # Exact numbers measured on the original would void the guarantee: they stay in the private record.
        covered = formal_columns(leaving.original, released, leaving.methods)
        some = [name for name in released.names if name in covered]
        extent = "" if len(some) == len(released.names) else f", which covers only: {', '.join(some) or 'no column'}"
        reason = "measures against the original are withheld: they would void the formal guarantee"
        certificate.formal = f"{reason}{extent}"
    else:
        disclosure = Disclosure.between(original, protected)
        certificate.losses = [disclosure.claim(finding) for finding in comparison.losses]
        certificate.attacks = [disclosure.claim(finding) for finding in comparison.risks]
    return certificate


def _public_steps(
    steps: Sequence[Step], entries: Sequence[Mapping[str, Any]], unreleased: Collection[str]
) -> list[PublicStep]:
    """Return the steps as they may be published; a formal guarantee covers no evidence of the steps before it."""
    last = max((i for i, step in enumerate(steps) if isinstance(step.method, Formal)), default=0)
    return [
        _public_step(step, entry if i >= last or isinstance(step.method, Formal) else {}, unreleased)
        for i, (step, entry) in enumerate(zip(steps, entries, strict=True))
    ]


def _public_step(step: Step, entry: Mapping[str, Any], unreleased: Collection[str]) -> PublicStep:
    withheld, facts = withheld_parameters(step.method), public_evidence(step.method, entry)
    entries: Facts = {"withheld": plain(withheld)} if withheld else {}
    entries |= {key: value for key, value in plain(public_spec(step.method)).items() if key != "use"}
    entries |= {"evidence": facts} if facts else {}
    public = {key: without_names(value, unreleased) for key, value in entries.items()}
    return PublicStep.model_validate({"name": step.name, "use": step.method.name, **public})


def _input_hash(source: Path, original: Table) -> str | None:
    """Return the SHA-256 of the input file, which must be the one that was read; None for a database."""
    if not source.is_file():
        return None
    digest = file_hash(source)
    if original.origin.facts is not None and original.origin.facts.version not in (None, file_version(source)):
        raise DataError(f"{source.name!r} changed while it was read: what was protected is not this file. Run again.")
    return digest


def _record(
    leaving: OutputTable,
    released: Table,
    policy: Policy,
    seed: int,
    order: Order,
    before: Assessment,
    after: Assessment,
    comparison: Comparison,
) -> RecordDraft:
    original, source = leaving.original, Path(policy.source)
    secrets = [{key: value for key, value in secret.items() if key not in INNER} for secret in released.private_history]
    dropped = dict.fromkeys((name for name in original.names if name not in released.names), "dropped")
    record = RecordDraft(
        format=RECORD_FORMAT,
        celosia=__version__,
        created=now(),
        seed=f"{seed:032x}",
        streams=policy.run.streams,
        key=fresh_key().hex(),
        policy=policy.text or policy_toml(policy),
        folder=os.path.relpath(policy.directory, policy.output.path.parent),
        steps=[
            RecordedStep(
                name=step.name,
                parameters=plain(absolute_spec(step.method)),
                evidence=plain({key: value for key, value in entry.items() if key not in {"step", "parameters"}}),
            )
            for step, entry in zip(policy.steps, released.history, strict=True)
        ],
        input=Input(file=source.name, sha256=_input_hash(source, original), content=table_fingerprint(original).hex()),
        order=order,
        transformation=plain(secrets),
        before=before.form(),
        after=after.form(),
        comparison=comparison.form(),
        types={name: str(dtype) for name, dtype in column_types(original).items()},
        left_out=dropped | dict(leaving.left_out),
    )
    persons = _packed_persons(comparison.protected, released, order)
    if persons is not None:
        record.owners = persons
    return record


def _order(leaving: OutputTable, policy: Policy, stream: Stream) -> Order:
    """Return the link from released rows to records of the input: the key of the order, and the remaining records."""
    order = Order(rows=len(leaving.table))
    if policy.output.order == "shuffled":
        order.key = order_stream(leaving, stream).key().hex()
    if any(step.method.rows == "subset" for step in policy.steps):
        order.left = pack_remaining(leaving.table.ids())
    return order


def _packed_persons(protected: Table, released: Table, order: Order) -> str | None:
    """Return which records belong to one person, if the file does not show it, so that counts can be verified."""
    if protected.schema.person is None or protected.schema.person in released.names:
        return None
    ids = remaining_ids(order)
    first = first_records_of_persons(protected, ids)
    return None if first is None else pack_persons(ids, first)


def write_release(
    release: Release,
    policy: Policy,
    *,
    overwrite: bool = False,
    signer: Signer | None = None,
    exploration: Frontier | None = None,
) -> Release:
    """Write data, certificate, private record and report: all of the files appear, or none."""
    others = further_tables(release.table)
    paths = release_paths(policy.output, others)
    finish_interrupted(paths)
    source = Path(policy.source)
    if source.is_file() and any(path.exists() and path.samefile(source) for path in paths.values()):
        raise OutputError(f"the output {paths['data'].name!r} is the input; an original is never overwritten.")
    if not overwrite:
        refuse_existing([*paths.values(), *_stale(policy.output, paths)])
    # a report of the earlier release must not be left next to new data
    with draft_files(paths, lambda: _stale(policy.output, paths), overwrite=overwrite) as drafts:
        _write_data(stream_rows(release.table), drafts["data"], paths["data"], release, policy)
        for name, table in others.items():
            _write_data(visible_frame(table), drafts[name], paths[name], release, policy)
        tables = [_further_table(release, name, table, paths[name], drafts[name]) for name, table in others.items()]
        checked = check_release(release, drafts["data"], type_of(paths["data"]).name)
        draft = release.public.model_copy(update={"checked": checked})
        digest = file_hash(drafts["data"])
        certificate, record = seal(draft, release.private, paths["data"].name, digest, tables, signer)
        drafts["certificate"].write_bytes(pretty_json(certificate.spec()))
        drafts["record"].write_bytes(pretty_json(record.spec()))
        done = replace(release, public=certificate, private=record, paths=paths)
        if policy.output.report:
            from celosia.release.report import render

            language = policy.output.language
            internal = render(done, edition="internal", language=language, exploration=exploration)
            drafts["report"].write_text(render(done, edition="external", language=language), "utf-8")
            drafts["internal"].write_text(internal, "utf-8")
    return done


def _further_table(release: Release, name: str, table: Table, path: Path, draft: Path) -> FurtherTable:
    """Return the certificate's entry for a further table, its claims verified from the written file."""
    further = FurtherTable(
        name=name, file=path.name, sha256=file_hash(draft), rows=len(table), columns=list(table.names)
    )
    assessment = release.further.get(name)
    if assessment is None:  # its own method states what it guarantees
        return further
    further.suppressed = int(assessment.table.suppressed()) if assessment.table.schema.quasi else 0
    further.requirements = [public_requirement(finding, assessment.table) for finding in assessment.models]
    further.risks = [finding.claim() for finding in assessment.risks]
    further.checked = check_further_table(release, assessment, draft, type_of(path).name)
    return further


def _stale(output: Output, paths: Mapping[str, Path]) -> list[Path]:
    """Files of an earlier release at these paths that the new one does not replace: its report, its further tables."""
    earlier = [*release_paths(output.model_copy(update={"report": True})).values()]
    with contextlib.suppress(DataError):  # without a valid certificate its further tables are unknown
        tables = load_certificate(paths["certificate"]).tables
        earlier += [paths["certificate"].with_name(table.file) for table in tables]
    return [path for path in earlier if path not in paths.values()]


def release_paths(output: Output, others: Iterable[str] = ()) -> dict[str, Path]:
    """Paths of the files of a release: in the directory of the data, named after it."""
    path = output.path
    paths = {
        "data": path,
        "certificate": sibling_path(path, ".certificate", ".json"),
        "record": sibling_path(path, ".private", ".json"),
    }
    paths |= {name: sibling_path(path, f".{name}") for name in others}
    if output.report:
        paths["report"] = sibling_path(path, ".report", ".html")
        paths["internal"] = sibling_path(path, ".internal", ".html")
    return paths


def _write_data(frame: Frame, draft: Path, target: Path, release: Release, policy: Policy) -> None:
    facts = output_facts(release.table.origin.facts, [step.method for step in policy.steps], policy.about.title or None)
    options = writer_options(target, policy.output.options)
    write(frame, draft, facts, type=type_of(target).name, overwrite=True, **options)


__all__ = ["check_input", "finish", "run", "write_release"]
