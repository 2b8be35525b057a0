"""Outcome of a method: tables, public evidence, and private evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from celosia.table.table import Table


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a method: one or more tables, evidence that may be published, and evidence that must stay private."""

    table: Table
    evidence: Mapping[str, Any] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, Table] = field(default_factory=dict)
    """Further tables by name that belong to the result (the second table of an anatomy, further copies)."""
    aside: Mapping[str, Table] = field(default_factory=dict)
    """Further tables by name that are passed on and never published (the population of a subset)."""
