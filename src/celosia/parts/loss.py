"""Base class of losses: information lost between an original and a protected table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from celosia.parts.part import CountsRows, Memory, Part, PersonUnit

if TYPE_CHECKING:
    from celosia.search.lattice.objective import LevelMaps, Objective
    from celosia.table import Table


class Loss(Part, home="celosia.loss"):
    """Information loss: (original, protected) → number."""

    kind: ClassVar[str] = "loss"
    persons: ClassVar[PersonUnit] = CountsRows("it is about the file: every row counts once, whoever owns it")
    memory: ClassVar[Memory] = "columns"
    bounded: ClassVar[bool] = True
    """Whether it is a share in [0, 1]; otherwise it keeps its own unit."""

    @abstractmethod
    def value(self, original: Table, protected: Table) -> float:
        """Return the loss of the protected table against the original."""

    def identity_value(self, original: Table) -> float:  # noqa: ARG002
        """Return the value of an unchanged copy of the table."""
        return 0.0

    def parts(self, original: Table, protected: Table) -> Mapping[str, object]:  # noqa: ARG002
        """Return the components of the loss, by column or by name."""
        return {}


class SearchObjective:
    """Mixin of a loss that a search over levels can minimise."""

    @abstractmethod
    def objective(self, domain: LevelMaps) -> Objective | None:
        """Return the loss in a form that a search can bound; None where its parameters exclude that."""

    def counted_columns(self) -> tuple[str | None, ...]:
        """Return the columns that the objective counts in each class; ``None`` stands for the sensitive ones."""
        return ()


class ChangedShares:
    """Mixin of a loss whose parts are the share of changed values of each column."""
