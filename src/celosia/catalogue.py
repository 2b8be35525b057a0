"""The catalogue of parts: what a part is, the kinds there are, and how one is found and built.

A part is one frozen pydantic model; its fields are its parameters. Defining the class registers it under its kind and
name (``KAnonymity`` → ``k-anonymity``). The policy keyword, the command line, the JSON schema, the reference page
and the conformance tests all derive from that definition. A third-party package adds parts by an entry point in the
group ``celosia.parts`` that names a module to import.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import inspect
import math
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import core_schema

from celosia import grammar
from celosia.errors import ParameterError, UnknownName, suggestion
from celosia.refusals import explain, shown

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.search.classes import ClassCounts
    from celosia.streams import Stream
    from celosia.table import Outcome, Table

_REGISTRY: dict[str, dict[str, type[Part]]] = {}
_KINDS: dict[str, type[Part]] = {}
P = TypeVar("P", bound="Part")


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
            _KINDS[cls.kind] = cls
            _REGISTRY.setdefault(cls.kind, {})
        elif not cls.__name__.startswith("_"):
            _register(cls)

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


class Method(Part):
    """Changes a table: table → outcome."""

    kind: ClassVar[str] = "method"
    home: ClassVar[str] = "celosia.methods"
    rows: ClassVar[Literal["same", "subset", "new"]] = "same"
    """What becomes of the rows: all kept in place, some left out, or others made."""
    in_memory: ClassVar[bool] = True
    """Whether the method needs all rows in memory; False when it runs on any engine row by row."""
    formal: ClassVar[bool] = False
    """Whether the output carries a formal guarantee (differential privacy) that exact evidence would void."""
    explored: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """Values of its parameters that an exploration tries by itself; empty when it is tried only where it is listed."""
    suits: ClassVar[tuple[str, ...]] = ()
    """Kinds of columns that an exploration gives it; ``"hierarchy"``: every quasi-identifier needs a hierarchy."""

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Apply the method; random choices come from ``stream`` only."""
        raise NotImplementedError


class Model(Part):
    """A requirement on a table that holds or not, with the measured value.

    Most models judge class by class: they implement :meth:`scores`, one number per class, and the rest follows. A model
    of scope ``"file"`` implements :meth:`score` instead. Both see the classes as arrays of counts, so the same code
    serves a measurement and a search (:class:`celosia.search.classes.Requirement`).
    """

    kind: ClassVar[str] = "model"
    home: ClassVar[str] = "celosia.models"
    symbol: ClassVar[str] = ""
    """The letter of the field for the measured value: k, l, t …"""
    direction: ClassVar[Literal["at least", "at most"]] = "at least"
    scope: ClassVar[Literal["class", "file"]] = "class"
    """Whether classes are judged one by one or all together."""
    monotone_generalisation: ClassVar[bool] = False
    """When every class holds, every class of a coarser table holds too."""
    compares: ClassVar[bool] = False
    """It compares with the distribution of the input table, so a release alone does not tell its value."""
    monotone_suppression: ClassVar[bool] = False
    """A class that holds keeps holding when any other records join it; implies the first."""

    def bound(self) -> float:
        """The number that the measured value is compared with."""
        raise NotImplementedError

    def met(self, value: float) -> bool:
        """Whether a measured value meets the bound."""
        return value >= self.bound() if self.direction == "at least" else value <= self.bound()

    def sensitive(self) -> tuple[str | None, ...]:
        """The sensitive columns that must be counted; ``None`` stands for those that the schema declares."""
        return ()

    def scores(self, classes: ClassCounts) -> NDArray[np.float64]:
        """The measured value of each class."""
        raise NotImplementedError

    def score(self, classes: ClassCounts) -> float:
        """The measured value of the file: the worst class. Without any class the requirement holds vacuously."""
        if len(classes) == 0:
            return math.inf if self.direction == "at least" else 0.0
        worst = np.min if self.direction == "at least" else np.max
        return float(worst(self.scores(classes)))

    def value(self, table: Table) -> float:
        """The measured value."""
        return self.score(table.class_counts(self.sensitive()))

    def holds(self, table: Table) -> bool:
        """Whether the requirement holds for the table."""
        return self.met(self.value(table))

    def classes(self, table: Table) -> pl.DataFrame:
        """One row per equivalence class: the quasi-identifiers, the size and the value of each."""
        import polars as pl

        keys, counts = table.keyed_counts(self.sensitive())
        scores = self.scores(counts) if self.scope == "class" else np.full(len(counts), self.score(counts))
        return keys.with_columns(pl.Series("size", counts.size), pl.Series(self.symbol or "value", scores))

    def judge(self, classes: ClassCounts) -> NDArray[np.bool_]:
        """Whether each class holds."""
        scores = self.scores(classes)
        return scores >= self.bound() if self.direction == "at least" else scores <= self.bound()

    def accepts(self, classes: ClassCounts) -> bool:
        """Whether the file that consists of these classes holds."""
        return self.met(self.score(classes))

    def least_size(self, classes: ClassCounts) -> int:  # noqa: ARG002
        """A size that every class that holds must have; 1 when nothing is known."""
        return 1

    def size_only(self) -> bool:
        """Whether :meth:`judge` is exactly ``size >= least_size``."""
        return False

    def wish(self) -> str:
        """The requirement in words: ``k at least 5``."""
        return f"{self.symbol or self.name} {self.direction} {self.bound():g}"


class Risk(Part):
    """A number per record and per file; an attack compares the original with the protected table."""

    kind: ClassVar[str] = "risk"
    home: ClassVar[str] = "celosia.risk"
    attack: ClassVar[bool] = False
    """Whether it takes the original and the protected table instead of one table."""

    def value(self, *args: Any, **kwargs: Any) -> float:
        """One number for the file."""
        raise NotImplementedError

    def records(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """One row per record in table order."""
        raise NotImplementedError

    def evidence(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The value with what belongs to it: interval, baseline, control, parts."""
        return {"value": self.value(*args, **kwargs)}


class Loss(Part):
    """What was lost: (original, protected) → number."""

    kind: ClassVar[str] = "loss"
    home: ClassVar[str] = "celosia.loss"
    minimum: ClassVar[float] = 0.0
    """The value for an unchanged table. A loss whose minimum depends on the table overrides :meth:`least`."""
    bounded: ClassVar[bool] = True
    """Whether it is a share in [0, 1]; otherwise it keeps its own unit."""

    def value(self, original: Table, protected: Table) -> float:
        """The loss of the protected table against the original."""
        raise NotImplementedError

    def least(self, original: Table) -> float:  # noqa: ARG002
        """The value that an unchanged copy of this table has."""
        return self.minimum

    def parts(self, original: Table, protected: Table) -> dict[str, Any]:  # noqa: ARG002
        """The components of the loss, by column or by name."""
        return {}


class Mechanism(Part):
    """A query answer with noise and a stated privacy cost."""

    kind: ClassVar[str] = "mechanism"
    home: ClassVar[str] = "celosia.mechanisms"

    def answer(self, *args: Any, **kwargs: Any) -> Any:
        """The noisy answer."""
        raise NotImplementedError


def kinds() -> dict[str, type[Part]]:
    """The kinds of part by name."""
    return {name: kind for name, kind in _KINDS.items() if name}


def parts(kind: str) -> dict[str, type[Part]]:
    """All parts of a kind by name, the third-party ones too.

    >>> "k-anonymity" in parts("model")
    True
    """
    _load_kind(kind)
    return dict(sorted(_REGISTRY[kind].items()))


def find(kind: str, name: str) -> type[Part]:
    """The part of that kind and name.

    >>> find("model", "l-divercity")
    Traceback (most recent call last):
    celosia.errors.UnknownName: no model named 'l-divercity'. Did you mean 'l-diversity'...
    """
    if name not in _registry(kind):
        _import_if_there(f"{_KINDS[kind].home}.{name.replace('-', '_')}")
    if name not in _REGISTRY[kind]:
        _load_kind(kind)
    if name not in _REGISTRY[kind]:
        raise UnknownName.of(kind, name, _REGISTRY[kind], _elsewhere(kind, name))
    return _REGISTRY[kind][name]


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


def package(kind: str) -> tuple[Callable[[str], type[Part]], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` for the package of a kind, so that ``celosia.models.KAnonymity`` works lazily."""

    def classes() -> dict[str, type[Part]]:
        return {cls.__name__: cls for cls in parts(kind).values()}

    def get(name: str) -> type[Part]:
        if name.startswith("_"):
            raise AttributeError(name)
        found = classes()
        if name not in found:
            raise AttributeError(f"no {kind} named {name!r}.{suggestion(name, found)}")
        return found[name]

    return get, lambda: sorted(classes())


class ColumnMark:
    """Marks a field that names columns of the table."""


def _split(value: Any) -> Any:
    """Read ``"age, zip"`` and a single name as a list of names."""
    if isinstance(value, str):
        if value.strip().startswith("["):
            return tuple(grammar.parse(value))
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return value


Column = Annotated[str, ColumnMark()]
"""The name of one column; checked against the schema before anything runs."""
Columns = Annotated[tuple[str, ...], BeforeValidator(_split), ColumnMark()]
"""The names of several columns."""


def named_columns(part: Part) -> Iterator[tuple[str, str]]:
    """Every (field, column) that a part names, nested parts included."""
    for field, info in type(part).model_fields.items():
        value = getattr(part, field)
        if any(isinstance(mark, ColumnMark) for mark in info.metadata) or _is_marked(info.annotation):
            names = [value] if isinstance(value, str) else list(value or ())
            yield from ((field, name) for name in names)
        for nested in value if isinstance(value, tuple | list) else (value,):
            if isinstance(nested, Part):
                yield from named_columns(nested)


def _is_marked(annotation: Any) -> bool:
    return any(isinstance(arg, ColumnMark) or _is_marked(arg) for arg in get_args(annotation))


def _register(cls: type[Part]) -> None:
    cls.name = cls.__dict__.get("name") or re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()
    known = _REGISTRY[cls.kind].get(cls.name)
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ParameterError(f"two {cls.kind} parts are named {cls.name!r}: {known.__module__} and {cls.__module__}.")
    _REGISTRY[cls.kind][cls.name] = cls


def _registry(kind: str) -> dict[str, type[Part]]:
    if kind not in _REGISTRY:
        _import_if_there("celosia.hierarchy")  # the one kind that is not defined in this module
    if kind not in _REGISTRY:
        raise UnknownName.of("kind of part", kind, _REGISTRY)
    return _REGISTRY[kind]


@functools.cache
def _load_kind(kind: str) -> None:
    _registry(kind)
    package = importlib.import_module(_KINDS[kind].home)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
    _load_entry_points()


@functools.cache
def _load_entry_points() -> None:
    for entry in importlib.metadata.entry_points(group="celosia.parts"):
        entry.load()


def _import_if_there(module: str) -> None:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise


def _elsewhere(kind: str, name: str) -> str:
    """Say so when the name belongs to a part of another kind."""
    for other in kinds():
        if other != kind and name in parts(other):
            return f"({name!r} is a {other}.)"
    return ""


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
