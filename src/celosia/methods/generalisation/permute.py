"""Permutation of sensitive values inside groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.parts import Columns, Method, PersonUnit
from celosia.table import Outcome
from celosia.table.columns import declared_persons
from celosia.views.boxes.separation import separate

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table


class Permute(Method):
    r"""Shuffle the sensitive values inside groups; the quasi-identifiers stay as they are.

    .. math:: \tilde s_i = s_{\pi_g(i)}, \qquad \pi_g \text{ a random permutation of group } g

    With ``l`` groups are formed as by anatomise: no value has more than 1/l of the known values of its group. Without
    it the groups are the equivalence classes of the table as it is, for use after a generalisation. Each group keeps
    its multiset of values, so counts by group are exact and counts across groups have the expectation
    :math:`\sum_g n_g(p)\, c_g(s) / |g|` of an anatomy. Several columns are shuffled with one permutation,
    which keeps their joint distribution; ``together = false`` shuffles each on its own.

    A class of one record is left as it is, and in a class of one person her values stay among her records; the
    evidence counts both as ``alone``. Fails with RequirementError when a value has more than 1/l of the records, or
    a person so many records that they do not fit into different groups. References: Zhang et al. (2007).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [30, 30, 38, 38], "disease": ["flu", "HIV", "flu", "HIV"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["disease"]))
    >>> sorted(celosia.protect(table, Permute(l=2), seed=1).polars()["disease"].to_list()[:2])
    ['HIV', 'flu']
    """

    l: int | None = Field(default=None, ge=2, description="form groups in which no value has more than 1/l")
    columns: Columns | None = Field(default=None, description="columns to shuffle; all sensitive ones when not given")
    groups: Literal["near", "buckets"] = Field(default="near", description="how groups are formed when l is given")
    together: bool = Field(default=True, description="shuffle all columns with the same permutation")
    persons: ClassVar[PersonUnit] = "counted"
    not_replayable_because: ClassVar[str] = "values change places inside groups of records"
    examples: ClassVar = ({"l": 2}, {})

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the columns, or the sensitive ones."""
        return self.columns or schema.sensitive

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Shuffle inside the groups."""
        names = self.columns or table.schema.need_sensitive()
        label, evidence = self._groups(table, names, stream)
        new: dict[str, pl.Series] = {}
        changed = np.zeros(len(table), np.bool_)
        for name in names:
            order = _shuffle(
                label, stream.child("order") if self.together else stream.child("order", name), table.ids()
            )
            column = table.column(name)
            new[name] = column.gather(order)
            changed |= column.ne_missing(new[name]).to_numpy()
        return Outcome(table.replace(new), {**evidence, "changed": float(changed.mean()) if len(changed) else 0.0})

    def _groups(
        self, table: Table, names: tuple[str, ...], stream: Stream
    ) -> tuple[NDArray[np.int64], Mapping[str, object]]:
        from celosia.search.cells.blank_places import row_ids
        from celosia.search.partition.groups import Groups

        if self.l is not None:
            separated = separate(self.name, table, self.l, names, self.groups, stream.child("groups"))
            return separated.label, separated.evidence
        codes = np.column_stack([table.codes(name)[0] for name in table.schema.need_quasi()])
        label = row_ids(codes)
        if len(label) == 0:
            return label, {"groups": 0, "smallest": 0, "alone": 0}
        sizes = Groups(len(label), person=declared_persons(table)).of_labels(label).size
        return label, {"groups": len(sizes), "smallest": int(sizes.min()), "alone": int((sizes == 1).sum())}


def _shuffle(label: NDArray[np.int64], stream: Stream, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each record the record whose value it gets: a random order inside each group."""
    by_group = np.lexsort((np.arange(len(label)), label))
    shuffled = np.lexsort((stream.uniform(ids), label))
    order = np.empty(len(label), np.int64)
    order[by_group] = shuffled
    return order
