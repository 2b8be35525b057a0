"""The value hierarchies of the people, the same for all: age in wider and wider bands, text by prefix."""

from __future__ import annotations

from typing import Any

TEXTS = {"sex": 2, "race": 5, "status": 7, "school": 16, "country": 41, "sector": 8, "job": 14}
KEYS = ("sex", "age", "race", "status", "school", "country", "sector", "job")


def levels(name: str, value: Any) -> tuple[str, ...]:
    """A value, and what stands for it at each coarser level."""
    if name != "age":
        return str(value), f"{str(value)[:-1]}.", "*"
    return (
        str(value),
        *(f"{value // width * width} to {value // width * width + width - 1}" for width in (5, 10, 20)),
        "*",
    )


def rows(name: str) -> list[tuple[str, ...]]:
    """The hierarchy as a table, one row per value."""
    values = range(17, 91) if name == "age" else [f"{name} {i:02d}" for i in range(TEXTS[name])]
    return [levels(name, value) for value in values]
