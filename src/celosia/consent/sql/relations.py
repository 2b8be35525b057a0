"""Origin of the columns of tables, sub-selects and functions, and resolution of column names in nested queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from celosia.consent.sql.elements import ANY, DIALECTS, Constant, Field

Fields = frozenset[Field]
NONE: Fields = frozenset()
UNRESOLVED = ""
"""Table name of fields that cannot be resolved to a table."""

# Pseudo-columns; a table that is known to have a column of such a name takes precedence.
_ORACLE = (
    "rownum rowid level sysdate systimestamp user uid connect_by_isleaf connect_by_iscycle nextval currval ora_rowscn"
)
PSEUDO = {
    "oracle": frozenset(_ORACLE.split()),
    "postgres": frozenset({"user"}),
    "tsql": frozenset({"user", "system_user"}),
    "snowflake": frozenset({"level", "nextval"}),
}
# Dialects in which a name in a clause may mean a column of the result: on its own, or inside an expression.
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
# Dialects in which the name of a table alone means its whole row.
ROWS = frozenset({"postgres", "duckdb", "bigquery"})


@dataclass(frozen=True)
class Trace:
    """Origin of a value (see :class:`Output`): ``same`` are the fields that it may show unchanged."""

    direct: Fields = NONE
    linked: Fields = NONE
    same: Fields = NONE
    exact: bool = False
    """Whether it shows one of the fields in ``same`` in every row, never a computed or constant value."""

    def derivation(self) -> Trace:
        """Return the trace of a value that is computed from this one."""
        return Trace(self.direct, self.linked)


def merge(traces: Iterable[Trace]) -> Trace:
    """Return the trace of a value that may be any of several."""
    alternatives = list(traces)
    return Trace(
        frozenset().union(*(t.direct for t in alternatives)),
        frozenset().union(*(t.linked for t in alternatives)),
        frozenset().union(*(t.same for t in alternatives)),
        bool(alternatives) and all(t.exact for t in alternatives),
    )


def base_field(table: str, name: str) -> Trace:
    """Return the trace of an unchanged field of a base table."""
    own = frozenset({(table, name)})
    return Trace(own, same=own, exact=True)


@dataclass(frozen=True)
class Relation:
    """Columns in order, the constants that all rows share, and the fields that were read to compute it.

    A column called ``*`` stands for any number of columns whose names are not known.
    """

    columns: tuple[tuple[str, Trace], ...] = ()
    constants: frozenset[Constant] = frozenset()
    touched: Fields = NONE

    def has(self, name: str) -> bool | None:
        """Return whether there is a column of this name; None if that is not known."""
        if any(column_name.casefold() == name for column_name, _ in self.columns):
            return True
        return None if any(column_name == ANY for column_name, _ in self.columns) else False

    def column(self, name: str) -> Trace:
        """Return the trace of a column by its name in lower case."""
        named = [trace for column_name, trace in self.columns if column_name.casefold() == name and column_name != ANY]
        if named:
            return merge(named)
        return merge(_replace_star(trace, name) for column_name, trace in self.columns if column_name == ANY)

    def whole(self) -> Trace:
        """Return the trace of a whole row."""
        return merge(trace for _, trace in self.columns).derivation()

    def rename(self, names: Sequence[str]) -> Relation:
        """Rename the columns as an alias lists them; behind ``*`` a name may mean any column."""
        if not names:
            return self
        sure = next((i for i, (column_name, _) in enumerate(self.columns) if column_name == ANY), len(self.columns))
        first = [(name, trace) for name, (_, trace) in zip(names, self.columns[:sure], strict=False)]
        rest = self.columns[len(first) :]
        unsure = merge(trace for _, trace in rest).derivation()
        later = [(name, unsure) for name in names[len(first) :]]
        if later and not any(name == ANY for _, name in unsure.direct):
            rest = ()  # a function without known columns has exactly those of its alias
        return Relation((*first, *later, *rest), self.constants, self.touched)


def _replace_star(trace: Trace, name: str) -> Trace:
    """Return the trace of a named column among those of ``*``: that field of each of its tables."""
    return Trace(
        frozenset((t, name if f == ANY else f) for t, f in trace.direct),
        trace.linked,
        frozenset((t, name) for t, f in trace.direct if f == ANY),
        all(f == ANY for _, f in trace.direct),
    )


@dataclass(eq=False)
class Source:
    """Table, sub-select or function of a FROM clause, with the names that may qualify its columns."""

    names: tuple[str, ...]
    relation: Relation
    table: str | None = None
    has_alias: bool = True
    """Whether it has an alias. Without one, the name of a table can also be that of one of its columns."""
    visible: bool = True
    """Whether its columns can be named outside its join condition (not after a semi-join or anti-join)."""
    in_result: bool = True
    """Whether rows of it contribute to the result (not after an anti-join)."""

    def is_named(self, prefix: Sequence[str]) -> bool:
        """Return whether a prefix such as ``schema.table`` denotes this source."""
        return bool(prefix) and self.names[-len(prefix) :] == tuple(prefix)

    def column(self, name: str) -> Trace:
        """Return the trace of a column; an unknown name may be a field that is newer than the schema."""
        if self.table is not None and self.relation.has(name) is False:
            return base_field(self.table, name)
        return self.relation.column(name)

    def row(self) -> Trace:
        """Return the trace of the whole row; without an alias the name may also mean the column of that name."""
        whole = self.relation.whole()
        if self.table is None or self.has_alias or self.relation.has(self.names[-1]) is False:
            return whole
        return merge([whole, base_field(self.table, self.names[-1])])


Meanings = list[tuple[Source | None, Trace]]


@dataclass(eq=False)
class Frame:
    """Scope of a query: its sources, the aliases of its result, and the scopes of the enclosing queries."""

    parent: Frame | None
    ctes: dict[str, Relation]
    dialect: str
    sources: list[Source] = field(default_factory=list)
    aliases: dict[str, Trace] = field(default_factory=dict)
    using_columns: dict[str, Trace] = field(default_factory=dict)
    """Columns that ``USING`` or a natural join merged."""
    windows: dict[str, Trace] = field(default_factory=dict)
    is_hierarchical: bool = False
    """Whether it has ``CONNECT BY``."""
    touched: set[Field] = field(default_factory=set)

    def scopes(self) -> Iterator[Frame]:
        """Iterate over this frame and its enclosing frames, innermost first."""
        scope: Frame | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def resolve(self, parts: Sequence[str], clause: str = "", *, bare: bool = False, quoted: bool = False) -> Meanings:
        """Resolve a column name to pairs of source and trace: several if the name is ambiguous."""
        pseudo = not quoted and parts[-1] in PSEUDO.get(self.dialect, ())
        if self.dialect == "snowflake" and parts[-1] == "level":
            pseudo &= any(scope.is_hierarchical for scope in self.scopes())
        if len(parts) > 1:
            return self._resolve_qualified(parts, clause, pseudo=pseudo)
        for scope in self.scopes():
            meanings = scope.resolve_local(parts[0], clause if scope is self else "", bare=bare, pseudo=pseudo)
            if meanings:
                return meanings
        return [] if pseudo else self._resolve_unknown(parts[0])

    def _resolve_qualified(self, parts: Sequence[str], clause: str, *, pseudo: bool) -> Meanings:
        """Resolve a name with a prefix: table, schema and table, or a column that holds a record."""
        for scope in self.scopes():
            for cut in range(len(parts) - 1, 0, -1):
                named = [s for s in scope.sources if s.is_named(parts[:cut])]
                if named and pseudo:
                    named = [s for s in named if s.relation.has(parts[cut])]
                    return [(s, s.column(parts[cut])) for s in named]
                if named:
                    traces = [(s, s.column(parts[cut])) for s in named]
                    return [(s, t if cut == len(parts) - 1 else t.derivation()) for s, t in traces]
        return [] if pseudo else [(s, t.derivation()) for s, t in self.resolve(parts[:1], clause)]

    def resolve_local(self, name: str, clause: str, *, bare: bool, pseudo: bool) -> Meanings:
        """Resolve a name without a prefix in this frame only; the result is empty if it belongs to an enclosing one."""
        dialects = INSIDE.get(clause, frozenset()) | (BARE.get(clause, frozenset()) if bare else frozenset())
        own = self.aliases.get(name) if self.dialect in dialects else None
        if own is not None and clause == "order":
            return [(None, own)]
        if name in self.using_columns:
            return [(None, self.using_columns[name])]
        visible = [s for s in self.sources if s.visible]
        owning = [s for s in visible if s.relation.has(name)]
        if owning:
            return [(s, s.column(name)) for s in owning]
        if own is not None and clause not in ("where", "select"):
            return [(None, own)]
        if pseudo:
            return []
        rows = [s for s in visible if self.dialect in ROWS and s.is_named([name])]
        possible = rows or [s for s in visible if s.relation.has(name) is None]
        meanings: Meanings = [(s, s.row() if rows else s.column(name)) for s in possible]
        return [*meanings, (None, own)] if own is not None else meanings

    def _resolve_unknown(self, name: str) -> Meanings:
        """Resolve a name that no known table has: any table of the innermost scope may have it by now."""
        for scope in self.scopes():
            tables = [s for s in scope.sources if s.table is not None]
            if tables:
                return [(s, base_field(str(s.table), name)) for s in tables]
        self.touched.add((UNRESOLVED, name))  # part of a record of a sub-select, as of unnest(person)
        return [(s, s.relation.whole()) for scope in self.scopes() for s in scope.sources]
