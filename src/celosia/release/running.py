"""The main job: from a policy to a release, written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from celosia.data.io import write
from celosia.data.io.atomic import refuse_taken
from celosia.data.io.filetypes import type_of
from celosia.data.spill import sweep_here
from celosia.errors import DataError, OutputError, PolicyError, RequirementError, explained
from celosia.parts import Attack
from celosia.parts.progress import Progress, stage
from celosia.release.evidence import evidence, history
from celosia.release.evidence.certificate import CERTIFICATE_FORMAT, RECORD_FORMAT, load_certificate
from celosia.release.evidence.evidence import Release
from celosia.release.evidence.findings import Assessment, Comparison
from celosia.release.evidence.signing import Signer
from celosia.release.leaving.leaving import Leaving, arranged, further_tables, order_stream, releasable
from celosia.release.leaving.writing import beside
from celosia.release.measuring import assess, check_columns, compare, step
from celosia.release.policy.fitting import refuse_beyond
from celosia.release.policy.policy import Output, Policy, Step
from celosia.release.policy.text import policy_toml, whole_spec
from celosia.release.verifying.checked import check_release
from celosia.show.notebook import shown
from celosia.streams import Stream, fresh_seed
from celosia.table import Table

SMALLEST_SEED = 1 << 64
"""A seed below this can be found by trying: with it anyone replays the noise."""


INNER = {"method", "tables", "aside"}
"""What a table keeps of its steps that no record states: objects."""


@explained()
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
    exploration: Any = None,
) -> Release:
    """Read, protect, measure and write what a policy says.

    ``until`` runs the steps up to one, ``without`` leaves some out. A result that is there already is replaced only
    with ``overwrite``, or where the policy says ``output.overwrite``. ``sign`` is the file of a private key that signs
    the certificate (:mod:`celosia.release.evidence.signing`). ``engine`` and ``memory`` ("2GB") win over the
    policy's. ``exploration`` is what :func:`celosia.explore` gave: the internal report shows its map.
    """
    policy = policy if isinstance(policy, Policy) else Policy.load(policy)
    policy = policy.select(until=until, without=without)
    sweep_here()
    with shown(progress) as listener:
        tell = listener or (lambda *_: None)
        seed = _seed(policy)
        signer = None if sign is None else Signer.load(sign)
        tell("read", 0.0)
        original = policy.table(engine=engine, memory=memory).identified().computed()
        check_input(original)
        policy = policy.fitted(original.schema)
        refuse_beyond(original, [*(s.method for s in policy.steps), *policy.require, *policy.risks, *policy.losses])
        check_columns(original, [*policy.require, *policy.risks, *(s.method for s in policy.steps[:1])])
        protected = apply_steps(original, policy.steps, Stream.of(seed, original.fingerprint), tell)
        tell("measure", 0.8)
        release = finish(original, protected, policy, seed)
        tell("write", 0.9)
        replaces = overwrite or policy.output.overwrite
        written = write_release(release, policy, overwrite=replaces, signer=signer, exploration=exploration)
        tell("done", 1.0)
    return written


def apply_steps(original: Table, steps: Sequence[Step], stream: Stream, tell: Progress) -> Table:
    """Apply the steps of a policy; each has a random stream of its own, named after it."""
    current = original
    each = 0.7 / max(1, len(steps))
    for i, policy_step in enumerate(steps):
        check_columns(current, [policy_step.method])
        with stage(tell, policy_step.name, 0.1 + each * i, 0.1 + each * (i + 1)):
            current = step(current, policy_step.method, stream.child(policy_step.name), original)
    return current


def finish(original: Table, protected: Table, policy: Policy, seed: int) -> Release:
    """Measure, and put the evidence together."""
    if len(protected) == 0:
        raise RequirementError(
            "the steps leave no record: there is nothing to release. Ask for less, generalise before records are "
            "suppressed, or keep the suppressed ones as rows of stars (drop = false)."
        )
    protected = protected.unmarked()
    methods = [policy_step.method for policy_step in policy.steps]
    leaving = releasable(original, protected, methods, policy.output.columns, acknowledge=policy.guard.acknowledge)
    earlier = history.checked(original, leaving.table, policy)
    before = assess(original, policy.require, policy.risks)
    after = assess(protected, policy.require, policy.risks)
    attacks = tuple(risk for risk in policy.risks if isinstance(risk, Attack))
    comparison = compare(original, protected, policy.losses, attacks)
    stream = Stream.of(seed, original.fingerprint)
    released = arranged(leaving, policy.output.order, stream)
    order = _order(leaving, policy, stream)
    certificate = _certificate(released, leaving, policy, after, comparison)
    record = _record(original, released, policy, seed, order, before, after, comparison)
    if policy.history.releases:
        formal = any(policy_step.method.formal for policy_step in policy.steps)
        certificate["history"] = evidence.plain(history.public(earlier, policy, formal=formal))
        record |= {"committed": history.commitments(policy), "history": evidence.plain([f.spec() for f in earlier])}
    return Release(released, original, after, before, comparison, certificate, record)


def check_input(table: Table) -> None:
    """Refuse a table that cannot be judged: no rows, no quasi-identifier, a quasi-identifier without any value."""
    import narwhals as nw

    quasi = table.schema.need_quasi()
    if len(table) == 0:
        raise DataError("the table has no rows.")
    types = table.engine.types(table.rows.frame)
    checks: dict[str, Any] = {}
    for name in (n for n in types if not n.startswith("__") and types[n].is_float()):
        checks[name] = (nw.col(name).is_nan() | ~nw.col(name).is_finite()).cast(nw.Int64).sum()
    frame = nw.from_native(table.rows.frame)
    counts = table.engine.collect(frame.select(**checks).to_native()).row(0, named=True) if checks else {}
    for name, count in counts.items():
        if count:
            raise DataError(f"column {name!r} holds {count} values that are not finite numbers (NaN or infinite).")
    # what all that follows is counted, digested and written from
    table.classes.count_together(quasi, table.schema.sensitive, keep=True)
    for name in quasi:
        if table.classes.patterns([name], everyone=True).column(name).present.is_empty():
            raise DataError(f"quasi-identifier {name!r} has no value in any of the {len(table)} rows: leave it out.")


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


def _certificate(
    released: Table, leaving: Leaving, policy: Policy, after: Assessment, comparison: Comparison
) -> dict[str, Any]:
    formal = any(policy_step.method.formal for policy_step in policy.steps)
    certificate: dict[str, Any] = {
        "format": CERTIFICATE_FORMAT,
        "celosia": evidence.version(),
        "created": evidence.now(),
        **({"about": about} if (about := policy.about.model_dump(mode="json", exclude_defaults=True)) else {}),
        "release": {"rows": len(released), "columns": list(released.names), "suppressed": released.suppressed()},
        "schema": released.schema.spec(),
        "counted": "persons" if comparison.protected.schema.person else "records",
        "left_out": list(leaving.left_out),
        **({"kept": list(leaving.kept)} if leaving.kept else {}),
        "guard": [sighting.spec() for sighting in leaving.sightings],
        "holds": after.holds,
        "requirements": [finding.spec() for finding in after.models],
        "risks": [finding.spec() for finding in after.risks],
        "steps": [
            _public_step(policy_step, entry) for policy_step, entry in zip(policy.steps, released.history, strict=True)
        ],
        "baseline": "distributions are compared with those of the input table",
        "order": policy.output.order,
    }
    if formal:
        # Exact numbers measured on the original would void the guarantee: they stay in the private record.
        certificate["formal"] = "measures against the original are withheld: they would void the formal guarantee"
    else:
        certificate["losses"] = [finding.spec() for finding in comparison.losses]
        certificate["attacks"] = [finding.spec() for finding in comparison.risks]
    plain: dict[str, Any] = evidence.plain(certificate)
    return plain


def _public_step(policy_step: Step, entry: Mapping[str, Any]) -> dict[str, Any]:
    facts = {k: v for k, v in entry.items() if k not in {"step", "parameters"}}
    withheld = policy_step.method.withheld()
    reason = {"withheld": withheld} if withheld else {}
    return {"name": policy_step.name, **policy_step.method.public_spec(), **reason, "evidence": facts}


def _record(
    original: Table,
    released: Table,
    policy: Policy,
    seed: int,
    order: Mapping[str, Any],
    before: Assessment,
    after: Assessment,
    comparison: Comparison,
) -> dict[str, Any]:
    source = Path(policy.source)
    secrets = [{k: v for k, v in secret.items() if k not in INNER} for secret in released.secrets]
    return {
        "format": RECORD_FORMAT,
        "celosia": evidence.version(),
        "created": evidence.now(),
        "seed": f"{seed:032x}",
        "key": evidence.fresh_key().hex(),
        "policy": policy.text or policy_toml(policy),
        "folder": os.path.relpath(policy.directory, policy.output.path.parent),
        "steps": [
            {"name": policy_step.name, "parameters": whole_spec(policy_step.method)} for policy_step in policy.steps
        ],
        "input": {
            "file": source.name,
            "sha256": evidence.file_hash(source) if source.is_file() else None,
            "content": original.fingerprint().hex(),
        },
        "order": dict(order),
        **_persons(comparison.protected, released, order),
        "transformation": evidence.plain(secrets),
        "before": evidence.plain(before.spec()),
        "after": evidence.plain(after.spec()),
        "comparison": evidence.plain(comparison.spec()),
        "types": {name: str(dtype) for name, dtype in original.polars_types().items()},
    }


def _order(leaving: Leaving, policy: Policy, stream: Stream) -> dict[str, Any]:
    """What tells which record of the input each released one is: the key of the order, and which records are left."""
    table = leaving.table
    shuffled = policy.output.order == "shuffled"
    key = {"key": order_stream(leaving, stream).key().hex()} if shuffled else {}
    numbered = all(policy_step.method.rows != "subset" for policy_step in policy.steps)
    left = {} if numbered else {"left": evidence.pack_left(table.ids())}
    return {"rows": len(table), **key, **left}


def _persons(protected: Table, released: Table, order: Mapping[str, Any]) -> dict[str, str]:
    """Which records belong to one person, where the file does not tell: so that counts of persons can be verified."""
    if protected.schema.person is None or protected.schema.person in released.names:
        return {}
    ids = evidence.row_map({"order": {**order, "key": None}})
    persons = evidence.persons_of(protected, ids)
    return {} if persons is None else {"owners": evidence.pack_owners(ids, persons)}


def write_release(
    release: Release,
    policy: Policy,
    *,
    overwrite: bool = False,
    signer: Signer | None = None,
    exploration: Any = None,
) -> Release:
    """Write data, certificate, private record and report; when one of them fails none of them appears."""
    others = further_tables(release.table)
    paths = release_paths(policy.output, others)
    evidence.settled(paths)
    source = Path(policy.source)
    if source.is_file() and any(path.exists() and path.samefile(source) for path in paths.values()):
        raise OutputError(f"the output {paths['data'].name!r} is the input; an original is never overwritten.")
    if not overwrite:
        refuse_taken([*paths.values(), *_stale(policy.output, paths)])
    # an old report must not stand beside new data
    with evidence.drafted(paths, lambda: _stale(policy.output, paths), overwrite=overwrite) as drafts:
        _write_data(release.table.streamed(), drafts["data"], paths["data"], release, policy)
        for name, table in others.items():
            _write_data(table.visible(), drafts[name], paths[name], release, policy)
        tables = [
            {
                "name": n,
                "file": paths[n].name,
                "sha256": evidence.file_hash(drafts[n]),
                "rows": len(t),
                "columns": list(t.names),
            }
            for n, t in others.items()
        ]
        digest = evidence.file_hash(drafts["data"])
        checked = check_release(
            release, drafts["data"], release.certificate, release.record, type_of(paths["data"]).name
        )
        certificate = {**release.certificate, "checked": checked}
        certificate, record = evidence.sealed(certificate, release.record, paths["data"].name, digest, tables, signer)
        drafts["certificate"].write_bytes(_pretty(certificate))
        drafts["record"].write_bytes(_pretty(record))
        done = replace(release, certificate=certificate, record=record, paths=paths)
        if policy.output.report:
            from celosia.release.report import render

            language = policy.output.language
            inside = render(done, edition="internal", language=language, exploration=exploration)
            drafts["report"].write_text(render(done, edition="external", language=language), "utf-8")
            drafts["internal"].write_text(inside, "utf-8")
    return done


def _stale(output: Output, paths: Mapping[str, Path]) -> list[Path]:
    """Files of an earlier release at these paths that the new one has none for: its report, its further tables."""
    earlier = [*release_paths(output.model_copy(update={"report": True})).values()]
    with contextlib.suppress(DataError):  # no certificate, or not one of ours: then nothing is known of its tables
        tables = load_certificate(paths["certificate"]).get("tables", [])
        earlier += [paths["certificate"].with_name(entry["file"]) for entry in tables]
    return [path for path in earlier if path not in paths.values()]


def release_paths(output: Output, others: Iterable[str] = ()) -> dict[str, Path]:
    """Where the parts of a release go: beside the data, named after it."""
    path = output.path
    paths = {
        "data": path,
        "certificate": beside(path, ".certificate", ".json"),
        "record": beside(path, ".private", ".json"),
    }
    paths |= {name: beside(path, f".{name}") for name in others}
    if output.report:
        paths["report"] = beside(path, ".report", ".html")
        paths["internal"] = beside(path, ".internal", ".html")
    return paths


def _write_data(visible: Any, draft: Path, target: Path, release: Release, policy: Policy) -> None:
    facts = release.table.facts
    if facts is not None:  # a title is free text about the original: the release has that of its policy
        facts = replace(facts, title=policy.about.title or None)
    write(visible, draft, facts, type=type_of(target).name, overwrite=True, **policy.output.options)


def _pretty(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(evidence.plain(data), indent=2, ensure_ascii=False) + "\n").encode()


__all__ = ["apply_steps", "check_input", "finish", "run", "write_release"]
