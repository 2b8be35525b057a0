"""Analysis of variance of a balanced full factorial in complete blocks, with its assumptions checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Effect:
    """One line of the table."""

    name: str
    squares: float
    freedom: int
    f: float | None
    p: float | None


def anova(values: NDArray[np.float64], factors: Sequence[str]) -> list[Effect]:
    r"""Split the variation of ``values[block, level of factor 1, …]`` into effects.

    .. math:: SS_A = \frac{N}{\prod_{f \in A} n_f} \sum \Big(\sum_{B \subseteq A} (-1)^{|A| - |B|} \bar y_B\Big)^2

    The blocks are the first axis and interact with nothing; what is left is the residual.

    >>> y = np.array([[[1.0, 2.0], [3.0, 4.1]], [[2.0, 3.0], [4.0, 5.0]]])
    >>> [effect.name for effect in anova(y, ["k", "rule"])]
    ['block', 'k', 'rule', 'k × rule', 'residual']
    """
    from scipy import stats

    axes = {name: i + 1 for i, name in enumerate(factors)}
    total = float(((values - values.mean()) ** 2).sum())
    sources: list[tuple[str, float, int]] = [_part("block", values, (0,))]
    for size in range(1, len(factors) + 1):
        some = combinations(factors, size)
        sources += [_part(" × ".join(names), values, tuple(axes[name] for name in names)) for names in some]
    sources = [(name, squares, df) for name, squares, df in sources if df > 0]  # a factor with one level has no effect
    left = total - sum(squares for _, squares, _ in sources)
    freedom = values.size - 1 - sum(df for _, _, df in sources)
    error = left / freedom
    out = []
    for name, squares, df in sources:
        f = squares / df / error if error > 0 else float("inf")
        out.append(Effect(name, squares, df, f, float(stats.f.sf(f, df, freedom))))
    return [*out, Effect("residual", left, freedom, None, None)]


def residuals(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the residuals after block and cell means."""
    block = values.mean(axis=tuple(range(1, values.ndim)), keepdims=True)
    return np.asarray(values - block - values.mean(axis=0, keepdims=True) + values.mean(), np.float64)


def assumptions(values: NDArray[np.float64], order: NDArray[np.int64]) -> dict[str, Any]:
    """Test normality (Shapiro–Wilk), equal variances (Levene) and independence in the order of the runs (lag 1)."""
    from scipy import stats

    rest = residuals(values)
    cells = rest.reshape(len(rest), -1).T
    flat = rest.ravel()[order.ravel()]
    n = len(flat)
    scale = float((flat**2).sum())
    lag = float((flat[:-1] * flat[1:]).sum() / scale) if scale > 0 else 0.0
    return {
        "normality p": float(stats.shapiro(flat).pvalue),
        "skewness": float(stats.skew(flat)),
        "equal variance p": float(stats.levene(*cells).pvalue),
        "lag 1 correlation": lag,
        "independence p": float(2 * stats.norm.sf(abs(lag) * np.sqrt(n))),
    }


def plain(effects: Sequence[Effect]) -> list[dict[str, Any]]:
    """Return the table as plain data."""
    return [asdict(effect) for effect in effects]


def _part(name: str, values: NDArray[np.float64], axes: tuple[int, ...]) -> tuple[str, float, int]:
    """Sum of squares and degrees of freedom of an effect, by inclusion and exclusion of means."""
    effect = np.zeros([values.shape[a] if a in axes else 1 for a in range(values.ndim)])
    for size in range(len(axes) + 1):
        for some in combinations(axes, size):
            rest = tuple(a for a in range(values.ndim) if a not in some)
            effect = effect + (-1) ** (len(axes) - size) * values.mean(axis=rest, keepdims=True)
    repeat = values.size / np.prod([values.shape[a] for a in axes])
    return name, float((effect**2).sum() * repeat), int(np.prod([values.shape[a] - 1 for a in axes]))
