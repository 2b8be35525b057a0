"""Base class of all parts: validated parameters, construction from a specification, and serialisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, Unpack, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import core_schema

from celosia.errors import ParameterError
from celosia.parts import grammar
from celosia.parts.parameter_errors import explain, shorten
from celosia.parts.registry import add_kind, add_part, covered_kinds, find

if TYPE_CHECKING:
    from celosia.data.schema import Schema


class Private:
    """Marks a field that can hold cell values, keys, or the place of other data: it is never published."""


class Credential(Private):
    """Marks a secret: ``env:NAME`` and ``file:PATH`` stand for it, the command line takes nothing else, no message
    shows it.
    """

    hidden = True


def has_mark(info: FieldInfo, mark: type) -> bool:
    """Return whether a field carries a mark, on itself or inside ``Optional``."""
    return any(isinstance(each, mark) for each in info.metadata) or _inside(info.annotation, mark)


class BoundedByRows:
    """Mixin of a measure that counts persons and whose value is bounded by the value for rows."""

    rows_bound: ClassVar[Literal["at least", "at most"] | None]
    """The value is at least, or at most, what counting rows would give; None where its parameters exclude both."""


class DecidedByOneRecord:
    """Mixin of a measure that one record can move by far more than its share of the records: it is never published."""


PartOfKind: TypeAlias = Any
"""A part of the kind that an argument names."""

KIND = "x-kind"
"""Key of a JSON schema that marks a nested part; its value is the kind."""


@dataclass(frozen=True)
class CountsRows:
    """Declares that a part counts rows where a person owns several of them, and why that is right."""

    reason: str
    """End of a sentence."""


PersonUnit = Literal["counted", "refused", "given"] | CountsRows
"""Persons are counted, a table in which a person has several rows is refused, or a parameter states how far one
person moves the answer."""

Memory = Literal["none", "columns", "blocks"]
"""Data that a part can need in memory: no column (combinations, sums or single rows are enough), all rows of a column,
or those of a column of one block (a method that may be applied to blocks of records, each by itself)."""


class Part(BaseModel):
    """A named thing with checked parameters. Subclass one of the kinds, not this class."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, validate_default=True)

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    persons: ClassVar[PersonUnit]
    """Treatment of tables in which a person has several rows."""
    memory: ClassVar[Memory] = "none"
    """Data that it can need in memory; :meth:`needs_memory` states it for its parameters and a schema."""
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ({},)
    """Parameters for the tests that run every part, on the columns of the test tables; ``True`` or a number instead of
    a second table stands for one that a test makes. The bound of a model is left out."""

    def needs_memory(self, schema: Schema) -> bool:  # noqa: ARG002
        """Return whether it needs all rows of a column in memory for a table with this schema."""
        return self.memory != "none"

    def __init_subclass__(cls, *, home: str = "", covers: tuple[str, ...] = (), **options: Unpack[ConfigDict]) -> None:
        """Register a kind with its package ``home``, or with the kinds that it ``covers``; pass on other options."""
        super().__init_subclass__(**options)
        if home or covers:
            add_kind(cls, home, covers)

    def __init__(self, /, **data: object) -> None:
        try:
            super().__init__(**{name: _read(type(self), name, value) for name, value in data.items()})
        except ValidationError as error:
            raise ParameterError(explain(type(self), error)) from None

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if "kind" not in cls.__dict__ and not cls.__name__.startswith("_"):
            add_part(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        if "kind" not in cls.__dict__ or not cls.kind:
            return handler(source)
        # A field of type Model, Loss, … holds a nested part: an instance, a mapping with `use`, or the text grammar.
        return core_schema.no_info_plain_validator_function(
            lambda value: build(cls.kind, value),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda part: part.spec()),
            json_schema_input_schema=core_schema.str_schema(),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        # The mark names the kind of the nested part; celosia.release.evidence.schemas replaces it by all parts of it.
        nested = "kind" in cls.__dict__ and cls.kind
        return {"type": ["string", "object"], KIND: cls.kind} if nested else handler(core)

    def spec(self) -> dict[str, Any]:
        """Return the part as plain data: ``{"use": name, …}`` with the parameters that differ from their defaults."""
        fields = type(self).model_fields.items()
        changed = {name for name, info in fields if not _same(getattr(self, name), _default(info))}
        return {"use": self.name, **self.model_dump(mode="json", include=changed)}

    def __str__(self) -> str:
        """Write the part in the text grammar: ``k-anonymity(k=5)``."""
        return grammar.show(self.spec())


def build(kind: str, value: object) -> PartOfKind:
    """Build a part from an instance, a mapping with ``use``, or the text grammar.

    >>> build("model", "k-anonymity(k=5)")
    KAnonymity(k=5)
    >>> build("model", {"use": "k-anonymity", "k": 5})
    KAnonymity(k=5)
    """
    if isinstance(value, Part):
        if value.kind not in covered_kinds(kind):
            raise ParameterError(f"{value.name} is a {value.kind}, but a {kind} is needed here.")
        return value
    if isinstance(value, str):
        value = grammar.part(value)
    if not isinstance(value, Mapping) or not isinstance(value.get("use"), str):
        raise ParameterError(f'a {kind} is written as {{use = "name", …}} or as name(…), got {shorten(value)}.')
    cls = find(kind, value["use"])
    return cls(**{str(k).replace("-", "_"): v for k, v in value.items() if k != "use"})


def build_all(kind: str, value: object) -> list[PartOfKind]:
    """Build parts from a list of them, or from a single one.

    >>> build_all("model", "k-anonymity(k=5)"), len(build_all("model", "[k-anonymity(k=5), l-diversity(l=2)]"))
    ([KAnonymity(k=5)], 2)
    """
    return [build(kind, part) for part in as_list(value)]


def as_list(value: object) -> Sequence[Any]:
    """Return parts as a list: a single part, in any of its forms, becomes a list of one; a text may hold a list."""
    if not isinstance(value, str | Mapping | Part):
        return cast("Sequence[Any]", value)  # checked where the field or the part is built
    return grammar.parse_list(value) if isinstance(value, str) and value.lstrip().startswith("[") else [value]


def _read(cls: type[Part], name: str, value: object) -> object:
    """Return a parameter in the form of its field.

    Where a field holds several parts, a single one becomes a list of one: ``require="k-anonymity(k=5)"``. The grammar
    reads ``none`` as None, which some fields list among their choices: ``scale=none``.
    """
    info = cls.model_fields.get(name)
    if value is None and info is not None and get_origin(info.annotation) is Literal:
        return "none" if "none" in get_args(info.annotation) else value
    inner = get_args(info.annotation)[:1] if info is not None and get_origin(info.annotation) is tuple else ()
    return as_list(value) if inner and isinstance(inner[0], type) and issubclass(inner[0], Part) else value


def _inside(annotation: object, mark: type) -> bool:
    return any(isinstance(arg, mark) or _inside(arg, mark) for arg in get_args(annotation))


def _default(info: FieldInfo) -> object:
    return None if info.is_required() else info.get_default(call_default_factory=True, validated_data={})


def _same(value: object, default: object) -> bool:
    """Return whether a parameter has its default; a frame is never compared, since that would compare its cells."""
    plain = (str, int, float, tuple, list, dict, frozenset, Part)
    return value is default or (isinstance(value, plain) and isinstance(default, plain) and bool(value == default))
