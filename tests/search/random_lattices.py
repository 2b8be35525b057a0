"""Random small tables with hierarchies, for the tests of the search."""

from __future__ import annotations

import itertools

import numpy as np

from celosia.search.lattice.objective import LevelMaps
from celosia.search.lattice.tables import Records, Sensitive


def nested(rng, values, levels):
    """A random hierarchy: each level merges codes of the one below; the top is one value."""
    maps = [np.arange(values, dtype=np.int32)]
    for _ in range(levels - 2):
        wide = int(maps[-1].max()) + 1
        merged = rng.integers(0, max(1, wide // 2 + 1), wide)
        maps.append(np.unique(merged[maps[-1]], return_inverse=True)[1].astype(np.int32))
    return (*maps, np.zeros(values, dtype=np.int32))


def instance(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(30, 70)), int(rng.integers(2, 4))
    maps = tuple(nested(rng, int(rng.integers(2, 9)), int(rng.integers(2, 5))) for _ in range(m))
    weight = [rng.dirichlet(np.ones(len(one[0]))) for one in maps]
    codes = np.column_stack([rng.choice(len(p), n, p=p) for p in weight]).astype(np.int32)
    extra = np.column_stack([rng.choice(len(p), 2 * n, p=p) for p in weight]).astype(np.int32)
    counts = tuple(np.bincount(codes[:, j], minlength=len(maps[j][0])) for j in range(m))
    domain = LevelMaps(tuple("abc"[:m]), maps, counts)
    sensitive = Sensitive(rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]).astype(np.int32), 4)
    population = np.concatenate([codes, extra])
    return Records(domain, codes, {"s": sensitive}, population=population, population_total=len(population))


def every_node(records):
    domain = records.domain
    yield from itertools.product(*(range(domain.height(j) + 1) for j in range(len(domain))))
