r"""Fuzzy sets: a degree between 0 and 1 for every value.

Written as ``(0;1;2)`` (triangle), ``(-inf;30;42)`` and ``(54;66;inf)`` (shoulders), ``(30;36;54;60)`` (trapezoid),
``{a, b}`` (the crisp set of these values), ``{1:0.2, 2:1}`` (values with their degrees).
Questions about a whole set (cuts, normality, inclusion …) are asked on a finite universe, the points that are given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import ParameterError

Degrees = NDArray[np.float64]
TOLERANCE = 1e-9
"""Degrees nearer than this are equal: a half computed as (b - x) / (b - a) is a half."""


class FuzzySet:
    r"""A membership function :math:`\mu_A: X \to [0, 1]`.

    Union is the maximum, intersection the minimum, ``~`` the complement, ``*`` the algebraic product, ``+`` the
    algebraic sum :math:`\mu_A + \mu_B - \mu_A \mu_B`. Reference: Zadeh (1965).

    >>> young = FuzzySet.parse("(-inf;30;42)")
    >>> adult = FuzzySet.parse("(30;42;54)")
    >>> [float(d) for d in young([20, 36, 50])]
    [1.0, 0.5, 0.0]
    >>> float((young | adult)(36)), float((young * adult)(36)), float((young + adult)(36))
    (0.5, 0.25, 0.75)
    """

    def __call__(self, x: ArrayLike) -> Degrees:
        """Return the degrees of the values ``x``."""
        raise NotImplementedError

    @classmethod
    def parse(cls, text: str) -> FuzzySet:
        """Read a literal: ``(a;b;c)``, ``(-inf;a;b)``, ``(a;b;inf)``, ``(a;b;c;d)``, ``{v, w}`` or ``{v:0.5, w}``.

        >>> FuzzySet.parse("(3;2;5)")
        Traceback (most recent call last):
        celosia.errors.ParameterError: fuzzy set '(3;2;5)': the points must not decrease, got 2 after 3. \
Write them from left to right, for example '(2;3;5)'.
        """
        literal = text.strip()
        if literal.startswith("{") and literal.endswith("}"):
            members = [v.strip() for v in literal[1:-1].split(",") if v.strip()]
            graded = [re.fullmatch(r"(.+?)\s*:\s*(0?\.\d+|0|1(?:\.0*)?)", member) for member in members]
            if any(graded):  # 12:30 is no value with a degree
                pairs = zip(members, graded, strict=True)
                return Graded(dict((m[1], float(m[2])) if m else (member, 1.0) for member, m in pairs))
            return Members(members)
        if not (literal.startswith("(") and literal.endswith(")")):
            raise _unreadable(text)
        try:
            points = [float(part) for part in literal[1:-1].split(";")]
        except ValueError:
            raise _unreadable(text) from None
        if len(points) not in (3, 4) or any(math.isnan(p) for p in points):
            raise _unreadable(text)
        for before, after in pairwise(points):
            if after < before:
                ordered = ";".join(_digits(p) for p in sorted(points))
                raise ParameterError(
                    f"fuzzy set {literal!r}: the points must not decrease, got {_digits(after)} after "
                    f"{_digits(before)}. Write them from left to right, for example '({ordered})'."
                )
        if len(points) == 4:
            a, b, c, d = points
        elif points[0] == -math.inf:
            a, b, c, d = -math.inf, -math.inf, points[1], points[2]
        elif points[2] == math.inf:
            a, b, c, d = points[0], points[1], math.inf, math.inf
        else:
            a, b, c, d = points[0], points[1], points[1], points[2]
        if math.isinf(a) != math.isinf(b) or math.isinf(c) != math.isinf(d) or a == math.inf or d == -math.inf:
            raise _unreadable(text)
        return Trapezoid(a, b, c, d)

    def __or__(self, other: FuzzySet) -> FuzzySet:
        """Union: the larger degree."""
        return Composed(np.maximum, (self, other))

    def __and__(self, other: FuzzySet) -> FuzzySet:
        """Intersection: the smaller degree."""
        return Composed(np.minimum, (self, other))

    def __mul__(self, other: FuzzySet) -> FuzzySet:
        """Algebraic product."""
        return Composed(np.multiply, (self, other))

    def __add__(self, other: FuzzySet) -> FuzzySet:
        """Algebraic sum."""
        return Composed(lambda a, b: a + b - a * b, (self, other))

    def __invert__(self) -> FuzzySet:
        """Complement: one minus the degree."""
        return self.complement()

    def complement(self, lam: float = 0.0) -> FuzzySet:
        r"""Return the λ-complement :math:`(1 - \mu) / (1 + \lambda \mu)`; λ = 0 is the usual complement.

        >>> float(FuzzySet.parse("(0;1;2)").complement(1.0)(0.5))
        0.3333333333333333
        """
        if not lam > -1:
            raise ParameterError(f"complement: lam must be greater than -1, got {lam}.")
        return Composed(lambda a: (1 - a) / (1 + lam * a), (self,))

    def cut(self, x: ArrayLike, alpha: float, *, strict: bool = False) -> NDArray[np.bool_]:
        """Which of the points have at least the degree ``alpha`` (``strict``: more than it)."""
        if not 0 <= alpha <= 1:
            raise ParameterError(f"cut: alpha must be from 0 to 1, got {alpha}.")
        mu = self(x)
        return mu > alpha + TOLERANCE if strict else mu >= alpha - TOLERANCE

    def core(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Which of the points belong to the set fully."""
        return self.cut(x, 1.0)

    def support(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Which of the points belong to the set at all."""
        return np.asarray(self(x) > 0)

    def is_normal(self, x: ArrayLike) -> bool:
        """Whether some point belongs to the set fully."""
        return bool(self.core(x).any())

    def is_convex(self, x: ArrayLike) -> bool:
        r"""Whether :math:`\mu(y) \ge \min(\mu(x), \mu(z))` for all points x ≤ y ≤ z."""
        mu = self(np.sort(np.asarray(x, dtype=float)))
        if mu.size == 0:
            return True
        before = np.maximum.accumulate(mu)
        after = np.maximum.accumulate(mu[::-1])[::-1]
        return bool((mu >= np.minimum(before, after) - TOLERANCE).all())

    def includes(self, other: FuzzySet, x: ArrayLike) -> bool:
        """Whether no point has a higher degree in ``other`` than here."""
        return bool((other(x) <= self(x) + TOLERANCE).all())

    def equals(self, other: FuzzySet, x: ArrayLike) -> bool:
        """Whether all points have the same degree in both sets."""
        return bool(np.allclose(self(x), other(x), rtol=0, atol=TOLERANCE))


@dataclass(frozen=True)
class Trapezoid(FuzzySet):
    r"""Rises on [a, b], is 1 on [b, c], falls on [c, d]; shoulders have infinite ends, a triangle has b = c.

    >>> print(FuzzySet.parse("(30; 36; 54; 60)"))
    (30;36;54;60)
    >>> Trapezoid(0, 0, 1, 1)([0, 1, 2]).tolist()      # equal points are a vertical edge: the interval [0, 1]
    [1.0, 1.0, 0.0]
    """

    a: float
    b: float
    c: float
    d: float

    def __call__(self, x: ArrayLike) -> Degrees:
        """Return the degrees of the numbers ``x``."""
        x = np.asarray(x, dtype=np.float64)
        mu = np.ones_like(x)
        if self.b > -math.inf:
            rise = self.b - self.a
            mu = (x >= self.b).astype(float) if rise == 0 else np.clip((x - self.a) / rise, 0, 1)
        if self.c < math.inf:
            fall = self.d - self.c
            down = (x <= self.c).astype(float) if fall == 0 else np.clip((self.d - x) / fall, 0, 1)
            mu = np.minimum(mu, down)
        return np.asarray(mu)

    def __str__(self) -> str:
        """Return the literal that reads as this set."""
        a, b, c, d = (_digits(p) for p in (self.a, self.b, self.c, self.d))
        if self.b == -math.inf:
            return f"(-inf;{c};{d})" if self.c < math.inf else "(-inf;-inf;inf;inf)"
        if self.c == math.inf:
            return f"({a};{b};inf)"
        return f"({a};{b};{d})" if self.b == self.c else f"({a};{b};{c};{d})"


@dataclass(frozen=True)
class Sampled(FuzzySet):
    """Degrees known at some points, straight lines between them, 0 outside.

    >>> float(Sampled((0.0, 1.0, 3.0), (0.0, 1.0, 0.5))(2))
    0.75
    """

    points: tuple[float, ...]
    degrees: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.points) != len(self.degrees) or not self.points:
            raise ParameterError(
                f"sampled set: needs one degree per point, got {len(self.points)} points "
                f"and {len(self.degrees)} degrees."
            )
        if any(b <= a for a, b in pairwise(self.points)):
            raise ParameterError("sampled set: the points must increase. Sort them and name each once.")
        if not all(0 <= d <= 1 for d in self.degrees):
            raise ParameterError(
                f"sampled set: degrees must be from 0 to 1, got {min(self.degrees)} to {max(self.degrees)}."
            )

    def __call__(self, x: ArrayLike) -> Degrees:
        """Return the degrees of the numbers ``x`` by linear interpolation."""
        return np.asarray(np.interp(np.asarray(x, dtype=float), self.points, self.degrees, left=0.0, right=0.0))


@dataclass(frozen=True, init=False)
class Members(FuzzySet):
    """The crisp set of the given values: degree 1 for them, 0 for all others.

    Floats are compared as numbers, all others as text, so that ``{47677, 47602}`` fits a column of numbers and one of
    strings.

    >>> FuzzySet.parse("{flu, angina}")(["flu", "ulcer"]).tolist()
    [1.0, 0.0]
    >>> FuzzySet.parse("{47677, 47602}")([47677.0, 47605.0]).tolist()
    [1.0, 0.0]
    """

    values: frozenset[str]

    def __init__(self, values: Iterable[object]) -> None:
        object.__setattr__(self, "values", frozenset(str(v) for v in values))

    def __call__(self, x: ArrayLike) -> Degrees:
        """Return the degrees, 0 or 1, of the values ``x``."""
        values = np.asarray(x)
        if values.dtype.kind == "f":
            return np.isin(values, [number for text in self.values if (number := _as_number(text)) is not None]).astype(
                float
            )
        distinct, inverse = np.unique(values.astype(str), return_inverse=True)
        belongs = np.array([v in self.values for v in distinct], dtype=float)
        return belongs[inverse].reshape(values.shape)

    def __str__(self) -> str:
        """Return the literal that reads as this set."""
        return "{" + ", ".join(sorted(self.values)) + "}"


@dataclass(frozen=True, init=False)
class Graded(FuzzySet):
    """A set that lists its values with their degrees; every other value has degree 0.

    >>> FuzzySet.parse("{flu:0.4, angina}")(["flu", "angina", "ulcer"]).tolist()
    [0.4, 1.0, 0.0]
    >>> FuzzySet.parse("{1:0.2, 2:1}")([1.0, 2.0, 3.0]).tolist()
    [0.2, 1.0, 0.0]
    """

    degrees: tuple[tuple[str, float], ...]

    def __init__(self, degrees: Mapping[object, float]) -> None:
        object.__setattr__(self, "degrees", tuple((str(value), float(degree)) for value, degree in degrees.items()))

    def __call__(self, x: ArrayLike) -> Degrees:
        """Return the degrees of the values ``x``."""
        parts = [degree * Members([value])(x) for value, degree in self.degrees]
        return np.asarray(np.maximum.reduce(parts))

    def __str__(self) -> str:
        """Return the literal that reads as this set."""
        return "{" + ", ".join(f"{value}:{_digits(degree)}" for value, degree in self.degrees) + "}"


@dataclass(frozen=True)
class Composed(FuzzySet):
    """The result of an operation on fuzzy sets."""

    operation: Callable[..., Any]
    operands: tuple[FuzzySet, ...]

    def __call__(self, x: ArrayLike) -> Degrees:
        """Return the degrees of the values ``x``."""
        return np.asarray(self.operation(*(operand(x) for operand in self.operands)))


def _as_number(text: str) -> float | None:
    """Return the number that a text writes, if it does."""
    try:
        return float(text)
    except ValueError:
        return None


def _digits(value: float) -> str:
    return f"{value:.12g}"


def _unreadable(text: str) -> ParameterError:
    return ParameterError(
        f"fuzzy set {text!r} cannot be read. Write '(a;b;c)', '(-inf;a;b)', '(a;b;inf)', '(a;b;c;d)' "
        "with numbers that do not decrease, '{value, value}' or '{value:0.5, value:1}'."
    )
