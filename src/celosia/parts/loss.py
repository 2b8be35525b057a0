"""Losses: what was lost between two tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from celosia.parts.part import CountsRows, Memory, Part, PersonUnit

if TYPE_CHECKING:
    from celosia.search.lattice.objective import Domain, Objective
    from celosia.table import Table


class Loss(Part, home="celosia.loss"):
    """What was lost: (original, protected) → number."""

    kind: ClassVar[str] = "loss"
    persons: ClassVar[PersonUnit] = CountsRows("it is about the file: every row counts once, whoever owns it")
    memory: ClassVar[Memory] = "columns"
    minimum: ClassVar[float] = 0.0
    """The value for an unchanged table. A loss whose minimum depends on the table overrides :meth:`least`."""
    bounded: ClassVar[bool] = True
    """Whether it is a share in [0, 1]; otherwise it keeps its own unit."""
    changed_by_column: ClassVar[bool] = False
    """Whether :meth:`parts` gives the share of changed values of each column."""

    def value(self, original: Table, protected: Table) -> float:
        """The loss of the protected table against the original."""
        raise NotImplementedError

    def least(self, original: Table) -> float:  # noqa: ARG002
        """The value that an unchanged copy of this table has."""
        return self.minimum

    def parts(self, original: Table, protected: Table) -> dict[str, Any]:  # noqa: ARG002
        """The components of the loss, by column or by name."""
        return {}

    def objective(self, domain: Domain) -> Objective | None:  # noqa: ARG002
        """The loss in the form that a search over levels can bound; None when it cannot be the objective of one."""
        return None

    def counts(self) -> tuple[str | None, ...]:
        """The columns that the objective counts in each class; ``None`` stands for the sensitive ones."""
        return ()

    @classmethod
    def searchable(cls) -> bool:
        """Whether it can be the objective of a search."""
        return cls.objective is not Loss.objective
