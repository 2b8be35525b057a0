"""Numbers as people type them: with a decimal point, or with the decimal comma of Spanish and Catalan."""

from __future__ import annotations

import re

from celosia.errors import ParameterError

_WRITTEN = re.compile(
    r"[-+]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf(?:inity)?|nan", re.IGNORECASE
)
_TWO_WAYS = re.compile(r"[-+]?([1-9][0-9]{0,2}),([0-9]{3})")


def typed_number(text: str, name: str, what: str = "number") -> float:
    """The number that somebody typed; ``name`` says of what, ``what`` is allowed there.

    ``float`` would take ``1_0`` and the digits of other scripts as well. A comma before exactly three digits separates
    thousands for some readers and decimals for others: it is refused, not guessed.

    >>> typed_number("0,2", "epsilon"), typed_number("0.125", "epsilon"), typed_number("1e-6", "delta")
    (0.2, 0.125, 1e-06)
    """
    given = text.strip()
    two_ways = _TWO_WAYS.fullmatch(given)
    if two_ways:
        whole, after = two_ways.groups()
        raise ParameterError(f"{name}: {given!r} can be read in two ways. Write {whole}.{after} or {whole}{after}.")
    if not _WRITTEN.fullmatch(given):
        raise ParameterError(f"{name} must be a {what}, got {given!r}.")
    return float(given.replace(",", "."))
