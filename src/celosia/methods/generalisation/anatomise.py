"""Anatomy: publish quasi-identifiers and sensitive values in two tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from celosia.errors import DataError
from celosia.parts import Columns, Method, OnlyRead, PersonUnit
from celosia.table import Outcome
from celosia.table.derive import new_records
from celosia.views.boxes.separation import separate

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table

GROUP = "group"
COUNT = "count"


class Anatomise(Method):
    r"""Publish exact quasi-identifiers with a group number, and apart from them how often each group has each
    sensitive value.

    .. math:: c_g(s) \le |g| / l \quad\text{for every group } g \text{ and value } s

    so no person can be linked to a value with more than 1/l confidence. A missing value protects nobody: a value has
    at most 1/l of the known values of its group, and missing ones at most 1/l of the group. Spellings of a value that
    differ by case, spaces or Unicode form count as one, and ``unknown``, ``n/a`` and the like as missing; the tables
    show them as they are. ``groups="near"`` forms
    groups of similar records (the cuts of Mondrian, as long as no value exceeds its share); ``"buckets"`` groups of l
    different values from anywhere in the table (Xiao & Tao). The result has the column
    ``group`` in place of the sensitive ones; the second table (in ``outcome.others``) has ``group``, the
    value and ``count``, one table per sensitive column.
    :func:`celosia.views.estimates.estimated_count` estimates counts from both.

    Quasi-identifiers stay exact: a person of the table can be found in it, so this protects the sensitive
    values only, and in one release only: about a person who is in two an intruder keeps the values that both
    groups have, which may be one. With a declared person column no group has two records of a person; an intruder who
    knows several records of a person knows several groups. Fails with RequirementError when a value has more than 1/l
    of the records, or a person so many records that they do not fit into different groups.
    References: Xiao & Tao (2006).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [30, 30, 38, 38], "disease": ["flu", "HIV", "flu", "HIV"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["disease"]))
    >>> safe = celosia.protect(table, Anatomise(l=2))
    >>> safe.polars().rows(), safe.private_history[-1]["tables"]["sensitive"].polars().rows()
    ([(30, 1), (30, 1), (38, 2), (38, 2)], [(1, 'HIV', 1), (1, 'flu', 1), (2, 'HIV', 1), (2, 'flu', 1)])
    """

    l: int = Field(default=2, ge=2, description="no value may have more than 1/l of the known values of a group")
    columns: Annotated[Columns | None, OnlyRead()] = Field(
        default=None, description="sensitive columns to set apart; all declared ones"
    )
    groups: Literal["near", "buckets"] = Field(default="near", description="how records are grouped")
    persons: ClassVar[PersonUnit] = "counted"
    not_replayable_because: ClassVar[str] = (
        "the counts of their sensitive values are published already, and new groups would be another release. Run the "
        "policy on the new file, and keep persons of the earlier release out of it: whoever is in both is found by "
        "comparing the groups"
    )
    examples: ClassVar = ({"l": 2}, {"l": 2, "groups": "buckets"})

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Group the records, take the sensitive columns out and count them by group."""
        import polars as pl

        for name in (GROUP, COUNT):
            if name in table.names:
                raise DataError(f"anatomise: the table already has a column {name!r}; rename it first.")
        names = self.columns or table.schema.need_sensitive()
        separated = separate(self.name, table, self.l, names, self.groups, stream)
        hidden = dict.fromkeys([*names, *table.schema.sensitive])
        kept = table.replace({GROUP: separated.label + 1}).drop(list(hidden))
        others = {}
        for name in names:
            frame = pl.DataFrame({GROUP: separated.label + 1, name: table.column(name)})
            counted = frame.group_by(GROUP, name).agg(pl.len().cast(pl.Int64).alias(COUNT)).sort(GROUP, name)
            others["sensitive" if len(names) == 1 else f"sensitive_{name}"] = new_records(table, counted)
        return Outcome(kept, separated.evidence, others=others)
