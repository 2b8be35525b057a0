"""Domains and histograms: arrays that do not depend on schemas, engines or tables.

A :class:`Domain` is the distinct values of a column, :class:`Encoded` a column as codes of a domain, and a
:class:`Histogram` the combinations of some columns with their rows, persons and weights.
"""

from celosia.histogram.combinations import group, number, pack
from celosia.histogram.domain import Domain, Encoded, encode
from celosia.histogram.histogram import CountAgain, Histogram, PersonPairs, count_persons

__all__ = [
    "CountAgain",
    "Domain",
    "Encoded",
    "Histogram",
    "PersonPairs",
    "count_persons",
    "encode",
    "group",
    "number",
    "pack",
]
