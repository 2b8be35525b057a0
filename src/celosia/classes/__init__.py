"""Equivalence classes, baselines and population counts.

Persons, weights, suppressed records and missing values are decided here, once.
"""

from celosia.classes.baseline import Baseline, Sensitive
from celosia.classes.classes import EquivalenceClasses
from celosia.classes.counts import ClassCounts, ValueCounts
from celosia.classes.lineage import Derived, Lineage
from celosia.classes.rows import STAR, EngineFrame, Rows
from celosia.classes.table_counts import TableCounts

__all__ = [
    "STAR",
    "Baseline",
    "ClassCounts",
    "Derived",
    "EngineFrame",
    "EquivalenceClasses",
    "Lineage",
    "Rows",
    "Sensitive",
    "TableCounts",
    "ValueCounts",
]
