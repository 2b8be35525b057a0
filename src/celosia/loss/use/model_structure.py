"""Losses for a use: structure of trees, clusterings and regressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.loss.bases.training_data import is_number, labels, predictors, rpart_tree
from celosia.loss.use.agreement import Tree, interval_overlap, least_squares, tree_overlap
from celosia.parts import Column, Columns, DecidedByOneRecord, Loss
from celosia.views.comparing.comparable import number_columns, samples
from celosia.views.comparing.features import features

if TYPE_CHECKING:
    from celosia.table import Table


class TreeDifference(DecidedByOneRecord, Loss):
    r"""The share of a decision tree that is lost when it is grown on the protected table.

    .. math:: 1 - \frac{\sum_{v \in T \cap T'} \min(w_v, w'_v)}{\max(\sum_T w_v, \sum_{T'} w'_v)}

    Splits are compared from the root down: same column, and thresholds at most ``tolerance`` standard deviations
    apart; a split weighs as much as the records that reach it. Two trees can differ much here and still predict the
    same. Zero when neither tree has a split.

    >>> import numpy as np, polars as pl, celosia
    >>> x = np.arange(100.0)
    >>> a = celosia.read(pl.DataFrame({"x": x, "y": np.where(x < 50, "low", "high")}))
    >>> b = celosia.read(pl.DataFrame({"x": x, "y": np.where(x < 20, "low", "high")}))
    >>> TreeDifference(target="y").value(a, a), TreeDifference(target="y").value(a, b)
    (0.0, 1.0)
    """

    target: Column = Field(description="column to predict")
    predictors: Columns = Field(default=(), description="columns to predict from; all other shared ones when empty")
    tolerance: float = Field(default=0.1, ge=0, description="thresholds that count as equal, in standard deviations")
    seed: int = Field(default=0, ge=0, description="breaks ties between equally good splits")
    examples: ClassVar = ({"target": "e"},)

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of splits that differ."""
        same, total = self._overlap(original, protected)
        return max(0.0, 1 - same / total) if total > 0 else 0.0

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the weight of the splits that both trees have, and of all splits of the larger one."""
        same, total = self._overlap(original, protected)
        return {"shared": same, "all": total}

    def _overlap(self, original: Table, protected: Table) -> tuple[float, float]:
        columns = features(original, protected, predictors(original, protected, self.target, self.predictors))
        y, y2 = labels(original, self.target), labels(protected, self.target)
        regress = is_number(y) and y2.dtype.kind == "f"
        trees = []
        for x, z in ((columns.original, y), (columns.protected, y2)):
            whole = ~np.isnan(z) if z.dtype.kind == "f" else np.ones(len(z), np.bool_)
            z = z[whole] if regress else z[whole].astype(str)
            trees.append(Tree.of(rpart_tree(z, self.seed, regress=regress).fit(x[whole], z)))
        return tree_overlap(trees[0], trees[1], self.tolerance)


class ClusterDisagreement(DecidedByOneRecord, Loss):
    r"""The difference of the k-means partitions learnt from the original and the protected table (adjusted Rand).

    .. math:: 1 - \mathrm{ARI}(C, C')

    Both sets of centres partition the original records, so that records need not be paired. Standardised numbers and
    one feature per category. 0 is the same partition, 1 no more agreement than by chance. Where the data have no
    clusters the partition is unstable and the loss means little.

    >>> import polars as pl, celosia
    >>> a = celosia.read(pl.DataFrame({"x": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2]}))
    >>> ClusterDisagreement(clusters=2).value(a, a)
    0.0
    """

    columns: Columns = Field(default=(), description="columns of any kind; all shared ones when empty")
    clusters: int = Field(default=5, ge=2, description="number of clusters")
    seed: int = Field(default=0, ge=0, description="chooses the first centres")

    def value(self, original: Table, protected: Table) -> float:
        """One minus the adjusted Rand index."""
        from sklearn.cluster import KMeans
        from sklearn.metrics import adjusted_rand_score

        from celosia.errors import NotApplicable
        from celosia.views.comparing.categories import categories

        names = self.columns or categories(original, protected).names
        columns = features(original, protected, names)
        if min(len(columns.original), len(columns.protected)) < self.clusters:
            raise NotApplicable(f"{self.clusters} clusters need as many records.")
        partitions = []
        for x in (columns.original, columns.protected):
            if len(np.unique(x, axis=0)) < self.clusters:
                raise NotApplicable(f"there are fewer than {self.clusters} different records to cluster.")
            model = KMeans(self.clusters, n_init=5, random_state=self.seed).fit(x)
            partitions.append(model.predict(columns.original))
        return min(1.0, max(0.0, 1 - float(adjusted_rand_score(*partitions))))


class CoefficientOverlap(DecidedByOneRecord, Loss):
    r"""One minus the overlap of the confidence intervals of regression coefficients, mean over coefficients.

    .. math:: 1 - \frac1p \sum_j \tfrac12 \left( \frac{|I_j \cap I'_j|}{|I_j|} + \frac{|I_j \cap I'_j|}{|I'_j|} \right)

    Linear regression of ``target`` on numeric columns with an intercept, in both tables; 0 when the intervals are the
    same, 1 when none meet. An analyst would draw the same conclusions where it is small. Records need not be paired.
    Fails for collinear predictors. References: Karr et al. (2006).

    >>> import numpy as np, polars as pl, celosia
    >>> x = np.arange(20.0)
    >>> a = celosia.read(pl.DataFrame({"x": x, "y": 2 * x + np.sin(x)}))
    >>> CoefficientOverlap(target="y").value(a, a)
    0.0
    """

    target: Column = Field(description="numeric column that is explained")
    predictors: Columns = Field(default=(), description="numeric columns; all other shared ones when empty")
    level: float = Field(default=0.95, gt=0, lt=1, description="confidence of the intervals")
    examples: ClassVar = ({"target": "x"},)

    def value(self, original: Table, protected: Table) -> float:
        """One minus the mean overlap."""
        return float(np.mean(list(self.parts(original, protected).values())))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """One minus the overlap, for each coefficient."""
        chosen = number_columns(original, protected, (*self.predictors, self.target) if self.predictors else ())
        names = [name for name in chosen if name != self.target]
        number_columns(original, protected, [self.target])
        x, y = samples(original, protected, [*names, self.target])
        before = least_squares(x[:, :-1], x[:, -1], self.level)
        after = least_squares(y[:, :-1], y[:, -1], self.level)
        overlap = interval_overlap(before[1], before[2], after[1], after[2])
        return dict(zip([*names, "intercept"], (1 - overlap).tolist(), strict=True))
