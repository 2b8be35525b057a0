"""What a part is: checked parameters, and the ways to write it down and to build it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import core_schema

from celosia import grammar
from celosia.catalogue.registry import add_kind, add_part, find
from celosia.errors import ParameterError
from celosia.refusals import explain, shown


class Part(BaseModel):
    """A named thing with checked parameters. Subclass one of the kinds, not this class."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, validate_default=True)

    kind: ClassVar[str] = ""
    home: ClassVar[str] = ""
    name: ClassVar[str] = ""
    secret: ClassVar[tuple[str, ...]] = ()
    """Fields that hold cell values or keys: never published."""

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**{name: _listed(type(self), name, value) for name, value in data.items()})
        except ValidationError as error:
            raise ParameterError(explain(type(self), error)) from None

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if "kind" in cls.__dict__:
            add_kind(cls)
        elif not cls.__name__.startswith("_"):
            add_part(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        if "kind" not in cls.__dict__ or not cls.kind:
            return handler(source)
        # A field of type Model, Loss, … holds a nested part: an instance, a mapping with `use`, or the text grammar.
        return core_schema.no_info_plain_validator_function(
            lambda value: build(cls.kind, value),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda part: part.spec()),
            json_schema_input_schema=core_schema.str_schema(),
        )

    @classmethod
    def summary(cls) -> str:
        """First sentence of the docstring."""
        return inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")

    def spec(self) -> dict[str, Any]:
        """The part as plain data: ``{"use": name, …}`` with the parameters that differ from their defaults."""
        fields = type(self).model_fields.items()
        changed = {name for name, info in fields if not _same(getattr(self, name), _default(info))}
        return {"use": self.name, **self.model_dump(mode="json", include=changed)}

    def public_spec(self) -> dict[str, Any]:
        """The part as it may be published: parameters that hold cell values or keys are left out."""
        return {name: value for name, value in self.spec().items() if name not in self.secret}

    def __str__(self) -> str:
        """Write the part in the text grammar: ``k-anonymity(k=5)``."""
        return grammar.show(self.spec())


def build(kind: str, value: Any) -> Any:
    """Make a part from an instance, a mapping with ``use``, or the text grammar.

    >>> build("model", "k-anonymity(k=5)")
    KAnonymity(k=5)
    >>> build("model", {"use": "k-anonymity", "k": 5})
    KAnonymity(k=5)
    """
    if isinstance(value, Part):
        if value.kind != kind:
            raise ParameterError(f"{value.name} is a {value.kind}, but a {kind} is needed here.")
        return value
    if isinstance(value, str):
        value = grammar.part(value)
    if not isinstance(value, Mapping) or not isinstance(value.get("use"), str):
        raise ParameterError(f'a {kind} is written as {{use = "name", …}} or as name(…), got {shown(value)}.')
    cls = find(kind, value["use"])
    return cls(**{str(k).replace("-", "_"): v for k, v in value.items() if k != "use"})


def _listed(cls: type[Part], name: str, value: Any) -> Any:
    """One part where several are wanted is a list of one: ``require="k-anonymity(k=5)"``."""
    info = cls.model_fields.get(name)
    inner = get_args(info.annotation)[:1] if info is not None and get_origin(info.annotation) is tuple else ()
    several = inner and isinstance(inner[0], type) and issubclass(inner[0], Part)
    if not several or not isinstance(value, str | Mapping | Part):
        return value
    return grammar.parse(value) if isinstance(value, str) and value.lstrip().startswith("[") else [value]


def _default(info: FieldInfo) -> Any:
    return None if info.is_required() else info.get_default(call_default_factory=True, validated_data={})


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter has its default; a frame is never compared, since that would compare its cells."""
    plain = (str, int, float, tuple, list, dict, frozenset, Part)
    return value is default or (isinstance(value, plain) and isinstance(default, plain) and bool(value == default))
