"""Plain data: values of JSON, with one canonical encoding so that hashes agree."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from celosia.table import Table

PlainData: TypeAlias = Any
"""A value of JSON, whose structure the caller knows."""


def plain(value: object) -> PlainData:
    """Convert a value that a part reports to plain data.

    Infinity becomes a text, NaN becomes null, and a table its size and column names.

    >>> plain({"levels": (1, 2), "ratio": float("inf"), "share": np.float64(0.5)})
    {'levels': [1, 2], 'ratio': 'inf', 'share': 0.5}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Path):
        return value.name
    if isinstance(value, Table):
        return {"rows": len(value), "columns": list(value.names)}
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def canonical(data: object) -> bytes:
    """Encode data as JSON with sorted keys and without spaces, as hashes and signatures need it."""
    return json.dumps(plain(data), sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def pretty_json(data: object) -> bytes:
    """Encode data as JSON for people and files."""
    return (json.dumps(plain(data), indent=2, ensure_ascii=False) + "\n").encode()
