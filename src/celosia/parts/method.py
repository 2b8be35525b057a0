"""Base class of methods, which change a table, and the mixins for what only some of them do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from celosia.errors import DataError, ParameterError
from celosia.parts.columns import SuitedMark
from celosia.parts.part import Memory, Part
from celosia.parts.spec import marked_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.parts.model import Model
    from celosia.streams import Stream
    from celosia.table import Outcome, Table


Rows = Literal["same", "subset", "new"]


class Explored:
    """Marks a field with the values that an exploration tries by itself."""

    def __init__(self, *values: object) -> None:
        self.values = values


class Overwritten:
    """Marks a field that names columns whose cells the method overwrites; ``column`` and ``columns`` need no mark."""


class OnlyRead:
    """Marks ``column`` or ``columns`` where their cells are not overwritten."""


class Method(Part, home="celosia.methods"):
    """Changes a table: table → outcome.

    A fact that depends on the parameters is a property in the class that declares it.
    """

    kind: ClassVar[str] = "method"
    memory: ClassVar[Memory] = "columns"
    rows: ClassVar[Rows] = "same"
    """Rows of the result: the same in the same places, a subset, or new ones."""
    suits: ClassVar[tuple[str, ...]] = ()
    """Kinds of columns that it applies to where its parameters name none; ``"hierarchy"``: an exploration tries it only
    where every quasi-identifier has one."""
    redacts: ClassVar[bool] = False
    """Whether it makes free text fit for release even where nothing in a text has to be replaced."""
    not_replayable_because: ClassVar[str] = "it looks at all records at once"
    """Reason why the method cannot be replayed on new records, as the end of a sentence."""

    def __init__(self, /, **data: object) -> None:
        """``k`` is short for the requirement k-anonymity where a method takes requirements and has no ``k`` itself."""
        super().__init__(**_with_requirement(type(self), data))

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """Return the columns whose cells it may overwrite; the cells of all other columns stay the same.

        A method that overwrites columns that no parameter names (the quasi-identifiers, all columns) adds them here.
        """
        resolved = self.resolve_columns(schema)
        named = (getattr(resolved, field) or () for field in overwritten_fields(type(self)))
        return tuple(name for value in named for name in ((value,) if isinstance(value, str) else value))

    def resolve_columns(self, schema: Schema, among: Sequence[str] | None = None) -> Self:
        """Return the method with the columns of a schema where it names none, nested methods included.

        The first field of ``SuitedColumns`` gets the quasi-identifiers, or the columns of ``among``, whose kind suits
        the method; each further one gets those of all columns that no field before it has.
        """
        filled: dict[str, Any] = {}
        used = set(schema.identifiers)
        for name in type(self).model_fields:
            nested = getattr(self, name)
            if isinstance(nested, Method) and (inner := nested.resolve_columns(schema, among)) is not nested:
                filled[name] = inner
        for place, name in enumerate(marked_fields(self, SuitedMark)):
            if not getattr(self, name):
                pool = schema.names if place else schema.quasi if among is None else among
                filled[name] = [n for n in pool if n in schema and str(schema[n].kind) in self.suits and n not in used]
                if not filled[name]:
                    raise ParameterError(
                        f"{self.name}: no quasi-identifier suits it ({' or '.join(self.suits)}): name its {name}, or "
                        "declare such columns under `quasi`."
                    )
            used |= set(filled.get(name, getattr(self, name, None) or ()))
        if not filled:
            return self
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | filled)

    @abstractmethod
    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Apply the method; random choices come from ``stream`` only."""

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:  # noqa: ARG002
        """Apply to new records what was done to those of a release; ``recorded`` is the content of ``Outcome.private``.

        Return the table, with all rows in place, and a mask of the records that do not fit into it.
        """
        raise refuse_replay(self)


class RecordByRecord:
    """Mixin of a method that treats each record by itself, given statistics of the data of the release."""

    @abstractmethod
    def freeze(self, recorded: Mapping[str, Any]) -> Method:
        """Return a copy that uses the recorded statistics instead of the data; refused where there is none."""

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:
        """Apply the frozen method."""
        return self.freeze(recorded).apply(table, stream).table, np.zeros(len(table), dtype=np.bool_)


class RowWise(RecordByRecord):
    """Mixin of a method whose output record depends on its input record and the parameters alone.

    No record is refused. Only such a method may come before one with a formal guarantee.
    """

    def is_row_wise(self) -> bool:
        """Return whether that holds for its parameters."""
        return True


class Requires:
    """Mixin of a method whose result meets models; new records under its transformation are judged by them."""

    @abstractmethod
    def requirements(self) -> tuple[Model, ...]:
        """Return the models that the result meets."""

    def target_sizes(self, table: Table) -> dict[str, NDArray[np.int64]]:  # noqa: ARG002
        """Return the requested class size of every record, by label; empty when none is requested."""
        return {}


class Formal:
    """Mixin of a method with a formal guarantee (differential privacy), which exact evidence would void."""

    covers_table: ClassVar[bool] = True
    """Whether the guarantee covers all that is released, not only the columns that the method overwrites."""

    @abstractmethod
    def privacy_loss(self) -> float | None:
        """Return the epsilon that the evidence states after a run; None where only the data determine it."""


class PublishesEvidence:
    """Mixin of a method with evidence that follows from its parameters or the released file, and may be published.

    Other evidence is for the owner, or covered by a formal guarantee.
    """

    public_evidence: ClassVar[frozenset[str]]
    """Names of that evidence."""


class Iterative:
    """Mixin of a method that iterates."""

    @abstractmethod
    def watch(self, table: Table, stream: Stream) -> Iterator[object]:
        """Yield the state after each iteration; the last is the result."""


def _with_requirement(method: type[Method], data: dict[str, object]) -> dict[str, object]:
    """Return the parameters with ``k`` as a requirement, where the method takes it in this form."""
    fields = method.model_fields
    if "k" not in data or "k" in fields or "require" not in fields:
        return data
    given = data.get("require", ())
    listed = list(given) if isinstance(given, list | tuple) else [given]
    rest = {name: value for name, value in data.items() if name != "k"}
    return {**rest, "require": [*listed, {"use": "k-anonymity", "k": data["k"]}]}


def refuse_replay(method: Method, reason: str = "") -> DataError:
    """Return the error for a method that cannot be replayed on new records."""
    return DataError(
        f"{method.name}: new records cannot have what it did to those of the release, because "
        f"{reason or method.not_replayable_because}."
    )


def requirements(method: Method) -> tuple[Model, ...]:
    """Return the models that the result of a method meets."""
    return method.requirements() if isinstance(method, Requires) else ()


def target_sizes(method: Method, table: Table) -> dict[str, NDArray[np.int64]]:
    """Return the requested class size of every record, by label; empty when a method requests none."""
    return method.target_sizes(table) if isinstance(method, Requires) else {}


def explored_values(method: type[Method]) -> dict[str, tuple[Any, ...]]:
    """Return the values that an exploration tries by itself, by parameter; empty for a method that must be listed."""
    return {
        name: mark.values
        for name, info in method.model_fields.items()
        for mark in info.metadata
        if isinstance(mark, Explored)
    }


def overwritten_fields(method: type[Method]) -> tuple[str, ...]:
    """Return the fields that name columns whose cells a method overwrites."""
    if marked_fields(method, Overwritten):
        return marked_fields(method, Overwritten)
    only_read = marked_fields(method, OnlyRead)
    return tuple(name for name in ("column", "columns") if name in method.model_fields and name not in only_read)
