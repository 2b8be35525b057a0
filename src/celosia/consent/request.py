"""A request to publish: read the query, see what it lets others deduce, run it, honour the blocks, report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.consent.elements import Columns, Elements, parsed, same_table
from celosia.consent.marking import Marks, looked_at, mark, resolved
from celosia.consent.matching import Activations, Match, active, matches
from celosia.consent.measures import losses, re_identification, singletons
from celosia.consent.protection import Design, Protected, honour
from celosia.consent.rules import Catalogue
from celosia.consent.store import Preferences
from celosia.errors import DataError, ParameterError, RequirementError, UnknownName
from celosia.schema import Schema
from celosia.streams import Stream, fresh_seed

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

ATTACKED = 50_000
"""The intruder attacks a random sample of so many records at most: the interval is then a fraction of a point wide."""
OWNER = "celosia_owner"
"""The name of an owner column that was added to a query."""
DIALECT_OF = {
    "postgresql": "postgres",
    "postgres": "postgres",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "mysql": "mysql",
}
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
    measure: bool = True
    """Whether the simulated intruder attacks the release, the control and the standard one."""


@dataclass(frozen=True, eq=False)
class Publication:
    """What is published and why: the protected table, and a report without values or names."""

    table: Table
    original: Table = field(repr=False)
    marks: Marks = field(repr=False)
    matches: tuple[Match, ...] = field(repr=False)
    protected: Protected = field(repr=False)
    report: Mapping[str, Any] = field(repr=False)

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
) -> Publication:
    """Carry out a request on a database (URL) or on a result that is already there (a frame).

    Steps: read the query, match the rules, run it with the owner of each row, mark, drop identifiers, protect under
    the chosen rule, check the post-condition, measure against standard(k) and standard(k + X).

    Raises ``RequirementError`` when the post-condition does not hold: then nothing may be published.
    """
    tell = progress or (lambda *_: None)
    dialect = request.dialect or (_dialect(source) if isinstance(source, str) else "postgres")
    known = cache or Activations(catalogue)
    tell("reading the query", 0.0)
    query, found = known.of(request.sql, dialect)
    text, owner = with_owner(request.sql, request.owner, dialect, query)
    tell("running it", 0.1)
    frame = _run(source, text, dialect)
    if any(one.waiting for one in found):  # only then are values looked at
        found = matches(catalogue, query, looked_at(frame, query, found, catalogue))
    tell("marking", 0.4)
    owners = resolved(frame, _column(frame, owner), store, request.key)
    keys = {request.owner.rpartition(".")[2], owner}
    marks = mark(owners, query, active(found), catalogue, store, keys)
    marks = replace(marks, columns={i: tuple(_column(frame, c) for c in names) for i, names in marks.columns.items()})
    table = _table(frame, owners, _column(frame, owner), request)
    stream = Stream(fresh_seed() if seed is None else seed)
    tell("protecting", 0.5)
    fired = {name for names in marks.columns.values() for name in names}
    cells = {name: marks.cells(name) for name in sorted(fired) if name in table.names}
    made = honour(table, marks.extra, request.design, stream, cells)
    if not made.holds:
        short = made.evidence["short"]
        raise RequirementError(f"{short} records are in classes smaller than their owners asked for: not published.")
    tell("measuring", 0.7)
    measured = _measured(request, table, marks, made, stream) if request.measure else {}
    released = _released(made.table, request, stream)
    report = _report(request, dialect, found, marks, made, measured, released, catalogue, store)
    store.note("publication", "publisher", f"{len(marks.rows)} inferences, {int(marks.blocked.sum())} rows marked")
    tell("done", 1.0)
    return Publication(released, table, marks, tuple(found), made, report)


def with_owner(sql: str, owner: str, dialect: str, query: Elements) -> tuple[str, str]:
    """The query with its owner column, and the name of that column in the result.

    >>> from celosia.consent.elements import elements
    >>> sql = "SELECT e.town FROM student e"
    >>> with_owner(sql, "student.card", "postgres", elements(sql))
    ('SELECT e.town, e.card AS celosia_owner FROM student AS e', 'celosia_owner')
    """
    from sqlglot import exp

    table, _, name = owner.rpartition(".")
    for output in query.outputs:
        if output.name.casefold() == owner.casefold():
            return sql, output.name
        own = table and any(f == name.casefold() and same_table(t, table) for t, f in output.direct)
        if own and len(output.direct) == 1:
            return sql, output.name
    if not table:
        raise UnknownName.of(
            "owner column", owner, [o.name for o in query.outputs], "Give it as table.field to add it."
        )
    tree = parsed(sql, dialect).copy()
    if not isinstance(tree, exp.Select) or tree.args.get("group") or tree.args.get("distinct"):
        raise DataError(
            "the rows of the query have no single owner (it groups, merges or unites rows); name the owner in it."
        )
    sources = [s.this for s in (tree.args.get("from_") or tree.args.get("from"), *(tree.args.get("joins") or ())) if s]
    for source in sources:
        if isinstance(source, exp.Table) and same_table(".".join(p.name for p in source.parts), table):
            column = exp.column(name, table=source.alias_or_name)
            return tree.select(exp.alias_(column, OWNER), copy=False).sql(dialect=dialect), OWNER
    raise DataError(f"the query does not read the table {table!r} that holds the owner. Join it, or name the owner.")


def write(publication: Publication, out: str | Path, *, overwrite: bool = False) -> dict[str, Path]:
    """Write the data (CSV), the report (JSON, HTML), each whole or not at all."""
    import json

    from celosia.consent.report_page import page
    from celosia.errors import OutputError
    from celosia.io.atomic import replaced
    from celosia.release import plain

    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    paths = {"data": out / "data.csv", "report": out / "report.json", "page": out / "report.html"}
    taken = [path.name for path in paths.values() if path.exists()]
    if taken and not overwrite:
        raise OutputError(f"{', '.join(taken)} exist already in {str(out)!r}. Give another place, or overwrite.")
    with replaced(paths["data"]) as draft:
        publication.table.polars().write_csv(draft)
    with replaced(paths["report"]) as draft:
        draft.write_text(json.dumps(plain(publication.report), indent=1, ensure_ascii=False), encoding="utf-8")
    with replaced(paths["page"]) as draft:
        draft.write_text(page(publication.report), encoding="utf-8")
    return paths


def _dialect(url: str) -> str:
    name = url.split(":", 1)[0].split("+", 1)[0]
    if name not in DIALECT_OF:
        raise ParameterError(f"state the dialect of the query: it does not follow from a {name!r} URL.")
    return DIALECT_OF[name]


def _run(source: str | pl.DataFrame, sql: str, dialect: str) -> pl.DataFrame:
    """The result of the query, in memory."""
    if not isinstance(source, str):
        return source
    from celosia.io.database import scan

    native = _dialect(source)
    if native != dialect:
        sql = parsed(sql, dialect).sql(dialect=native)
    found = scan(source, query=sql).frame
    frame: pl.DataFrame = found.pl() if hasattr(found, "pl") else found.collect()
    if not len(frame):
        raise DataError("the query has no records.")
    return frame


def _column(frame: pl.DataFrame, name: str) -> str:
    """A column of the result by its name, whatever its case; databases fold names differently."""
    if name in frame.columns:
        return name
    found = [c for c in frame.columns if c.casefold() == name.casefold()]
    if not found:
        raise UnknownName.of("column", name, frame.columns)
    return found[0]


def _table(frame: pl.DataFrame, owners: pl.Series, owner: str, request: Request) -> Table:
    """The result as a table: identifiers dropped, owners counted as persons."""
    import polars as pl

    from celosia.table import read

    gone = {owner, *(_column(frame, name) for name in request.identifiers)}
    kept = frame.drop(gone, strict=False).with_columns(owners.alias(OWNER))
    # a row without an owner is a person of its own
    kept = kept.with_columns(
        pl.when(pl.col(OWNER).is_null())
        .then(pl.concat_str(pl.lit("\x00"), pl.int_range(pl.len())))
        .otherwise(pl.col(OWNER))
        .alias(OWNER)
    )
    quasi = [_column(kept, name) for name in request.quasi]
    sensitive = [_column(kept, name) for name in request.sensitive]
    _refuse_names(kept.drop([*quasi, *sensitive, OWNER]))
    schema = Schema.of(
        quasi=quasi,
        sensitive=sensitive,
        person=OWNER if kept[OWNER].n_unique() < len(kept) else None,
        identifiers=() if kept[OWNER].n_unique() < len(kept) else (OWNER,),
        hierarchies=request.hierarchies,
    )
    return read(kept, schema).identified()


def _refuse_names(frame: pl.DataFrame) -> None:
    """Refuse columns of text that differ in every row and have no role: they name people."""
    import polars as pl

    for name in frame.columns:
        if frame[name].dtype == pl.String and len(frame) >= 20 and frame[name].n_unique() == len(frame):
            raise DataError(
                f"column {name!r} has another text in every row, as names and numbers of people do. List it under "
                "identifiers, which are left out, or under sensitive if it must be published."
            )


def _measured(request: Request, table: Table, marks: Marks, made: Protected, stream: Stream) -> dict[str, Any]:
    """The attack and the losses, for the release, standard(k) and the control standard(k + X)."""
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
        one = made if name == request.design.rule else honour(table, marks.extra, design, stream)
        row: dict[str, Any] = {"losses": losses(table, one, marks.blocked, columns), "facts": dict(one.evidence)}
        row["alpha"] = singletons(one.table)
        if len(table) >= 40:
            row["p_reid"] = re_identification(
                table.take(sample), one.table.take(sample), columns, marks.blocked[chosen], external=request.external
            )
        out[name] = row
    return out


def _released(table: Table, request: Request, stream: Stream) -> Table:
    """The table without owners, in random order."""
    gone = [name for name in (OWNER, *request.identifiers) if name in table.names]
    frame = table.drop(gone).polars()
    order = np.argsort(stream.child("order").uniform(np.arange(len(frame), dtype=np.int64)))
    from celosia.table import read

    schema = table.schema.keep(frame.columns)
    return read(frame[order], schema)


def _report(
    request: Request,
    dialect: str,
    found: Sequence[Match],
    marks: Marks,
    made: Protected,
    measured: Mapping[str, Any],
    released: Table,
    catalogue: Catalogue,
    store: Preferences,
) -> dict[str, Any]:
    """Which inference, which rule, how many owners, which parameters caused each change."""
    extra = marks.extra
    blocks = []
    for inference, mask in marks.rows.items():
        one = catalogue[inference]
        decided = mask & (extra == one.extra)
        blocks.append(
            {
                "inference": inference,
                "description": dict(one.description),
                "owners": marks.owners(inference),
                "rows": int(mask.sum()),
                "columns": list(marks.columns[inference]),
                "X": one.extra,
                "rows whose X it decides": int(decided.sum()),
            }
        )
    design = request.design
    return {
        "rows": len(released),
        "columns": list(released.names),
        "dialect": dialect,
        "default": "block" if store.default else "allow",
        "rules": [one.data() | {"sentence": one.sentence()} for one in found],
        "blocks": blocks,
        "owners": int(marks.owner.drop_nulls().n_unique()),
        "rows without an owner": marks.unknown,
        "rows marked": int(marks.blocked.sum()),
        "method": {
            "rule": design.rule,
            "k": design.k,
            "tree": list(design.tree),
            "camouflage": design.camouflage,
            "strengthen": list(design.strengthen),
        },
        "facts": dict(made.evidence),
        "holds": made.holds,
        "measured": dict(measured),
    }
