"""Public description of a part: its summary, and its parameters without the private ones."""

from __future__ import annotations

import inspect
from typing import Any

from celosia.parts.loss import Loss
from celosia.parts.part import Part, Private, has_mark
from celosia.parts.threat import Threat


def summary(part: Part | type[Part]) -> str:
    """Return the first sentence of the docstring.

    >>> from celosia.parts import find
    >>> summary(find("model", "k-anonymity"))
    'Every record shares its quasi-identifiers with at least ``k - 1`` others.'
    """
    return inspect.cleandoc(part.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def is_share(part: Part) -> bool:
    """Return whether the value of a measure is a share in [0, 1]."""
    return isinstance(part, Loss | Threat) and part.bounded


def marked_fields(part: Part | type[Part], mark: type) -> tuple[str, ...]:
    """Return the parameters that carry a mark."""
    cls = type(part) if isinstance(part, Part) else part
    return tuple(name for name, info in cls.model_fields.items() if has_mark(info, mark))


def private_fields(part: Part | type[Part]) -> tuple[str, ...]:
    """Return the parameters that are never published."""
    return marked_fields(part, Private)


def public_spec(part: Part) -> dict[str, Any]:
    """Return the specification without private parameters, nested parts included."""
    private = private_fields(part)
    return {
        name: _public_value(getattr(part, name, None), value)
        for name, value in part.spec().items()
        if name not in private
    }


def withheld_parameters(part: Part) -> list[str]:
    """Return the private parameters that are set, those of nested parts as ``field.parameter``."""
    spec = part.spec()
    nested = [(name, inner) for name in spec for inner in _nested_parts(getattr(part, name, None))]
    own = [name for name in private_fields(part) if name in spec]
    return own + [f"{name}.{field}" for name, inner in nested for field in withheld_parameters(inner)]


def _nested_parts(value: object) -> list[Part]:
    """Return the parts that a parameter holds."""
    return [part for part in (value if isinstance(value, tuple | list) else (value,)) if isinstance(part, Part)]


def _public_value(value: object, serialised: object) -> object:
    """Return a serialised parameter, nested parts without their private parameters."""
    parts = [public_spec(part) for part in _nested_parts(value)]
    return serialised if not parts else parts if isinstance(value, tuple | list) else parts[0]
