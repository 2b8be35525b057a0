"""Methods: what a protector can do to a table."""

from __future__ import annotations

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


class Method(Part, home="celosia.methods"):
    """Changes a table: table → outcome.

    A fact that depends on the parameters is a property in the class that declares it.
    """

    kind: ClassVar[str] = "method"
    rows: ClassVar[Rows] = "same"
    """What becomes of the rows: all kept in place, some left out, or others made."""
    memory: ClassVar[Memory] = "columns"
    formal: ClassVar[bool] = False
    """Whether the output carries a formal guarantee (differential privacy) that exact evidence would void; then
    :meth:`privacy_loss` tells what it costs."""
    formal_table: ClassVar[bool] = False
    """Whether the formal guarantee covers all that is released, not only the columns that the method overwrites."""
    public_evidence: ClassVar[frozenset[str]] = frozenset()
    """Names of the evidence that may be published: what the parameters or the released file tell anyway. The rest is
    for the owner; all evidence of a formal method is covered by its guarantee."""
    row_wise: ClassVar[bool] = False
    """Whether every output record follows from its own input record and the parameters alone, and no record is refused:
    only such a method may come before one with a formal guarantee."""
    explored: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """Values of its parameters that an exploration tries by itself; empty when it is tried only where it is listed."""
    suits: ClassVar[tuple[str, ...]] = ()
    """Kinds of columns that it is given where it names none; ``"hierarchy"``: an exploration tries it only where every
    quasi-identifier has one."""
    fills: ClassVar[tuple[str, ...]] = ("columns",)
    """Fields that such columns fill (``SuitedColumns``): the first with quasi-identifiers, each other with those that
    none before it has."""
    changes: ClassVar[tuple[str, ...]] = ("column", "columns")
    """Fields that name the columns whose cells it overwrites; columns that other fields name are only looked at."""
    refusal: ClassVar[str] = "it looks at all records at once"
    """Why new records cannot have what was done to others: the end of the sentence by which it is refused."""

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """The columns whose cells it may overwrite: no other column of the input comes out with other cells.

        A method that overwrites columns that nobody named (the quasi-identifiers, all columns) adds them here.
        """
        fields = (name for name in self.changes if name in type(self).model_fields)
        fitted = self.fitted(schema)
        named = (getattr(fitted, field) or () for field in fields)
        return tuple(name for value in named for name in ((value,) if isinstance(value, str) else value))

    def fitted(self, schema: Schema, among: Sequence[str] | None = None) -> Self:
        """The method with the columns of a schema where it names none, those of a nested method too.

        They are the quasi-identifiers, or the columns of ``among``, whose kind suits it.
        """
        filled: dict[str, Any] = {}
        used = set(schema.identifiers)
        suited = marked_fields(self, SuitedMark)
        for name in type(self).model_fields:
            nested = getattr(self, name)
            if isinstance(nested, Method) and (inner := nested.fitted(schema, among)) is not nested:
                filled[name] = inner
        for place, name in enumerate(self.fills):
            if name in suited and not getattr(self, name):
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

    @classmethod
    def takes_requirements(cls) -> bool:
        """Whether it has a list of requirements; those of the policy are taken where it names none."""
        return "require" in cls.model_fields

    def privacy_loss(self) -> float | None:
        """The epsilon of its formal guarantee, as its evidence states it after a run.

        None without a guarantee, or where only the data tell.
        """
        return None

    def requirements(self) -> tuple[Model, ...]:
        """What it promises of its result, and what new records under its transformation are judged by."""
        return ()

    def wishes(self, table: Table) -> dict[str, NDArray[np.int64]]:  # noqa: ARG002
        """The class size that each record asks for, by the words for it; empty when none is asked for."""
        return {}

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Apply the method; random choices come from ``stream`` only."""
        raise NotImplementedError

    def watch(self, table: Table, stream: Stream) -> Iterator[Any]:  # noqa: ARG002
        """What a method that iterates shows after each iteration; any other is refused."""
        raise ParameterError(f"{self.name} does not iterate: there is nothing to watch.")

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:
        """Do to new records what was done to those of a release; ``recorded`` is what ``Outcome.private`` held.

        Gives the table, with all rows in place, and which records have no place in it. A method that works record by
        record is applied as :meth:`settled` gives it; one that can follow what it found overrides this; any other is
        refused with the reason that it states.
        """
        return self.settled(recorded).apply(table, stream).table, np.zeros(len(table), dtype=np.bool_)

    def settled(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """The method that works record by record, with the numbers that it took from the data of the release."""
        raise self.refused(self.refusal)

    def searched(self, recorded: Mapping[str, Any]) -> Mapping[str, Any] | None:  # noqa: ARG002
        """The levels that a search looked at, for their drawing; None when it made no such search."""
        return None

    def refused(self, reason: str) -> DataError:
        """The refusal of new records."""
        return DataError(f"{self.name}: new records cannot have what it did to those of the release, because {reason}.")
