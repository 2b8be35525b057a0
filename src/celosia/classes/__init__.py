"""What every verdict rests on: encoded columns, combinations, the baseline of a sensitive column, class counts.

Persons, weights, suppressed records and missing values are decided here, once.
"""

from celosia.classes.baseline import Baseline, Sensitive
from celosia.classes.classes import Classes
from celosia.classes.coded import Coded
from celosia.classes.column import Encoded, encode, group, number, pack, recode
from celosia.classes.counts import ClassCounts, ValueCounts
from celosia.classes.followed import Followed
from celosia.classes.missing import Held, compatible
from celosia.classes.patterns import Patterns
from celosia.classes.rows import STAR, Rows

__all__ = [
    "STAR",
    "Baseline",
    "ClassCounts",
    "Classes",
    "Coded",
    "Encoded",
    "Followed",
    "Held",
    "Patterns",
    "Rows",
    "Sensitive",
    "ValueCounts",
    "compatible",
    "encode",
    "group",
    "number",
    "pack",
    "recode",
]
