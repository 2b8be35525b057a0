"""Names of the cells of a fuzzy coding."""

from __future__ import annotations

from pydantic import Field

from celosia.errors import ParameterError
from celosia.kernels.fuzzy.coding import FuzzyCoding, Partition
from celosia.kernels.fuzzy.labels import Language, linguistic_labels


class _LinguisticCoding(FuzzyCoding):
    """A fuzzy coding whose found sets get names: given ones, or generated ones in a language."""

    labels: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="names of the found sets per column, from low to high: {age=[Young, Old]}"
    )
    language: Language = Field(default="en", description="language of generated labels: en, es or ca")

    def cell_labels(self, partition: Partition) -> list[tuple[str, ...]]:
        """Return the labels of each cell in its columns; the cell of missing values has none."""
        count = len(partition.names) - (partition.names[-1] == "missing")
        if partition.ranks is None:
            return [(name,) for name in partition.names[:count]]
        result = []
        for j, column in enumerate(partition.columns):
            ranks = partition.ranks[:, j]
            labels = self.labels.get(column) or linguistic_labels(int(ranks.max()) + 1, self.language)
            if len(labels) != int(ranks.max()) + 1 or len(set(labels)) < len(labels):
                raise ParameterError(
                    f"{getattr(self, 'name', 'labels')}: labels of {column!r} must be {int(ranks.max()) + 1} different "
                    f"names, got {len(labels)}."
                )
            result.append([labels[r] for r in ranks])
        return list(zip(*result, strict=True))
