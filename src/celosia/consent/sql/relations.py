"""What the columns of a table, a sub-select or a function are made of, and which of them a name means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from celosia.consent.sql.elements import ANY, DIALECTS, Constant, Field

Fields = frozenset[Field]
NONE: Fields = frozenset()
LOST = ""
"""The table of a field that no table of a query can have."""

# What a query may name without a table; a table that is known to have such a column goes first.
_ORACLE = (
    "rownum rowid level sysdate systimestamp user uid connect_by_isleaf connect_by_iscycle nextval currval ora_rowscn"
)
PSEUDO = {
    "oracle": frozenset(_ORACLE.split()),
    "postgres": frozenset({"user"}),
    "tsql": frozenset({"user", "system_user"}),
    "snowflake": frozenset({"level", "nextval"}),
}
# Where a name may mean a column of the result: bare, or inside an expression.
EVERYWHERE = frozenset(DIALECTS)
LENIENT = EVERYWHERE - {"oracle", "postgres", "tsql"}
BARE = {"order": EVERYWHERE, "group": LENIENT | {"postgres"}}
INSIDE = {
    "order": EVERYWHERE - {"postgres", "tsql"},
    "group": LENIENT,
    "having": LENIENT,
    "qualify": LENIENT,
    "where": frozenset({"sqlite", "duckdb", "snowflake"}),
    "select": frozenset({"duckdb", "snowflake"}),
}
# Where the name of a table alone means its whole row.
ROWS = frozenset({"postgres", "duckdb", "bigquery"})


@dataclass(frozen=True)
class Trace:
    """Where a value comes from; ``same`` are the fields that it is, unchanged."""

    direct: Fields = NONE
    linked: Fields = NONE
    same: Fields = NONE
    exact: bool = False
    """Whether it is one of the fields in ``same`` in every row; not so where a branch computes it."""

    def changed(self) -> Trace:
        """The trace of something made from it."""
        return Trace(self.direct, self.linked)


def merged(traces: Iterable[Trace]) -> Trace:
    """The trace of what may be any of several values."""
    alternatives = list(traces)
    return Trace(
        frozenset().union(*(t.direct for t in alternatives)),
        frozenset().union(*(t.linked for t in alternatives)),
        frozenset().union(*(t.same for t in alternatives)),
        bool(alternatives) and all(t.exact for t in alternatives),
    )


def plain(table: str, name: str) -> Trace:
    """A field of a base table as it is."""
    own = frozenset({(table, name)})
    return Trace(own, same=own, exact=True)


@dataclass(frozen=True)
class Relation:
    """Columns in order, the constants that all its rows share, and the fields that were needed to make it.

    A column called ``*`` stands for further columns whose names are not known.
    """

    columns: tuple[tuple[str, Trace], ...] = ()
    constants: frozenset[Constant] = frozenset()
    touched: Fields = NONE

    def has(self, name: str) -> bool | None:
        """Whether there is a column of this name; None when that is not known."""
        if any(column_name.casefold() == name for column_name, _ in self.columns):
            return True
        return None if any(column_name == ANY for column_name, _ in self.columns) else False

    def column(self, name: str) -> Trace:
        """The trace of a column by its name, in lower case."""
        named = [trace for column_name, trace in self.columns if column_name.casefold() == name and column_name != ANY]
        if named:
            return merged(named)
        return merged(_named(trace, name) for column_name, trace in self.columns if column_name == ANY)

    def whole(self) -> Trace:
        """The trace of a row."""
        return merged(trace for _, trace in self.columns).changed()

    def renamed(self, names: Sequence[str]) -> Relation:
        """With the column names of an alias; after an unknown number of columns a name may mean any."""
        if not names:
            return self
        sure = next((i for i, (column_name, _) in enumerate(self.columns) if column_name == ANY), len(self.columns))
        first = [(name, trace) for name, (_, trace) in zip(names, self.columns[:sure], strict=False)]
        rest = self.columns[len(first) :]
        unsure = merged(trace for _, trace in rest).changed()
        later = [(name, unsure) for name in names[len(first) :]]
        if later and not any(name == ANY for _, name in unsure.direct):
            rest = ()  # a function: its columns are those that were named
        return Relation((*first, *later, *rest), self.constants, self.touched)


def _named(trace: Trace, name: str) -> Trace:
    """A column of unknown origin under a name: a field of each table that was taken as a whole."""
    return Trace(
        frozenset((t, name if f == ANY else f) for t, f in trace.direct),
        trace.linked,
        frozenset((t, name) for t, f in trace.direct if f == ANY),
        all(f == ANY for _, f in trace.direct),
    )


@dataclass(eq=False)
class Source:
    """A table, sub-select or function of a FROM clause under the names that may stand before its columns."""

    names: tuple[str, ...]
    relation: Relation
    table: str | None = None
    renamed: bool = True
    """Whether it has an alias; the name of a table can also be the name of one of its columns."""
    shown: bool = True
    """Whether its columns are seen outside its own join condition."""
    counted: bool = True
    """Whether the rows of the result have rows of it: not so after an anti-join."""

    def answers(self, prefix: Sequence[str]) -> bool:
        """Whether a prefix means this source."""
        return bool(prefix) and self.names[-len(prefix) :] == tuple(prefix)

    def column(self, name: str) -> Trace:
        """A column by its name; a field that the description of its table lacks may have been added since."""
        if self.table is not None and self.relation.has(name) is False:
            return plain(self.table, name)
        return self.relation.column(name)

    def row(self) -> Trace:
        """The row as a whole; of a table that was not renamed perhaps the column of that name."""
        whole = self.relation.whole()
        if self.table is None or self.renamed or self.relation.has(self.names[-1]) is False:
            return whole
        return merged([whole, plain(self.table, self.names[-1])])


Found = list[tuple[Source | None, Trace]]


@dataclass(eq=False)
class Frame:
    """The names that a query sees: its sources, the columns of its result, and what the queries around it see."""

    parent: Frame | None
    ctes: dict[str, Relation]
    dialect: str
    sources: list[Source] = field(default_factory=list)
    aliases: dict[str, Trace] = field(default_factory=dict)
    joined: dict[str, Trace] = field(default_factory=dict)
    """Columns that ``USING`` made one."""
    windows: dict[str, Trace] = field(default_factory=dict)
    tree: bool = False
    """Whether it walks a tree with ``CONNECT BY``."""
    touched: set[Field] = field(default_factory=set)

    def around(self) -> Iterator[Frame]:
        """The frame and those around it, from the inside out."""
        at: Frame | None = self
        while at is not None:
            yield at
            at = at.parent

    def find(self, parts: Sequence[str], clause: str = "", *, bare: bool = False, quoted: bool = False) -> Found:
        """What a column name may mean: pairs of source and trace, one unless that cannot be told."""
        pseudo = not quoted and parts[-1] in PSEUDO.get(self.dialect, ())
        if self.dialect == "snowflake" and parts[-1] == "level":
            pseudo &= any(at.tree for at in self.around())
        if len(parts) > 1:
            return self._prefixed(parts, clause, pseudo=pseudo)
        for at in self.around():
            meanings = at.here(parts[0], clause if at is self else "", bare=bare, sure=pseudo)
            if meanings:
                return meanings
        return [] if pseudo else self._unknown(parts[0])

    def _prefixed(self, parts: Sequence[str], clause: str, *, pseudo: bool) -> Found:
        """A column behind the name of its table, perhaps with its schema, perhaps as a part of a record."""
        for at in self.around():
            for cut in range(len(parts) - 1, 0, -1):
                named = [s for s in at.sources if s.answers(parts[:cut])]
                if named and pseudo:
                    named = [s for s in named if s.relation.has(parts[cut])]
                    return [(s, s.column(parts[cut])) for s in named]
                if named:
                    traces = [(s, s.column(parts[cut])) for s in named]
                    return [(s, t if cut == len(parts) - 1 else t.changed()) for s, t in traces]
        return [] if pseudo else [(s, t.changed()) for s, t in self.find(parts[:1], clause)]

    def here(self, name: str, clause: str, *, bare: bool, sure: bool) -> Found:
        """What a name without a table means in this query; nothing when it comes from outside."""
        visible = BARE.get(clause, frozenset()) if bare else frozenset()
        own = self.aliases.get(name) if self.dialect in visible | INSIDE.get(clause, frozenset()) else None
        if own is not None and clause == "order":
            return [(None, own)]
        if name in self.joined:
            return [(None, self.joined[name])]
        seen = [s for s in self.sources if s.shown]
        having = [s for s in seen if s.relation.has(name)]
        if having:
            return [(s, s.column(name)) for s in having]
        if own is not None and clause not in ("where", "select"):
            return [(None, own)]
        if sure:
            return []
        rows = [s for s in seen if self.dialect in ROWS and s.answers([name])]
        maybe = rows or [s for s in seen if s.relation.has(name) is None]
        meanings: Found = [(s, s.row() if rows else s.column(name)) for s in maybe]
        return [*meanings, (None, own)] if own is not None else meanings

    def _unknown(self, name: str) -> Found:
        """A name that nothing described has: it may have been added to any table since."""
        for at in self.around():
            tables = [s for s in at.sources if s.table is not None]
            if tables:
                return [(s, plain(str(s.table), name)) for s in tables]
        self.touched.add((LOST, name))  # a part of a record of a sub-select, such as the columns of unnest(person)
        return [(s, s.relation.whole()) for at in self.around() for s in at.sources]
