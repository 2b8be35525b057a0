"""Where to stand on a sweep of a parameter: the best score, the crossing of loss and risk, a wanted level."""

from __future__ import annotations

from collections.abc import Sequence


def best(parameters: Sequence[float], scores: Sequence[float]) -> float:
    """The parameter with the smallest score.

    >>> best([2, 3, 4], [27.1, 22.5, 30.0])
    3
    """
    return min(zip(scores, parameters, strict=True))[1]


def crossing(
    parameters: Sequence[float], losses: Sequence[float], risks: Sequence[float]
) -> tuple[float, float] | None:
    """The first two neighbouring parameters between which the loss falls below the risk; None when it never does.

    >>> crossing([5, 6, 7], [21.8, 18.4, 16.2], [17.0, 17.1, 18.8])
    (6, 7)
    """
    above = [loss >= risk for loss, risk in zip(losses, risks, strict=True)]
    for i in range(1, len(above)):
        if above[i - 1] and not above[i]:
            return parameters[i - 1], parameters[i]
    return None


def reaching(parameters: Sequence[float], values: Sequence[float], wanted: float) -> float | None:
    """The first parameter whose value is at or below the wanted level; None when there is none.

    >>> reaching([2, 3, 4], [44.7, 32.6, 26.7], 33.0)
    3
    """
    return next((p for p, value in zip(parameters, values, strict=True) if value <= wanted), None)
