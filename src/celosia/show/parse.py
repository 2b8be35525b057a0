"""Numbers as people type them: with a decimal point, or with the decimal comma of Spanish and Catalan."""

from __future__ import annotations

import re

from celosia.errors import Message, ParameterError

_WRITTEN = re.compile(
    r"[-+]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf(?:inity)?|nan", re.IGNORECASE
)
_TWO_WAYS = re.compile(r"[-+]?([1-9][0-9]{0,2}),([0-9]{3})")


def parse_number(text: str, name: str, what: str = "number") -> float:
    """Parse a number that a user typed; messages call it ``name`` and state that ``what`` is allowed.

    ``float`` would take ``1_0`` and the digits of other scripts as well. A comma before exactly three digits separates
    thousands for some readers and decimals for others: it is refused, not guessed.

    >>> parse_number("0,2", "epsilon"), parse_number("0.125", "epsilon"), parse_number("1e-6", "delta")
    (0.2, 0.125, 1e-06)
    """
    given = text.strip()
    two_ways = _TWO_WAYS.fullmatch(given)
    if two_ways:
        whole, after = two_ways.groups()
        raise ParameterError(
            "{name}: {text!r} can be read in two ways. Write {first} or {second}.",
            name=Message(name),
            text=given,
            first=f"{whole}.{after}",
            second=f"{whole}{after}",
        )
    if not _WRITTEN.fullmatch(given):
        raise ParameterError(
            "{name} must be a {expected}, got {value!r}.", name=Message(name), expected=Message(what), value=given
        )
    return float(given.replace(",", "."))
