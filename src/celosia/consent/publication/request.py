"""A request to publish: read the query, see what it lets others deduce, run it, honour the blocks, report."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.consent.owners.ignored import absent, refuse_misnamed, refuse_unfound, refuse_unknown
from celosia.consent.owners.remembered import Remembered
from celosia.consent.owners.store import Preferences, now
from celosia.consent.protection.marking import Marks, looked_at, mark, resolved
from celosia.consent.protection.measures import losses, re_identification, singletons
from celosia.consent.protection.protection import Design, Protected, honour
from celosia.consent.publication.base_tables import refuse_derived, refuse_unlisted
from celosia.consent.publication.result import (
    OWNER,
    column_of,
    columns_of,
    dialect_of,
    fetched,
    known_columns,
    refuse_other_columns,
    table_of,
    with_owner,
    written,
)
from celosia.consent.publication.revealing import refuse_computed_owner, refuse_revealed
from celosia.consent.rules.matching import Activations, Match, active, completed, unreadable
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

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.release.evidence.signature import Signer

ATTACKED = 50_000
"""The intruder attacks a random sample of so many records at most: the interval is then a fraction of a point wide."""
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Request:
    """What somebody asks for, and how the publisher protects it.

    ``owner`` is an output column, or ``table.field``, which is then added to the query and left out of the release.
    ``key`` names the kind of alias when the owner column holds another key than the preferences (card, national id).
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
    """Why something that the guard sees in a column may leave, by column; it is published."""
    measure: bool = True
    """Whether the simulated intruder attacks the release, the control and the standard one."""


@dataclass(frozen=True, eq=False)
class Origin:
    """What a publication was made of and how: enough to make it again, and for its publisher's eyes only."""

    seed: int
    rows: NDArray[np.int64]
    """Where each record of the release was in the result."""
    dialect: str
    query: str
    """The normalised query, constants included."""
    input: str
    """The hash of the result, as are the next two of the catalogue and of the choices that were applied."""
    catalogue: str
    preferences: str
    moment: str
    """When the choices were read."""
    default: str


@dataclass(frozen=True, eq=False)
class Publication:
    """What is published and why: the protected table, and a report without values or names."""

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
    """What a query touches and which rules it matches, without running it."""
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
    """Carry out a request on a database (URL) or on a result that is already there (a frame).

    Steps: read the query, match the rules, run it with the owner of each row, mark, drop identifiers, protect under
    the chosen rule, check the post-condition, measure against standard(k) and standard(k + X).

    Raises ``RequirementError`` when the post-condition does not hold, and ``DataError`` when a block that is stored
    would be ignored: then nothing may be published. Without ``noted`` there is no line in the audit trail: with a
    ``cache`` of its own a request then leaves no trace. A request that is refused for what data subjects chose leaves
    one too: the refusal shows something about their choices.
    """
    refuse_seed(seed)
    asked, request = request, as_run(request, source)
    refuse_unanswerable(request, source, catalogue, store)
    matching = cache or activations(request, source, catalogue, Remembered(store, catalogue.digest()))
    try:
        publication = carried_out(
            asked, source, catalogue, store, matching, fresh_seed() if seed is None else seed, progress
        )
        refuse_unfound(publication.marks, store, request.key)
    except (RequirementError, DataError):
        if noted:
            store.note("stopped", "publisher", query_digest(request, source))
        raise
    missing = {"owners who block and are not in the result": len(absent(publication.marks, store))}
    publication = replace(publication, report={**publication.report, **missing})
    matching.remember()
    if noted:
        store.note("publication", "publisher", f"{len(publication.marks.rows)} inferences")
    return publication


def as_run(request: Request, source: str | pl.DataFrame) -> Request:
    """The request with the text that a database runs: the query as it was read, in the dialect of the database."""
    if not isinstance(source, str):
        return request
    native = dialect_of(source)
    return replace(request, sql=written(request.sql, request.dialect or native, native), dialect=native)


def refuse_unanswerable(request: Request, source: str | pl.DataFrame, catalogue: Catalogue, store: Preferences) -> None:
    """Refuse a query whose blocks could not be honoured, before it is run."""
    dialect = request.dialect or dialect_of(source)
    ruled = {table for inference in catalogue.inferences for rule in inference.rules for table in rule.tables}
    refuse_derived(source, request.sql, dialect, ruled)
    refuse_unknown(store, catalogue)
    columns = known_columns(source, request.sql, dialect)
    refuse_misnamed(store, catalogue, columns)
    query = elements(request.sql, dialect, columns)
    if isinstance(source, str):
        refuse_unlisted(query, columns)
    refuse_computed_owner(query, request.owner)
    refuse_uncheckable(catalogue, query)


def refuse_uncheckable(catalogue: Catalogue, query: Elements) -> None:
    """Refuse a query by which a rule on a data value could not be checked in the result, whoever blocks it."""
    names = Counter(output.name.casefold() for output in query.outputs if output.name != ANY)
    for name, count in names.items():
        if count > 1:
            raise DataError(f"{count} columns of the query are named {name!r}, in any case. Name them apart with AS.")
    for inference in unreadable(catalogue, query):
        raise DataError(
            f"a rule of {inference!r} looks for a value in the result, and the query uses the column of that value in "
            "a condition, a join, an order, a group or an expression, where it cannot be checked. Select the column as "
            "it is and use it nowhere else, or leave it out of the query."
        )


def query_digest(request: Request, source: str | pl.DataFrame) -> str:
    """Short hash of the normalised query, for the audit trail: the query itself may hold values."""
    text = normalise(request.sql, request.dialect or dialect_of(source))
    return f"query {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def activations(
    request: Request, source: str | pl.DataFrame, catalogue: Catalogue, memory: Remembered | None = None
) -> Activations:
    """Matches that know the columns of the tables in the database, so that ``*`` can be read."""
    dialect = request.dialect or dialect_of(source)
    return Activations(catalogue, known_columns(source, request.sql, dialect), memory)


def carried_out(
    request: Request,
    source: str | pl.DataFrame,
    catalogue: Catalogue,
    store: Preferences,
    matching: Activations,
    seed: int,
    progress: Progress | None = None,
) -> Publication:
    """What a request gives, without a trace in the store."""
    asked, request = request, as_run(request, source)
    tell = progress or (lambda *_: None)
    dialect = request.dialect or dialect_of(source)
    tell("reading the query", 0.0)
    query, matches = matching.of(request.sql, dialect)
    frame, owner, matches = run_query(request, source, catalogue, query, matches)
    tell("marking", 0.4)
    moment = now()
    owners = resolved(frame, owner, store, request.key)
    keys = {request.owner.rpartition(".")[2], owner}
    marks = mark(owners, query, active(matches), catalogue, store, keys)
    marks = replace(marks, columns={i: columns_of(frame, query, names) for i, names in marks.columns.items()})
    table = requested_table(request, frame, owners, owner)
    blocked = {inference for inference in marks.rows if store.default or store.exceptions(inference)}
    fired_rules = {i: fired for i, fired in active(matches).items() if i in blocked}
    refuse_revealed(
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
            "they are "
            "is not known. Leave them out of the query."
        )
    _refuse_unprotected(request, table, marks, fired_rules)
    default = "block" if store.default else "allow"
    used = _used(marks, default)
    stream = Stream.of(seed, table.fingerprint).child(request.design, used)
    tell("protecting", 0.5)
    fired = {name for names in marks.columns.values() for name in names}
    cells = {name: marks.cells(name) for name in sorted(fired) if name in table.names}
    protected = honour(table, marks.extra, request.design, stream, cells)
    _check(protected)
    tell("measuring", 0.7)
    before, measured = _measured(request, table, marks, protected, stream) if request.measure else ({}, {})
    leaving = select_output(
        table, protected.table, (), keeping="acknowledge", acknowledge=request.acknowledge, changed=table.schema.quasi
    )
    released, rows = _released(leaving, stream)
    report = _report(request, dialect, matches, marks, protected, released, catalogue, store)
    report["guard"] = [sighting.entry().spec() for sighting in leaving.sightings]
    origin = Origin(
        seed=seed,
        rows=rows,
        dialect=dialect,
        query=normalise(request.sql, dialect),
        input=fingerprint(frame.lazy()).hex(),
        catalogue=catalogue.digest(),
        preferences=used,
        moment=moment,
        default=default,
    )
    tell("done", 1.0)
    report |= {"before": before, "measured": measured}
    return Publication(released, table, marks, tuple(matches), protected, report, asked, origin)


def run_query(
    request: Request,
    source: str | pl.DataFrame,
    catalogue: Catalogue,
    query: Elements,
    matches: tuple[Match, ...],
) -> tuple[pl.DataFrame, str, tuple[Match, ...]]:
    """Result of a request, the name of its owner column, and the matches once the values of the result are known."""
    dialect = request.dialect or dialect_of(source)
    text, owner = with_owner(request.sql, request.owner, dialect, query)
    frame = fetched(source, text)
    if isinstance(source, str):
        refuse_other_columns(frame, query, int(owner == OWNER and text != request.sql))
    own = request.owner.rpartition(".")[2]
    owner = column_of(frame, own if owner == OWNER and owner not in frame.columns else owner)
    if any(match.waiting for match in matches):  # only then are values read
        matches = completed(matches, catalogue, looked_at(frame, query, matches, catalogue))
    return frame, owner, matches


def requested_table(request: Request, frame: pl.DataFrame, owners: pl.Series, owner: str) -> Table:
    """Table of a result, with the roles that the request gives its columns."""
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
    """Refuse an inference that data subjects block unless every column that fired is changed.

    One of them left as it is would let a reader deduce what the others no longer show: a school shows the district.
    Whether somebody in the result blocks it does not matter: else the refusal would show the choices of few.
    """
    design = request.design
    if "exclude" in design.strengthen:  # their rows are left out
        return
    every = design.rule == "exchange" or "suppress" in design.strengthen  # these change every column that fired
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


def _modelled_columns(design: Design, table: Table) -> set[str]:
    """Columns that a model among the strengthenings protects in every class with a block."""
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
    """Refuse a result that does not keep what it promises, to its owners and about its quasi-identifiers."""
    if not protected.holds:
        raise RequirementError(
            f"under the rule {protected.design.rule!r} some records are in classes smaller than their data subjects "
            "asked for (k + X): not published. Use the rule 'class', 'coarser' or 'control', or a larger k."
        )
    k, tree = protected.design.k, protected.design.tree
    outside = [name for name in protected.table.schema.quasi if tree and name not in tree]
    if outside:  # the tree alone was generalised
        smallest = build("model", {"use": "k-anonymity", "k": k}).value(protected.table)
        if smallest < k:
            raise RequirementError(
                f"the smallest class has {smallest:g} records, less than k = {k}: the quasi-identifiers "
                f"{', '.join(outside)} are outside the tree. Leave them out of the query, or leave out the tree."
            )


def _used(marks: Marks, default: str) -> str:
    """A hash of the choices that decided: who of the owners in the result blocks which inference."""
    digest = hashlib.sha256(default.encode())
    for inference, mask in sorted(marks.rows.items()):
        owners = marks.owner.filter(mask).drop_nulls().unique().sort()
        digest.update(json.dumps([inference, owners.to_list()]).encode())
    return digest.hexdigest()


def _measured(
    request: Request, table: Table, marks: Marks, released: Protected, stream: Stream
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The table before, and the attack and the losses for the release, standard(k) and the control standard(k + X)."""
    columns = request.design.tree or table.schema.quasi
    out: dict[str, Any] = {}
    chosen = np.arange(len(table))
    if len(table) > ATTACKED:
        chosen = np.sort(stream.child("attacked").rng().choice(len(table), ATTACKED, replace=False))
    sample = table.ids()[chosen]
    for name in (request.design.rule, "standard", "control"):
        if "exclude" in request.design.strengthen and name == request.design.rule:
            continue  # the rows of a release without some owners have no partner in the groups
        design = replace(request.design, rule=name, strengthen=())
        protected = released if name == request.design.rule else honour(table, marks.extra, design, stream)
        row: dict[str, Any] = {
            "losses": losses(table, protected, marks.blocked, columns),
            "facts": dict(protected.evidence),
        }
        row |= {"alpha": singletons(protected.table), "cm": _majority(table, protected.table)}
        if len(table) >= 40:
            row["p_reid"] = re_identification(
                table.take(sample),
                protected.table.take(sample),
                columns,
                marks.blocked[chosen],
                external=request.external,
            )
        out[name] = row
    return {"alpha": singletons(table), "cm": _majority(table, table)}, out


def _majority(original: Table, protected: Table) -> dict[str, float]:
    """CM of Iyengar for each sensitive column, counted in records: a person may have several values of it."""
    before, after = (t.drop([OWNER]) for t in (original, protected))
    return {
        c: build("loss", {"use": "majority-loss", "target": c}).value(before, after) for c in before.schema.sensitive
    }


def _released(leaving: OutputTable, stream: Stream) -> tuple[Table, NDArray[np.int64]]:
    """What may leave, in random order, and where each of its records was."""
    shuffled = order_records(leaving, "shuffled", stream)
    engine, frame = shuffled.engine, shuffled.rows.frame
    return read(engine.collect(engine.select(frame, shuffled.names)), shuffled.schema), engine.ids(frame)


def _report(
    request: Request,
    dialect: str,
    matches: Sequence[Match],
    marks: Marks,
    protected: Protected,
    released: Table,
    catalogue: Catalogue,
    store: Preferences,
) -> dict[str, Any]:
    """Which inference, which rule, how many owners, which parameters caused each change."""
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
    design = request.design
    return {
        "rows": len(released),
        "columns": list(released.names),
        "dialect": dialect,
        "default": "block" if store.default else "allow",
        "rules": [match.data() | {"sentence": match.sentence()} for match in matches],
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


__all__ = ["OWNER", "Origin", "Publication", "Request", "analyse", "carried_out", "publish", "with_owner", "write"]
