"""Inferences and their rules: a sentence for people, and the tables, fields and values to compare with queries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from celosia import files
from celosia.consent.sql.elements import ANY, Columns, Elements, plain_literal
from celosia.consent.sql.lineage import elements
from celosia.data import toml_text
from celosia.errors import DataError, InputError, UnknownName

if TYPE_CHECKING:
    from tomlkit.items import Table

LANGUAGES = ("en", "es", "ca")
STUDENT_CLASSES = {
    "timetable": "Class timetable",
    "secondary-school": "Secondary school",
    "admission": "Admission",
    "geographic": "Geographic",
    "degree": "Degree",
    "socio-economic": "Socio-economic",
    "grades": "Grades",
    "titles": "Titles",
    "financial": "Financial",
    "personal": "Personal",
}
"""The ten classes of student data, as a taxonomy to start from."""


def _sentences(value: object) -> object:
    return {"en": value} if isinstance(value, str) else value


Sentences = Annotated[dict[str, str], BeforeValidator(_sentences)]
"""A sentence by language; a plain text is English."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Value(_Frozen):
    """Value that makes a rule apply: in a condition of the query, or (``scope="data"``) in its result."""

    field: str = Field(min_length=1)
    literal: str
    table: str | None = None
    op: Literal["=", "!=", "<", "<=", ">", ">="] = "="
    scope: Literal["predicate", "data"] = "predicate"

    @field_validator("literal", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return plain_literal(value) if isinstance(value, int | float | str) else value

    def accepts(self, literal: str) -> bool:
        """Return whether a constant meets the condition; numbers are compared as numbers.

        >>> Value(field="year", literal="2015", op=">=").accepts("2019")
        True
        """
        constant, bound = plain_literal(literal), self.literal
        try:
            left, right = float(constant), float(bound)
        except ValueError:
            left, right = constant, bound  # type: ignore[assignment]
        return {
            "=": constant == bound,
            "!=": constant != bound,
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
        }[self.op]


class Rule(_Frozen):
    """Elements of a database by which an inference can be made.

    A query activates the rule when it uses at least the share ``threshold`` of the elements, or, without a
    threshold, at least ``minimum`` of them.
    """

    tables: dict[str, tuple[str, ...]] = Field(description="fields of each table")
    values: tuple[Value, ...] = ()
    active: bool = True
    threshold: float | None = Field(default=None, gt=0, le=1)
    minimum: int = Field(default=1, ge=1)
    note: str = ""

    @model_validator(mode="after")
    def _has_elements(self) -> Rule:
        if not self.tables and not self.values:
            raise ValueError("a rule needs at least one table or value")
        for table, fields in self.tables.items():
            if len({f.casefold() for f in fields}) < len(fields):
                raise ValueError(f"table {table} names a field twice")
        return self

    def size(self) -> int:
        """Return the number of elements: tables, fields and values.

        >>> Rule(tables={"student": ["street", "town"]}, values=[Value(field="year", literal=2019)]).size()
        4
        """
        return len(self.tables) + sum(map(len, self.tables.values())) + len(self.values)

    def without(self, *, tables: Iterable[str] = (), fields: Iterable[str] = (), values: Iterable[str] = ()) -> Rule:
        """Return a copy without some tables, fields (of any table, or ``table.field``) and values (by field)."""
        gone = {name.casefold() for name in tables}
        bare = {name.casefold() for name in fields}
        kept = {
            table: tuple(f for f in names if not {f.casefold(), f"{table}.{f}".casefold()} & bare)
            for table, names in self.tables.items()
            if table.casefold() not in gone
        }
        dropped = {name.casefold() for name in values}
        return self.model_copy(
            update={"tables": kept, "values": tuple(v for v in self.values if v.field.casefold() not in dropped)}
        )

    def union(self, other: Rule) -> Rule:
        """Return a rule with the elements of both."""
        tables = {name: list(fields) for name, fields in self.tables.items()}
        spelled = {name.casefold(): name for name in tables}
        for name, fields in other.tables.items():
            mine = tables.setdefault(spelled.setdefault(name.casefold(), name), [])
            mine += [f for f in fields if f.casefold() not in {m.casefold() for m in mine}]
        values = (*self.values, *(v for v in other.values if v not in self.values))
        return self.model_copy(update={"tables": {n: tuple(f) for n, f in tables.items()}, "values": values})


class Realisation(_Frozen):
    """A query by which the inference could be made from the whole database."""

    sql: str
    dialect: str = "postgres"
    note: str = ""


class Inference(_Frozen):
    """Statement that a reader could deduce about a person, with the rules that detect it."""

    id: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")
    description: Sentences
    example: Sentences = Field(default_factory=dict)
    category: str | None = None
    extra: int = Field(default=30, ge=1, description="X: how much larger the class of a blocking owner must be")
    realisations: tuple[Realisation, ...] = ()
    rules: tuple[Rule, ...] = ()

    @field_validator("description")
    @classmethod
    def _has_sentence(cls, value: dict[str, str]) -> dict[str, str]:
        if not any(text.strip() for text in value.values()):
            raise ValueError("an inference needs a sentence in at least one language")
        return value

    def sentence(self, language: str = "en") -> str:
        """Return the sentence in a language, or in another one if there is no translation."""
        return translation(self.description, language)


class Catalogue(_Frozen):
    """The inferences of one database."""

    inferences: tuple[Inference, ...]
    taxonomy: dict[str, str] = Field(default_factory=lambda: dict(STUDENT_CLASSES))

    @model_validator(mode="after")
    def _consistent(self) -> Catalogue:
        ids = [inference.id.casefold() for inference in self.inferences]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"inference {twice[0]!r} occurs twice")
        for inference in self.inferences:
            if inference.category is not None and inference.category not in self.taxonomy:
                raise ValueError(
                    f"inference {inference.id!r} has the category {inference.category!r}, which the taxonomy lacks"
                )
        return self

    def __getitem__(self, name: str) -> Inference:
        for inference in self.inferences:
            if inference.id.casefold() == name.casefold():
                return inference
        raise UnknownName.of("inference", name, self.ids())

    def ids(self) -> list[str]:
        """Return the names of the inferences."""
        return [inference.id for inference in self.inferences]

    def digest(self) -> str:
        """Return a hash of all that decides activation."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def translation(sentences: Mapping[str, str], language: str) -> str:
    """Return a sentence in a language, else in English, else in any."""
    return sentences.get(language) or sentences.get("en") or next(iter(sentences.values()), "")


def derive_rule(sql: str | Iterable[str], dialect: str = "postgres", columns: Columns | None = None) -> Rule:
    """Propose a rule with the elements of one query, or of several, for an expert to edit.

    >>> derive_rule("SELECT town FROM student WHERE year = 2019").tables
    {'student': ('town', 'year')}
    """
    texts = [sql] if isinstance(sql, str) else list(sql)
    if not texts:
        raise DataError("give at least one query to derive a rule from.")
    rules = [_of(elements(text, dialect, columns)) for text in texts]
    first = rules[0]
    for other in rules[1:]:
        first = first.union(other)
    return first


def _of(touched: Elements) -> Rule:
    tables = {
        table: tuple(sorted(field for t, field in touched.fields if t == table and field != ANY))
        for table in sorted(touched.tables)
    }
    fixed = sorted(touched.constants, key=lambda c: (c.field, c.table, c.literal))
    return Rule(tables=tables, values=tuple(Value(table=c.table, field=c.field, literal=c.literal) for c in fixed))


def read_toml(text: str) -> Catalogue:
    """Read a catalogue from TOML.

    >>> read_toml('''[[inference]]
    ... id = "residence"
    ... description = "Find out where I live"
    ... [[inference.rule]]
    ... tables = {student = ["street"]}
    ... ''').ids()
    ['residence']
    """
    try:
        data = files.toml_document(text)
    except ValueError as error:
        raise DataError(f"the catalogue is not TOML: {error}.") from None
    entries = data.get("inference", [])
    if "inferences" in data or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DataError("the catalogue is wrong: every inference is a table [[inference]].")
    inferences = []
    for entry in entries:
        renamed = {"rule": "rules", "realisation": "realisations"}
        inferences.append({renamed.get(key, key): value for key, value in entry.items()})
    rest = {key: value for key, value in data.items() if key != "inference"}
    return catalogue_of({**rest, "inferences": inferences})


def catalogue_of(data: Mapping[str, object]) -> Catalogue:
    """Build a catalogue from plain data; an error states the first wrong entry."""
    try:
        return Catalogue.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "catalogue"
        raise InputError(f"catalogue of inferences, {where}: {first['msg'].removeprefix('Value error, ')}.") from None


def write_toml(catalogue: Catalogue) -> str:
    """Return the catalogue as TOML, without loss."""
    import tomlkit

    written = tomlkit.document()
    written.add("taxonomy", toml_text.table(catalogue.taxonomy))
    written.add("inference", toml_text.tables(_inference(inference) for inference in catalogue.inferences))
    return tomlkit.dumps(written)


def _inference(inference: Inference) -> Table:
    """Return an inference as a TOML table, with its realisations and rules as tables."""
    head = {
        "id": inference.id,
        "description": inference.description,
        "example": inference.example or None,
        "category": inference.category,
    }
    written = toml_text.table({**head, "extra": inference.extra})
    queries = [{key: value for key, value in query.model_dump().items() if value} for query in inference.realisations]
    rules = [_rule(rule) for rule in inference.rules]
    for key, entries in (("realisation", queries), ("rule", rules)):
        if entries:
            written.add(key, toml_text.tables(entries))
    return written


def _rule(rule: Rule) -> dict[str, object]:
    facts = {"active": rule.active, "threshold": rule.threshold, "minimum": rule.minimum, "note": rule.note or None}
    return {**facts, "tables": rule.tables, "values": [value.model_dump() for value in rule.values] or None}
