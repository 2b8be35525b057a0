"""Candidates of an intruder with some knowledge about a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.data.schema import Missing
from celosia.errors import UnknownName
from celosia.parts import Evidence, NarrowsValues, Private, Risk
from celosia.table.columns import encoded_column

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.hierarchy import Hierarchy
    from celosia.table import Table


class CandidateEvidence(Evidence):
    """Candidates, identity disclosure, and what is left to guess of each column (no values)."""

    candidates: int
    identity: bool
    remaining: dict[str, int]
    disclosed: list[str]
    narrowed: dict[str, float]
    facts: dict[str, int]


class AttackerKnows(NarrowsValues, Risk):
    r"""The chance to pick the right record given what an intruder knows about a person who is in the table.

    .. math:: P = 1 / |S(K)|, \qquad S(K) = \{\text{records compatible with the knowledge } K\}

    ``known`` gives a value per column, raw (``13053``) or generalised (``970**``, ``[30-40)``, ``{a, b}``); it is
    matched against generalised cells, through the column's hierarchy where there is one. ``excluded`` gives values
    that a column does not have (negative facts); where such a column stays in doubt, the candidates with an
    excluded value drop out. One candidate is identity disclosure; one remaining value of a column is attribute
    disclosure, and so is an interval of a numeric column that is narrower than its range (``narrowed``: the share
    that is left). The interval itself consists of values: it is in `intervals` and in the internal edition of a report,
    not in the evidence. With a person column S(K) are the persons with a compatible record. A missing value is
    compatible with nothing that is known, unless the schema reads it as a wildcard. A suppressed record is compatible
    with everything and is left out. The probability trusts that the person is in the table.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"zip": ["130**"] * 4, "age": ["<30", "<30", "30-40", "30-40"],
    ...                      "disease": ["heart", "flu", "cancer", "cancer"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["zip", "age"], sensitive=["disease"]))
    >>> AttackerKnows(known={"zip": "13053", "age": 35}).evidence(table)["disclosed"]
    ['disease']
    >>> umeko = AttackerKnows(known={"zip": "13068", "age": 24}, excluded={"disease": ["heart"]})
    >>> umeko.remaining_values(table)["disease"]
    {'flu': 1}
    """

    known: Annotated[dict[str, Any], Private()] = Field(
        default_factory=dict, description="column → value that the intruder knows"
    )
    excluded: Annotated[dict[str, list[Any]], Private()] = Field(
        default_factory=dict, description="column → values that the intruder can rule out"
    )
    examples: ClassVar = ({"known": {"q": "a"}}, {"known": {"q": "b", "r": 1}, "excluded": {"s": ["flu"]}})

    @model_validator(mode="after")
    def _require_knowledge(self) -> AttackerKnows:
        if not self.known and not self.excluded:
            raise ValueError("attacker-knows: give at least one column under known or excluded.")
        return self

    def value(self, table: Table) -> float:
        """One over the number of candidates; 0 when there is none."""
        count = self._count_candidates(table)
        return 1.0 / count if count else 0.0

    def evidence(self, table: Table) -> CandidateEvidence:
        """Return the number of candidates, identity disclosure, and the columns with one remaining value."""
        remaining = self.remaining_values(table)
        count = self._count_candidates(table)
        return {
            "value": 1.0 / count if count else 0.0,
            "candidates": count,
            "identity": count == 1,
            "remaining": {name: len(values) for name, values in remaining.items()},
            "disclosed": [name for name, values in remaining.items() if len(values) == 1],
            "narrowed": self._range_shares(table),
            "facts": {name: max(0, len(values) - 1) for name, values in remaining.items()},
        }

    def records(self, table: Table) -> pl.DataFrame:
        """Return whether each record is a candidate, and its chance to be the person."""
        import polars as pl

        mask = self.candidates(table)
        return pl.DataFrame({"candidate": mask, "risk": np.where(mask, self.value(table), 0.0)})

    def remaining_values(self, table: Table) -> dict[str, dict[str, int]]:
        """Return the values of the candidates in each unknown column, with the number of candidates that have them.

        The result contains values of the data: only for the data owner.
        """
        import polars as pl

        from celosia.hierarchy import texts
        from celosia.views.persons import person_codes

        mask = self.candidates(table)
        person = person_codes(table)[mask]
        out: dict[str, dict[str, int]] = {}
        for name in table.names:
            if name in self.known or name in table.schema.identifiers or name == table.schema.person:
                continue
            cells = pl.DataFrame({"value": table.column(name).filter(pl.Series(mask)), "person": person})
            counted = cells.group_by("value", maintain_order=True).agg(pl.col("person").n_unique())
            counted = counted.sort("person", descending=True, maintain_order=True)
            out[name] = {str(v): int(c) for v, c in zip(texts(counted["value"]), counted["person"], strict=True)}
        return out

    def intervals(self, table: Table) -> dict[str, tuple[float, float]]:
        """Return the interval in which each unknown numeric column must lie.

        The result contains values of the data: only for the data owner.
        """
        mask = self.candidates(table)
        ranges = {}
        for name in self._numeric(table):
            values = table.numeric([name])[mask, 0]
            values = values[~np.isnan(values)]
            if len(values):
                ranges[name] = (float(values.min()), float(values.max()))
        return ranges

    def _numeric(self, table: Table) -> list[str]:
        skipped = {*self.known, *table.schema.identifiers, table.schema.person}
        return [n for n in table.names if n not in skipped and table.column(n).dtype.is_numeric()]

    def _range_shares(self, table: Table) -> dict[str, float]:
        """Return for each unknown numeric column the share of its range in which the person must lie."""
        shares = {}
        for name, (low, high) in self.intervals(table).items():
            every = table.numeric([name])[:, 0]
            whole = float(np.nanmax(every) - np.nanmin(every))
            shares[name] = (high - low) / whole if whole else 1.0
        return shares

    def _count_candidates(self, table: Table) -> int:
        """Return the number of candidates: records, or persons where they are declared."""
        from celosia.views.persons import person_codes

        return len(np.unique(person_codes(table)[self.candidates(table)]))

    def candidates(self, table: Table) -> NDArray[np.bool_]:
        """Return the mask of the records that the person could be."""
        from celosia.hierarchy import plain

        mask = ~table.counts.suppressed_mask if table.schema.quasi else np.ones(len(table), dtype=np.bool_)
        for name, fact in self.known.items():
            mask &= self._compatible(table, name, [str(plain(fact))])
        for name, facts in self.excluded.items():
            mask &= ~self._certain(table, name, {str(plain(fact)) for fact in facts})
        return mask

    def _compatible(self, table: Table, name: str, facts: list[str]) -> NDArray[np.bool_]:
        """Return the mask of the records with a cell that is compatible with one of the facts."""
        from celosia.hierarchy.match import compatible

        hierarchy = self._hierarchy(table, name)
        wild = name in table.schema.quasi and table.schema[name].missing == Missing.WILDCARD

        def fits(cell: str | None) -> bool:
            return wild if cell is None else any(compatible(fact, cell, hierarchy) for fact in facts)

        return _by_cell(table, name, fits)

    def _certain(self, table: Table, name: str, facts: set[str]) -> NDArray[np.bool_]:
        """Return the mask of the records with a cell that stands for ruled-out values only."""
        from celosia.hierarchy.values import Exact, OneOf, parse

        self._hierarchy(table, name)

        def ruled_out(cell: str | None) -> bool:
            if cell is None:
                return False
            if cell in facts:
                return True
            parsed = parse(cell)
            if isinstance(parsed, OneOf):
                return all(member in facts for member in parsed.members)
            return isinstance(parsed, Exact) and any(Exact(fact).covers(cell) for fact in facts)

        return _by_cell(table, name, ruled_out)

    @staticmethod
    def _hierarchy(table: Table, name: str) -> Hierarchy | None:
        if name not in table.names:
            raise UnknownName.of("column", name, table.names)
        return table.schema.hierarchy(name)


def _by_cell(table: Table, name: str, test: Callable[[str | None], bool]) -> NDArray[np.bool_]:
    """Return the mask of the records whose cell passes a test, which is called once per distinct cell."""
    from celosia.hierarchy import texts

    column = encoded_column(table, name)
    verdict = np.array([test(cell) for cell in texts(column.values)], dtype=np.bool_)
    return np.asarray(verdict[column.codes], dtype=np.bool_)
