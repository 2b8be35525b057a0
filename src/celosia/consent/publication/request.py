"""Requests to publish: match the query with the rules, run it, honour the blocks, report."""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.consent.owners.block_checks import absent_owners, refuse_misnamed, refuse_unfound, refuse_unknown
from celosia.consent.owners.match_cache import MatchCache
from celosia.consent.owners.store import Preferences, now
from celosia.consent.protection.marks import Marks, find_values, mark, owners_by_key, row_owners
from celosia.consent.protection.measures import losses, re_identification, singletons
from celosia.consent.protection.protection import Design, Protected, honour, honour_inferences
from celosia.consent.publication.base_tables import expand_views, refuse_derived, refuse_unlisted
from celosia.consent.publication.result import (
    OWNER,
    column_of,
    columns_of,
    dialect_of,
    fetch,
    known_columns,
    refuse_other_columns,
    table_of,
    translate_query,
    with_owner,
)
from celosia.consent.publication.row_disclosure import refuse_computed_owner, refuse_disclosure
from celosia.consent.rules.matches import Activations, Match, active, complete, uncheckable_inferences
from celosia.consent.rules.rules import Catalogue
from celosia.consent.sql.elements import ANY, Columns, Elements, normalise
from celosia.consent.sql.lineage import elements
from celosia.data.engines.fingerprint import fingerprint
from celosia.errors import DataError, RequirementError
from celosia.parts import build
from celosia.release.output.columns import OutputTable, order_records, select_output
from celosia.release.policy.sections import refuse_seed
from celosia.streams import Stream, fresh_seed
from celosia.table import Table, read
from celosia.table.frames import table_fingerprint

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.release.evidence.signature import Signer

ATTACKED = 50_000
"""Largest sample that is attacked: the interval of the risk is then narrower than one percentage point."""
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Request:
    """Query with roles of its columns and the design of the protection.

    ``owner`` is an output column, or ``table.field``, which is then added to the query and left out of the release.
    ``key`` names the kind of alias if the owner column holds another key than the preferences (card, national id).
    """

    sql: str
    owner: str
    design: Design
    quasi: tuple[str, ...]
    identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    dialect: str | None = None
    key: str | None = None
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    external: float = 0.1
    acknowledge: Mapping[str, str] = field(default_factory=dict)
    """Reasons to release columns that the guard reports, by column; they are published."""
    measure: bool = True
    """Whether to attack the release, the control and the standard one, and to measure their losses."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Inputs that repeat a publication, for its publisher only."""

    seed: int
    rows: NDArray[np.int64]
    """Position of each record of the release in the result."""
    dialect: str
    query: str
    """Normalised query, constants included."""
    input: str
    """Hash of the result; the next two are hashes of the catalogue and of the applied choices."""
    catalogue: str
    preferences: str
    moment: str
    """Time at which the choices were read."""
    default: str


@dataclass(frozen=True, eq=False)
class Publication:
    """Protected table, with a report that has no values or names of persons."""

    table: Table
    original: Table = field(repr=False)
    marks: Marks = field(repr=False)
    matches: tuple[Match, ...] = field(repr=False)
    protected: Protected = field(repr=False)
    report: Mapping[str, Any] = field(repr=False)
    request: Request = field(repr=False)
    origin: Origin = field(repr=False)

    @property
    def holds(self) -> bool:
        """Whether the post-condition holds for every record."""
        return self.protected.holds


def analyse(
    sql: str, catalogue: Catalogue, dialect: str = "postgres", columns: Columns | None = None
) -> tuple[Elements, tuple[Match, ...]]:
    """Return the elements of a query and the rules that it matches, without running it."""
    return Activations(catalogue, columns).of(sql, dialect)


def publish(
    request: Request,
    source: str | pl.DataFrame,
    catalogue: Catalogue,
    store: Preferences,
    *,
    seed: int | None = None,
    cache: Activations | None = None,
    progress: Progress | None = None,
    noted: bool = True,
) -> Publication:
    """Carry out a request on a database (URL) or on an existing result (a frame), and note it in the audit trail.

    Steps: read the query, match the rules, run it with the owner of each row, mark, drop identifiers, protect under
    the chosen rule, check the post-condition, measure against standard(k) and standard(k + X).

    Raises ``RequirementError`` if the post-condition does not hold, and ``DataError`` if a stored block would be
    ignored: then nothing may be published. Refused requests are noted too, since a refusal discloses something about
    the choices. Without ``noted``, and with a ``cache`` of its own, a request leaves no trace in the store.
    """
    refuse_seed(seed)
    asked, request = request, native_request(request, source)
    refuse_unanswerable(request, source, catalogue, store)
    matching = cache or activations(request, source, catalogue, MatchCache(store, catalogue.digest()))
    try:
        publication = carry_out(
            asked, source, catalogue, store, matching, fresh_seed() if seed is None else seed, progress
        )
        refuse_unfound(publication.marks, store, request.key)
    except (RequirementError, DataError):
        if noted:
            store.note("stopped", "publisher", query_digest(request, source))
        raise
    missing = {"owners who block and are not in the result": len(absent_owners(publication.marks, store))}
    publication = replace(publication, report={**publication.report, **missing})
    matching.remember()
    if noted:
        store.note("publication", "publisher", f"{len(publication.marks.rows)} inferences")
    return publication


def native_request(request: Request, source: str | pl.DataFrame) -> Request:
    """Return the request with its query in the dialect of the database and without views: the text that is run."""
    if not isinstance(source, str):
        return request
    native = dialect_of(source)
    sql = expand_views(source, translate_query(request.sql, request.dialect or native, native))
    return replace(request, sql=translate_query(sql, native, native), dialect=native)


def refuse_unanswerable(request: Request, source: str | pl.DataFrame, catalogue: Catalogue, store: Preferences) -> None:
    """Raise before the query is run if its blocks could not be honoured."""
    dialect = request.dialect or dialect_of(source)
    ruled = {table for inference in catalogue.inferences for rule in inference.rules for table in rule.tables}
    refuse_derived(source, request.sql, dialect, ruled)
    refuse_unknown(store, catalogue)
    if request.key is not None:
        owners_by_key(store, request.key)
    columns = known_columns(source, request.sql, dialect)
    refuse_misnamed(store, catalogue, columns)
    query = elements(request.sql, dialect, columns)
    if isinstance(source, str):
        refuse_unlisted(query, columns)
    refuse_computed_owner(query, request.owner)
    refuse_uncheckable(catalogue, query)


def refuse_uncheckable(catalogue: Catalogue, query: Elements) -> None:
    """Raise if a rule on a data value cannot be checked in the result, blocked or not."""
    names = Counter(output.name.casefold() for output in query.outputs if output.name != ANY)
    for name, count in names.items():
        if count > 1:
            raise DataError(f"{count} columns of the query are named {name!r}, in any case. Name them apart with AS.")
    for inference in uncheckable_inferences(catalogue, query):
        raise DataError(
            f"a rule of {inference!r} looks for a value in the result, and the query uses the column of that value in "
            "a condition, a join, an order, a group or an expression, where it cannot be checked. Select the column as "
            "it is and use it nowhere else, or leave it out of the query."
        )


def query_digest(request: Request, source: str | pl.DataFrame) -> str:
    """Return a short hash of the query for the audit trail, since the query may contain personal data."""
    text = normalise(request.sql, request.dialect or dialect_of(source))
    return f"query {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def activations(
    request: Request, source: str | pl.DataFrame, catalogue: Catalogue, memory: MatchCache | None = None
) -> Activations:
    """Return a cache of matches that resolves ``*`` with the columns of the tables in the database."""
    dialect = request.dialect or dialect_of(source)
    return Activations(catalogue, known_columns(source, request.sql, dialect), memory)


def carry_out(
    request: Request,
    source: str | pl.DataFrame,
    catalogue: Catalogue,
    store: Preferences,
    matching: Activations,
    seed: int,
    progress: Progress | None = None,
) -> Publication:
    """Carry out a request without writing to the store."""
    asked, request = request, native_request(request, source)
    report_progress = progress or (lambda *_: None)
    dialect = request.dialect or dialect_of(source)
    report_progress("reading the query", 0.0)
    query, matches = matching.of(request.sql, dialect)
    frame, owner, matches = run_query(request, source, catalogue, query, matches)
    report_progress("marking", 0.4)
    moment = now()
    owners = row_owners(frame, owner, store, request.key)
    keys = {request.owner.rpartition(".")[2], owner}
    marks = mark(owners, query, active(matches), catalogue, store, keys)
    marks = replace(marks, columns={i: columns_of(frame, query, names) for i, names in marks.columns.items()})
    table = requested_table(request, frame, owners, owner)
    blocked = {inference for inference in marks.rows if store.default or store.exceptions(inference)}
    fired_rules = {i: fired for i, fired in active(matches).items() if i in blocked}
    refuse_disclosure(
        query,
        request.owner,
        fired_rules,
        excluded="exclude" in request.design.strengthen,
        sql=request.sql,
        dialect=dialect,
        columns=known_columns(source, request.sql, dialect),
    )
    if fired_rules and frame[owner].null_count():
        raise RequirementError(
            f"{frame[owner].null_count()} rows have no owner, and data subjects block an inference: whose rows "
            "they are is not known. Leave them out of the query."
        )
    _refuse_unprotected(request, table, marks, fired_rules)
    default = "block" if store.default else "allow"
    choices_digest = _choices_digest(marks, default)
    stream = Stream.of(seed, functools.partial(table_fingerprint, table)).child(request.design, choices_digest)
    report_progress("protecting", 0.5)
    fired = {name for names in marks.columns.values() for name in names}
    cells = {name: marks.cells(name) for name in sorted(fired) if name in table.names}
    if request.design.rule == "inference":
        guarded = {i: tuple(c for c in marks.columns[i] if c in table.names) for i in sorted(blocked)}
        marks = replace(marks, extra=_identity_extra(table, marks, guarded, catalogue))
        protected = honour_inferences(table, marks.extra, request.design, stream, guarded, marks.rows, request.external)
    else:
        protected = honour(table, marks.extra, request.design, stream, cells)
    _check(protected)
    report_progress("measuring", 0.7)
    before, measured = _measure(request, table, marks, protected, stream) if request.measure else ({}, {})
    output = select_output(
        table, protected.table, (), keeping="acknowledge", acknowledge=request.acknowledge, changed=table.schema.quasi
    )
    released, rows = _arrange(output, stream)
    report = _report(request, dialect, matches, marks, protected, released, catalogue, store)
    report["guard"] = [sighting.entry().spec() for sighting in output.sightings]
    origin = Origin(
        seed=seed,
        rows=rows,
        dialect=dialect,
        query=normalise(request.sql, dialect),
        input=fingerprint(frame.lazy()).hex(),
        catalogue=catalogue.digest(),
        preferences=choices_digest,
        moment=moment,
        default=default,
    )
    report_progress("done", 1.0)
    report |= {"before": before, "measured": measured}
    return Publication(released, table, marks, tuple(matches), protected, report, asked, origin)


def run_query(
    request: Request,
    source: str | pl.DataFrame,
    catalogue: Catalogue,
    query: Elements,
    matches: tuple[Match, ...],
) -> tuple[pl.DataFrame, str, tuple[Match, ...]]:
    """Return the result, the name of its owner column, and the matches with rules on data values decided."""
    dialect = request.dialect or dialect_of(source)
    text, owner = with_owner(request.sql, request.owner, dialect, query)
    frame = fetch(source, text)
    if isinstance(source, str):
        refuse_other_columns(frame, query, int(owner == OWNER and text != request.sql))
    own = request.owner.rpartition(".")[2]
    owner = column_of(frame, own if owner == OWNER and owner not in frame.columns else owner)
    if any(match.waiting for match in matches):  # otherwise no values are read
        matches = complete(matches, catalogue, find_values(frame, query, matches, catalogue))
    return frame, owner, matches


def requested_table(request: Request, frame: pl.DataFrame, owners: pl.Series, owner: str) -> Table:
    """Return the result as a table with the roles of the request."""
    return table_of(
        frame,
        owners,
        owner=owner,
        identifiers=request.identifiers,
        quasi=list(dict.fromkeys([*request.quasi, *request.design.tree])),
        sensitive=request.sensitive,
        hierarchies=request.hierarchies,
    )


def _refuse_unprotected(
    request: Request, table: Table, marks: Marks, fired_rules: Mapping[str, tuple[Match, ...]]
) -> None:
    """Raise if a column that fired for a blocked inference is not changed.

    An unchanged one would disclose what the others no longer show: a school discloses the district. It does not matter
    whether an owner in the result blocks the inference: else the refusal would disclose the choices of few.
    """
    design = request.design
    if "exclude" in design.strengthen:  # their rows are left out
        return
    every = (
        design.rule in ("inference", "exchange") or "suppress" in design.strengthen
    )  # these change every column that fired
    changed = {*(design.tree or table.schema.quasi), *_modelled_columns(design, table)}
    for inference, matched in fired_rules.items():
        fired = [name for name in marks.columns[inference] if name in table.names]
        if not fired and not any(match.values for match in matched):
            continue  # the query names a table of the rule, and the result carries nothing of it
        left = [name for name in fired if not every and name not in changed]
        if left or not fired:
            raise RequirementError(
                f"data subjects block {inference!r}, and the rule {design.rule!r} would not change "
                f"{', '.join(left) or 'any column of the result'}, by which it can be deduced. Leave these columns out "
                "of the query, declare them quasi-identifiers without a tree, use the rule 'exchange', or strengthen: "
                "'suppress' with a camouflage, 'exclude', or a model of the column."
            )


def _identity_extra(
    table: Table, marks: Marks, columns: Mapping[str, Sequence[str]], catalogue: Catalogue
) -> NDArray[np.int64]:
    """Return X of each row, over the inferences about quasi-identifiers alone: a larger class protects nothing else."""
    extra = np.zeros(len(table), np.int64)
    for inference, names in columns.items():
        if set(names) & set(table.schema.quasi):
            extra = np.where(marks.rows[inference], np.maximum(extra, catalogue[inference].extra), extra)
    return extra


def _modelled_columns(design: Design, table: Table) -> set[str]:
    """Return the columns that a model among the strengthenings protects in every class with a block."""
    columns: set[str] = set()
    for text in design.strengthen:
        if text not in ("suppress", "exclude"):
            named = [column for column in build("model", text).counted_columns() if column is not None]
            columns |= set(named or table.schema.sensitive)
    return columns


def write(
    publication: Publication, out: str | Path, *, overwrite: bool = False, signer: Signer | None = None
) -> dict[str, Path]:
    """Write a publication as a release: data, certificate, private record and reports, all of them or none."""
    from celosia.consent.publication.release import write_files

    return write_files(publication, out, overwrite=overwrite, signer=signer)


def _check(protected: Protected) -> None:
    """Raise if classes over all quasi-identifiers are smaller than k, or than the owners require (k + X)."""
    k, tree = protected.design.k, protected.design.tree
    model = build("model", {"use": "k-anonymity", "k": k})
    if protected.holds and model.holds(protected.table):
        return
    problem = "some classes are smaller than their data subjects asked for (k + X)"
    if not model.holds(protected.table):
        problem = f"the size of the smallest class is {model.value(protected.table):g}, less than k = {k}"
    outside = [name for name in protected.table.schema.quasi if tree and name not in tree]
    if outside:  # the tree alone was generalised
        raise RequirementError(
            f"{problem}, because the quasi-identifiers {', '.join(outside)} are outside the tree: not published. Leave "
            "them out of the query, or leave out the tree."
        )
    raise RequirementError(
        f"{problem} under the rule {protected.design.rule!r}: not published. Use the rule 'class', 'coarser' or "
        "'control' without 'suppress', or a larger k."
    )


def _choices_digest(marks: Marks, default: str) -> str:
    """Return a hash of the applied choices: the owners in the result who block each inference."""
    digest = hashlib.sha256(default.encode())
    for inference, mask in sorted(marks.rows.items()):
        owners = marks.owner.filter(mask).drop_nulls().unique().sort()
        digest.update(json.dumps([inference, owners.to_list()]).encode())
    return digest.hexdigest()


def _measure(
    request: Request, table: Table, marks: Marks, released: Protected, stream: Stream
) -> tuple[dict[str, object], dict[str, object]]:
    """Measure the original table, and attack and losses of the release, standard(k) and the control standard(k + X)."""
    columns = list(request.design.tree or table.schema.quasi)
    fired = [
        name for name in dict.fromkeys(n for names in marks.columns.values() for n in names) if name in table.names
    ]
    target = fired or columns  # what the inferences are about, not the quasi-identifiers
    columns = list(dict.fromkeys([*columns, *fired]))
    out: dict[str, object] = {}
    chosen = np.arange(len(table))
    if len(table) > ATTACKED:
        chosen = np.sort(stream.child("attacked").rng().choice(len(table), ATTACKED, replace=False))
    sample = table.ids()[chosen]
    for name in (request.design.rule, "standard", "control"):
        if "exclude" in request.design.strengthen and name == request.design.rule:
            continue  # the rows of a release without some owners have no partner in the groups
        design = replace(request.design, rule=name, strengthen=())
        protected = released if name == request.design.rule else honour(table, marks.extra, design, stream)
        row: dict[str, object] = {
            "losses": losses(table, protected, marks.blocked, columns),
            "facts": dict(protected.evidence),
        }
        row |= {"alpha": singletons(protected.table), "cm": _majority(table, protected.table)}
        if len(table) >= 40:
            row["p_reid"] = re_identification(
                table.take(sample),
                protected.table.take(sample),
                target,
                marks.blocked[chosen],
                external=request.external,
            )
        out[name] = row
    return {"alpha": singletons(table), "cm": _majority(table, table)}, out


def _majority(original: Table, protected: Table) -> dict[str, float]:
    """Return the CM of Iyengar for each sensitive column, counted in records: a person may have several values."""
    before, after = (t.drop([OWNER]) for t in (original, protected))
    return {
        c: build("loss", {"use": "majority-loss", "target": c}).value(before, after) for c in before.schema.sensitive
    }


def _arrange(output: OutputTable, stream: Stream) -> tuple[Table, NDArray[np.int64]]:
    """Return the released table in random order, and the previous positions of its records."""
    from celosia.data.engines.lazy_frames import RECORD, select_columns

    shuffled = order_records(output, "shuffled", stream)
    engine, frame = shuffled.engine, shuffled.rows.frame
    ids = engine.collect(select_columns(frame, [RECORD]))[RECORD].to_numpy()
    return read(engine.collect(select_columns(frame, shuffled.names)), shuffled.schema), ids


def _report(
    request: Request,
    dialect: str,
    matches: Sequence[Match],
    marks: Marks,
    protected: Protected,
    released: Table,
    catalogue: Catalogue,
    store: Preferences,
) -> dict[str, object]:
    """Return the report: inferences, rules, numbers of owners, and parameters of each change."""
    extra = marks.extra
    blocks = []
    for inference, mask in marks.rows.items():
        described = catalogue[inference]
        decided = mask & (extra == described.extra)
        blocks.append(
            {
                "inference": inference,
                "description": dict(described.description),
                "owners": marks.owners(inference),
                "rows": int(mask.sum()),
                "columns": list(marks.columns[inference]),
                "X": described.extra,
                "rows whose X it decides": int(decided.sum()),
            }
        )
        if request.design.rule == "inference":
            blocks[-1] |= _promise(request.design, protected, inference, int(extra[mask].max(initial=0)))
    design = request.design
    return {
        "rows": len(released),
        "columns": list(released.names),
        "dialect": dialect,
        "default": "block" if store.default else "allow",
        "rules": [match.data() for match in matches],
        "blocks": blocks,
        "owners": int(marks.owner.drop_nulls().n_unique()),
        "owners who block": int(marks.owner.filter(marks.blocked).drop_nulls().n_unique()),
        "rows without an owner": marks.unknown,
        "rows marked": int(marks.blocked.sum()),
        "method": {
            "rule": design.rule,
            "k": design.k,
            "tree": list(design.tree),
            "camouflage": design.camouflage,
            "strengthen": list(design.strengthen),
        },
        "facts": dict(protected.evidence),
        "holds": protected.holds,
    }


def _promise(design: Design, protected: Protected, inference: str, extra: int) -> dict[str, object]:
    """Return the remedy of an inference, the bounds that it keeps, and the measured numbers for the publisher."""
    kept = protected.remedies.get(inference)
    if kept is None:  # no column of it is in the result, or nobody blocks it
        return {"X": extra}
    bounds = {"lift": design.lift, "advantage": design.advantage, **kept.remedy.data()}
    return {"X": extra, "promise": bounds, "kept": kept.data(inference)}


__all__ = ["OWNER", "Origin", "Publication", "Request", "analyse", "carry_out", "publish", "with_owner", "write"]
