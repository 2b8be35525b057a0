"""Validity indices of a fuzzy clustering, by which its number of clusters is chosen."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def validity(x: ArrayLike, memberships: ArrayLike, centres: ArrayLike, m: float = 2.0) -> dict[str, float]:
    r"""Return four indices of a clustering of n records in c clusters with centres :math:`v_i`.

    .. math:: \mathrm{PC} = \frac1n \sum_{ik} \mu_{ik}^2, \quad \mathrm{PE} = -\frac1n \sum_{ik} \mu_{ik} \ln \mu_{ik},
              \quad \mathrm{XB} = \frac{\sum_{ik} \mu_{ik}^2 \lVert x_k - v_i \rVert^2}
                                        {n \min_{i \ne j} \lVert v_i - v_j \rVert^2}, \quad
              \mathrm{FS} = \sum_{ik} \mu_{ik}^m \bigl(\lVert x_k - v_i \rVert^2 - \lVert v_i - \bar x \rVert^2\bigr)

    A larger partition coefficient (PC) is better, and a smaller partition entropy (PE), Xie–Beni (XB) and
    Fukuyama–Sugeno index (FS). PC falls and PE rises with c whatever the data are. Xie–Beni is infinite where two
    centres coincide, or there is one. References: Bezdek (1981); Xie & Beni (1991); Fukuyama & Sugeno (1989).

    >>> found = validity([0.0, 2.0], [[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]])
    >>> {name: round(value, 3) for name, value in found.items()}
    {'partition_coefficient': 1.0, 'partition_entropy': 0.0, 'xie_beni': 0.0, 'fukuyama_sugeno': -2.0}
    """
    mu, v = np.asarray(memberships, dtype=np.float64), np.asarray(centres, dtype=np.float64)
    records: NDArray[np.float64] = np.asarray(x, dtype=np.float64).reshape(len(mu), -1)
    squared = np.stack([((records - centre) ** 2).sum(axis=1) for centre in v], axis=1)
    between = ((v[:, None, :] - v[None, :, :]) ** 2).sum(axis=2)[~np.eye(len(v), dtype=bool)]
    logs = np.log(mu, out=np.zeros_like(mu), where=mu > 0)
    least = float(between.min(initial=np.inf)) if len(between) else 0.0
    spread = ((v - records.mean(axis=0)) ** 2).sum(axis=1)
    return {
        "partition_coefficient": float((mu**2).sum() / len(mu)),
        "partition_entropy": float(abs((mu * logs).sum()) / len(mu)),
        "xie_beni": float((mu**2 * squared).sum() / (len(mu) * least)) if least > 0 else float("inf"),
        "fukuyama_sugeno": float((mu**m * (squared - spread)).sum()),
    }
