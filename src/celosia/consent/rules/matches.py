"""Inferences that a query makes possible: partial matches of their rules, with the elements that fired."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from celosia import __version__
from celosia.consent.rules.rules import Catalogue, Rule, Value
from celosia.consent.sql.elements import ANY, Columns, Elements, Field, Output, normalise, same_table
from celosia.consent.sql.lineage import elements

if TYPE_CHECKING:
    from celosia.consent.owners.match_cache import MatchCache

FoundValues = Mapping[tuple[str, int, int], bool]
"""Whether the result holds the value: by inference, number of the rule and number of the value."""


@dataclass(frozen=True)
class Match:
    """Elements of one rule that a query uses."""

    inference: str
    rule: int
    tables: tuple[str, ...]
    fields: tuple[Field, ...]
    values: tuple[str, ...]
    total: int
    active: bool
    waiting: tuple[int, ...] = ()
    """Values that only the result can decide, by number; empty once the result has been read."""
    fired: tuple[int, ...] = ()
    """Values that fired, by number."""

    @property
    def matched(self) -> int:
        """Number of elements that fired."""
        return len(self.tables) + len(self.fields) + len(self.values)

    @property
    def score(self) -> Fraction:
        r""":math:`|E_{rule} \cap E_{query}| / |E_{rule}|`."""
        return Fraction(self.matched, self.total)

    def data(self) -> dict[str, object]:
        """Return the match as plain data; values are named by their field, never by their literal."""
        counts = {"matched": self.matched, "score": float(self.score)}
        return {**asdict(self), **counts, "sentence": self.sentence()}

    def stored_form(self) -> dict[str, object]:
        """Return plain data from which :meth:`from_stored` restores the match; literals are left out."""
        return {name: value for name, value in asdict(self).items() if name != "values"}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any], catalogue: Catalogue) -> Match:
        """Restore a match from its :meth:`stored_form`."""
        rule = catalogue[stored["inference"]].rules[stored["rule"]]
        lists = {name: tuple(stored[name]) for name in ("tables", "waiting", "fired")}
        fields = tuple((table, field) for table, field in stored["fields"])
        return cls(**{**stored, **lists, "fields": fields, "values": _fields(rule, stored["fired"])})

    def sentence(self) -> str:
        """Return a description of the elements that fired."""
        parts = [f"tables {', '.join(self.tables)}"] if self.tables else []
        parts += [f"fields {', '.join(f'{t}.{f}' for t, f in self.fields)}"] if self.fields else []
        parts += [f"values of {', '.join(self.values)}"] if self.values else []
        verdict = "active" if self.active else "not active"
        return f"{self.inference}, rule {self.rule + 1}: {self.matched} of {self.total} elements ({verdict}): " + (
            "; ".join(parts) or "nothing"
        )


def match(
    rule: Rule, query: Elements, inference: str = "", number: int = 0, matched: FoundValues | None = None
) -> Match:
    r"""Compare one rule with a query.

    .. math:: score = \frac{|E_{rule} \cap E_{query}|}{|E_{rule}|}, \qquad E = \text{tables} \cup \text{fields} \cup
              \text{values}

    >>> from celosia.consent.rules.rules import derive_rule
    >>> rule = Rule(tables={"student": ["street", "town", "year"]})
    >>> match(rule, elements("SELECT town FROM student")).score
    Fraction(1, 2)
    """
    tables = tuple(name for name in rule.tables if any(same_table(name, t) for t in query.tables))
    fields = tuple((t, f) for t, names in rule.tables.items() for f in names if _uses(query, t, f))
    fired, waiting = [], []
    for at, value in enumerate(rule.values):
        value_found = (matched or {}).get((inference, number, at))
        if value.scope == "predicate":
            hit = _fixes(query, value)
        else:
            hit = bool(value_found)
            if value_found is None and value_columns(query, value):
                waiting.append(at)
        if hit:
            fired.append(at)
    values = _fields(rule, fired)
    active = _is_active(rule, len(tables) + len(fields) + len(values))
    return Match(inference, number, tables, fields, values, rule.size(), active, tuple(waiting), tuple(fired))


def complete(compared: Iterable[Match], catalogue: Catalogue, found_values: FoundValues) -> tuple[Match, ...]:
    """Decide the waiting values of matches by what was found in the result."""
    out = []
    for rule_match in compared:
        rule = catalogue[rule_match.inference].rules[rule_match.rule]
        hits = [at for at in rule_match.waiting if found_values.get((rule_match.inference, rule_match.rule, at))]
        fired = tuple(sorted({*rule_match.fired, *hits}))
        done = replace(rule_match, values=_fields(rule, fired), fired=fired, waiting=())
        out.append(replace(done, active=_is_active(rule, done.matched)))
    return tuple(out)


def matches(catalogue: Catalogue, query: Elements, found_values: FoundValues | None = None) -> tuple[Match, ...]:
    """Compare every rule of a catalogue with a query."""
    return tuple(
        match(rule, query, inference.id, number, found_values)
        for inference in catalogue.inferences
        for number, rule in enumerate(inference.rules)
    )


def active(compared: Iterable[Match]) -> dict[str, tuple[Match, ...]]:
    """Return the matches of active rules by inference."""
    out: dict[str, tuple[Match, ...]] = {}
    for rule_match in compared:
        if rule_match.active:
            out[rule_match.inference] = (*out.get(rule_match.inference, ()), rule_match)
    return out


def value_columns(query: Elements, value: Value) -> tuple[str, ...]:
    """Return the output columns that are computed from the field of a value rule."""
    return tuple(
        output.name
        for output in query.outputs
        if any(
            field in (value.field.casefold(), ANY) and (value.table is None or same_table(table, value.table))
            for table, field in output.direct
        )
    )


def uncheckable_inferences(catalogue: Catalogue, query: Elements) -> tuple[str, ...]:
    """Return inferences with a rule on a data value whose field the query uses in an expression or a condition.

    The result then does not hold the value, and yet depends on it: ``upper(hiv)``, ``WHERE hiv = 'positive'``.
    """
    return tuple(
        inference.id
        for inference in catalogue.inferences
        if any(
            rule.active and value.scope == "data" and _computes(query, value)
            for rule in inference.rules
            for value in rule.values
        )
    )


def _computes(query: Elements, value: Value) -> bool:
    return any(
        field in (value.field.casefold(), ANY) and (value.table is None or same_table(table, value.table))
        for table, field in query.computed
    )


def marked_columns(query: Elements, fired: Iterable[Match], owner: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the output columns that disclose a field that fired: computed from it, or from a table joined by it.

    A column of a table that the rule itself names is judged by its own fields only. ``owner`` are the names of owner
    keys: a join by one of them does not count.
    """
    keys = {name.casefold() for name in owner}
    names: dict[str, None] = {}
    for rule_match in fired:
        for output in query.outputs:
            own = any(names_field(rule_match.fields, field) for field in output.direct)
            own |= any(field[1] in (name.casefold(), ANY) for name in rule_match.values for field in output.direct)
            named = any(same_table(t, table) for t, _ in output.direct for table in rule_match.tables)
            linked = output.linked | _linked_by(query, output, keys)
            looked_up = not named and any(names_field(rule_match.fields, f) and f[1] not in keys for f in linked)
            if (own or looked_up) and output.name.casefold() not in keys:
                names[output.name] = None
    return tuple(names)


def _linked_by(query: Elements, output: Output, keys: set[str]) -> frozenset[Field]:
    """Return the fields by which the table of a column is joined through others; not beyond a table of persons."""
    persons = {table for table, field in query.fields if field in keys}
    reached, todo = {table for table, _ in output.direct}, [table for table, _ in output.direct]
    linked: set[Field] = set()
    while todo:
        table = todo.pop()
        for pair in query.equal if table not in persons else ():
            if any(t == table for t, _ in pair):
                linked |= {field for field in pair if field[0] != table}
        more = {t for t, _ in linked} - reached
        reached |= more
        todo += sorted(more)
    return frozenset(linked)


class Activations:
    """Cache of matches by normalised query.

    The key is a hash: constants of a query are not stored. ``memory`` keeps matches beyond this process once
    :meth:`remember` is called, so that a request that is refused leaves nothing in the store.
    """

    def __init__(self, catalogue: Catalogue, columns: Columns | None = None, memory: MatchCache | None = None) -> None:
        self._catalogue, self._columns, self._memory = catalogue, columns, memory
        described = json.dumps({name: list(fields) for name, fields in (columns or {}).items()}, sort_keys=True)
        self._digest = f"{__version__}{catalogue.digest()}{described}"
        self._matched: dict[str, tuple[Elements, tuple[Match, ...]]] = {}
        self._new: dict[str, list[dict[str, object]]] = {}
        self.hits = 0

    def of(self, sql: str, dialect: str = "postgres") -> tuple[Elements, tuple[Match, ...]]:
        """Return the elements of a query and its matches, before any data are read."""
        key = hashlib.sha256(f"{self._digest}{normalise(sql, dialect)}".encode()).hexdigest()
        if key in self._matched:
            self.hits += 1
            return self._matched[key]
        query = elements(sql, dialect, self._columns)
        self._matched[key] = (query, self._matches(key, query))
        return self._matched[key]

    def _matches(self, key: str, query: Elements) -> tuple[Match, ...]:
        stored = self._memory.recall(key) if self._memory else None
        if stored is not None:
            self.hits += 1
            return tuple(Match.from_stored(entry, self._catalogue) for entry in stored)
        compared = matches(self._catalogue, query)
        self._new[key] = [rule_match.stored_form() for rule_match in compared]
        return compared

    def remember(self) -> None:
        """Store the new matches for other processes."""
        while self._memory and self._new:
            self._memory.store(*self._new.popitem())


def _fields(rule: Rule, numbers: Iterable[int]) -> tuple[str, ...]:
    """Return the fields of some values of a rule."""
    return tuple(rule.values[at].field for at in numbers)


def _is_active(rule: Rule, matched: int) -> bool:
    """Return whether a number of matched elements activates a rule."""
    enough = (
        matched >= rule.minimum if rule.threshold is None else matched >= Fraction(str(rule.threshold)) * rule.size()
    )
    return rule.active and enough


def _uses(query: Elements, table: str, field: str) -> bool:
    wanted = field.casefold()
    return any(same_table(t, table) and f in (wanted, ANY) for t, f in query.fields)


def _fixes(query: Elements, value: Value) -> bool:
    """Return whether a condition fixes the field to the value, or may do so in a form that cannot be read."""
    named = [c for c in query.constants if _names(value, (c.table, c.field))]
    decided = any(_names(value, field) for field in query.decisive | query.filtering)
    return any(value.accepts(c.literal) for c in named) or (decided and not named)


def _names(value: Value, field: Field) -> bool:
    return field[1] == value.field.casefold() and (value.table is None or same_table(field[0], value.table))


def names_field(fired: Iterable[Field], field: Field) -> bool:
    """Return whether a field is among those of a rule that fired; ``*`` may be any field of its table."""
    return any(same_table(t, field[0]) and field[1] in (f.casefold(), ANY) for t, f in fired)
