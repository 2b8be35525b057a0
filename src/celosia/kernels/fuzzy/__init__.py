"""Fuzzy sets, their cardinalities, fuzzy partitions and clustering: numpy in, numpy out, no table.

>>> from celosia.kernels.fuzzy import FuzzySet, count
>>> ages = [21, 24, 32, 36, 45, 56]
>>> int(count(FuzzySet.parse("(-inf;30;36)")(ages)))
3
"""

from celosia.kernels.fuzzy.anonymity import possibility_curve, q_anonymity
from celosia.kernels.fuzzy.cardinality import at_least, count, fuzzy_count, possibilities, sigma_count
from celosia.kernels.fuzzy.clustering import (
    Clusters,
    Convergence,
    c_means,
    cluster_memberships,
    gustafson_kessel,
    k_means,
)
from celosia.kernels.fuzzy.indices import validity
from celosia.kernels.fuzzy.partitions import grid, harden, is_normal, is_partition, is_robust, scale
from celosia.kernels.fuzzy.sets import FuzzySet, Graded, Members, Sampled, Trapezoid

__all__ = [
    "Clusters",
    "Convergence",
    "FuzzySet",
    "Graded",
    "Members",
    "Sampled",
    "Trapezoid",
    "at_least",
    "c_means",
    "cluster_memberships",
    "count",
    "fuzzy_count",
    "grid",
    "gustafson_kessel",
    "harden",
    "is_normal",
    "is_partition",
    "is_robust",
    "k_means",
    "possibilities",
    "possibility_curve",
    "q_anonymity",
    "scale",
    "sigma_count",
    "validity",
]
