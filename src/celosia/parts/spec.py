"""What a part shows of itself: its summary, and its parameters without those that are private."""

from __future__ import annotations

import inspect
from typing import Any

from celosia.parts.loss import Loss
from celosia.parts.part import Part, Private, marked
from celosia.parts.threat import Threat


def summary(part: Part | type[Part]) -> str:
    """First sentence of the docstring.

    >>> from celosia.parts import find
    >>> summary(find("model", "k-anonymity"))
    'Every record shares its quasi-identifiers with at least ``k - 1`` others.'
    """
    return inspect.cleandoc(part.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def is_share(part: Part) -> bool:
    """Whether the value of a measure is a share in [0, 1]."""
    return isinstance(part, Loss | Threat) and part.bounded


def marked_fields(part: Part | type[Part], mark: type) -> tuple[str, ...]:
    """The parameters that carry a mark."""
    cls = type(part) if isinstance(part, Part) else part
    return tuple(name for name, info in cls.model_fields.items() if marked(info, mark))


def private_fields(part: Part | type[Part]) -> tuple[str, ...]:
    """The parameters that are never published."""
    return marked_fields(part, Private)


def public_spec(part: Part) -> dict[str, Any]:
    """The part as it may be published: without private parameters, those of nested parts too."""
    private = private_fields(part)
    return {
        name: _public(getattr(part, name, None), value) for name, value in part.spec().items() if name not in private
    }


def withheld_parameters(part: Part) -> list[str]:
    """The private parameters that are set, those of nested parts as ``field.parameter``."""
    given = part.spec()
    nested = [(name, inner) for name in given for inner in _nested(getattr(part, name, None))]
    own = [name for name in private_fields(part) if name in given]
    return own + [f"{name}.{field}" for name, inner in nested for field in withheld_parameters(inner)]


def _nested(value: Any) -> list[Part]:
    """The parts that a parameter holds."""
    return [part for part in (value if isinstance(value, tuple | list) else (value,)) if isinstance(part, Part)]


def _public(value: Any, written: Any) -> Any:
    """A parameter as it may be published."""
    parts = [public_spec(part) for part in _nested(value)]
    return written if not parts else parts if isinstance(value, tuple | list) else parts[0]
