"""The search finds what looking at every node finds, for every pair of model and loss, and proves it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.search import reference
from tests.search.random_lattices import every_node, instance

from celosia.classes.counts import ClassCounts, ValueCounts
from celosia.parts import build
from celosia.search.lattice import lattice
from celosia.search.lattice.anytime import descend
from celosia.search.lattice.evaluator import NodeEvaluator
from celosia.search.lattice.knowledge import Budget
from celosia.search.lattice.lattice import _Enumerated, search
from celosia.search.lattice.objective import ClassObjective, ColumnObjective, LevelMaps
from celosia.search.lattice.tables import ClassTables, Records, Sensitive

MODELS = {
    "k": ["k-anonymity(k=3)"],
    "distinct l": ["l-diversity(l=2, variant=distinct)", "k-anonymity(k=2)"],
    "entropy l": ["l-diversity(l=2, variant=entropy)"],
    "recursive l": ["l-diversity(l=2, variant=recursive, c=2)"],
    "t equal": ["t-closeness(t=0.3)", "k-anonymity(k=2)"],
    "t ordered": ["t-closeness(t=0.2, distance=ordered)"],
    "beta": ["beta-likeness(beta=1)"],
    "delta": ["delta-disclosure(delta=1.5)"],
    "alpha k": ["alpha-k(alpha=0.7, k=2)"],
    "average": ["average-risk(risk=0.25)"],
    "sample uniques": ["sample-uniqueness(share=0.05)"],
    "k-map": ["k-map(k=3, size=150)"],
    "presence": ["delta-presence(highest=0.7, population=-)"],
}
LOSSES = [
    *(
        "domain-loss()",
        "domain-loss(aggregate=arithmetic)",
        "domain-loss(aggregate=max)",
        "domain-loss(aggregate=rank)",
    ),
    *("domain-loss(gs=0.2)", "domain-loss(gs=0.8)", "precision()", "height()", "height(suppressed=false)"),
    *("non-uniform-entropy()", "non-uniform-entropy(normalised=false)", "average-class-size()", "ambiguity()"),
    *("kullback-leibler()", "majority-loss(target=s)", "suppression()"),
]
REFERENCE = {
    "dm": reference.discernibility,
    "dm*": lambda d: reference.discernibility(d, True),
    "kl of records": lambda d: reference.divergence(d, True),
}


def grouped(records, levels):
    """The classes of a node, made record by record."""
    domain = records.domain
    own = [
        tuple(int(domain.maps[j][v][c]) for j, (v, c) in enumerate(zip(levels, row, strict=True)))
        for row in records.codes
    ]
    people = [
        tuple(int(domain.maps[j][v][c]) for j, (v, c) in enumerate(zip(levels, row, strict=True)))
        for row in records.population
    ]
    keys = sorted(set(own))
    sensitive = records.sensitive["s"]
    matrix = np.zeros((len(keys), sensitive.width), dtype=np.int64)
    for key, value in zip(own, sensitive.codes, strict=True):
        matrix[keys.index(key), value] += 1
    squares = np.zeros(len(keys), dtype=np.int64)
    combos, repeats = np.unique(records.codes, axis=0, return_counts=True)
    for combo, count in zip(combos, repeats, strict=True):
        key = tuple(int(domain.maps[j][v][c]) for j, (v, c) in enumerate(zip(levels, combo, strict=True)))
        squares[keys.index(key)] += count**2
    return ClassCounts(
        size=matrix.sum(axis=1),
        values={"s": ValueCounts.of(matrix, sensitive.share())},
        total=len(own),
        population=np.array([people.count(key) for key in keys]),
        population_total=len(people),
        codes=np.array(keys, dtype=np.int32),
        levels=levels,
        squares=squares,
    )


def keep(models, classes, cost):
    """Which classes stay: those that hold, less the cheapest ones until the file holds."""
    kept = np.ones(len(classes), dtype=bool)
    for model in models:
        if model.scope == "class":
            kept &= model.judge(classes)
    for _ in range(len(classes) + 1):
        if all(model.measure(classes.take(kept)).holds for model in models if model.scope == "file"):
            return kept
        index = np.flatnonzero(kept)
        kept[index[np.lexsort((*classes.codes[index].T, cost[index]))[0]]] = False
    return kept


def scored(objective, classes, kept):
    if isinstance(objective, ClassObjective):
        return objective.score(classes, kept)
    x = []
    for j, level in enumerate(classes.levels):
        total = objective.base[j][level]
        lost = np.bincount(classes.codes[~kept, j], classes.size[~kept], len(objective.base[j]) + 99)
        for g in np.flatnonzero(lost):
            if objective.extra is not None:
                total += lost[g] * objective.extra[j][level][g]
            if objective.spread is not None:
                total += objective.spread[j] * lost[g] * np.log2(lost.sum() / lost[g])
        x.append(total)
    value = objective.value(np.array(x))
    return tuple(value.tolist()) if objective.ranked else float(value[0])


def cost_of(objective, classes):
    if isinstance(objective, ColumnObjective) and objective.kept_loss is not None:
        held = [classes.size * objective.kept_loss[j][lv][classes.codes[:, j]] for j, lv in enumerate(classes.levels)]
        return np.log1p(np.stack(held, axis=1)).sum(axis=1)
    return classes.size.astype(float)


def brute(nodes, models, objective, limit):
    best = None
    if isinstance(objective, ClassObjective) and objective.fit_scale is not None:
        finest = next(classes for classes in nodes if not any(classes.levels))
        objective = replace(objective, scale=objective.fit_scale(finest))
    for classes in nodes:
        kept = keep(models, classes, cost_of(objective, classes))
        suppressed = int(classes.size[~kept].sum())
        if suppressed <= limit and kept.any():
            score = scored(objective, classes, kept)
            if best is None or score < best:
                best = score
    return best


@pytest.fixture(scope="module", params=[1, 2])
def case(request):
    records = instance(request.param)
    return records, [grouped(records, levels) for levels in every_node(records)]


def same(found, expected):
    if expected is None:
        return found is None
    return found is not None and np.allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.sampled(10)
def test_search_equals_brute_force(case, name):
    records, nodes = case
    models = [build("model", text.replace("-)", "x)")) for text in MODELS[name]]
    top = tuple(records.domain.height(j) for j in range(len(records.domain)))
    makers = {text: build("loss", text).objective for text in LOSSES} | REFERENCE
    for loss, make in makers.items():
        objective = make(records.domain)
        for share in (0.0, 0.1, 1.0):
            limit = int(share * len(records))
            expected = brute(nodes, models, objective, limit)
            evaluator = NodeEvaluator(records, models, objective, limit, ("s",))
            found = search(evaluator, (0,) * len(top), top)
            got = None if found.best is None else found.best.score
            assert found.optimal
            assert same(got, expected), (name, loss, share, got, expected)


@pytest.mark.parametrize("name", ["k", "distinct l", "t equal", "beta", "entropy l"])
@pytest.mark.sampled(4)
def test_no_bound_exceeds_what_it_bounds(case, name):
    records, _ = case
    models = [build("model", text) for text in MODELS[name]]
    top = tuple(records.domain.height(j) for j in range(len(records.domain)))
    makers = {text: build("loss", text).objective for text in LOSSES} | REFERENCE
    for loss, make in makers.items():
        for share in (0.1, 1.0):
            evaluator = NodeEvaluator(records, models, make(records.domain), int(share * len(records)), ("s",))
            every = [evaluator.evaluate(levels) for levels in every_node(records)]
            done = _Enumerated(evaluator, (0,) * len(top), top, len(every))
            for node in range(len(every)):  # tell it everything there is to know
                done._evaluate(node)
                done.open[:] = True
            for node, check in enumerate(every):
                score = np.atleast_1d(check.measure)
                slack = 1e-9 * max(1.0, abs(score[0]))
                bound = done.bound[node]
                assert bound[0] <= score[0] + slack, (loss, share, check.levels)
                assert tuple(bound.round(9)) <= tuple((score + slack).round(9)) or len(bound) == 1
            for fine, coarse in itertools.product(every, every):
                if np.all(np.array(fine.levels) <= coarse.levels):
                    assert coarse.certain <= fine.suppressed


@pytest.mark.parametrize("loss", ["domain-loss()", "domain-loss(aggregate=rank)", "ambiguity()", "kullback-leibler()"])
def test_large_lattices_end_at_the_same_node_when_time_allows(case, loss):
    records, nodes = case
    models = [build("model", "k-anonymity(k=3)")]
    objective = build("loss", loss).objective(records.domain)
    top = tuple(records.domain.height(j) for j in range(len(records.domain)))
    for limit in (0, 5, len(records)):
        evaluator = NodeEvaluator(records, models, objective, limit)
        found = descend(evaluator, (0,) * len(top), top, len(nodes), Budget())
        assert found.optimal
        assert same(found.best.score, brute(nodes, models, objective, limit))


def test_a_search_cut_short_gives_an_honest_bound(case):
    records, nodes = case
    models = [build("model", "k-anonymity(k=3)")]
    objective = build("loss", "domain-loss()").objective(records.domain)
    top = tuple(records.domain.height(j) for j in range(len(records.domain)))
    truth = brute(nodes, models, objective, 5)
    for most in (1, 2, 4):
        for found in (
            search(NodeEvaluator(records, models, objective, 5), (0,) * len(top), top, most=most),
            descend(NodeEvaluator(records, models, objective, 5), (0,) * len(top), top, 0, Budget(nodes=most)),
        ):
            assert found.bound <= truth + 1e-12
            assert found.best is None or found.best.score >= truth - 1e-12
            assert len(found.evaluations) <= most
            if not found.optimal:
                assert found.bound < np.inf


def test_level_ranges_are_respected(case):
    records, _ = case
    top = tuple(records.domain.height(j) for j in range(len(records.domain)))
    low = tuple(min(1, t) for t in top)
    objective = build("loss", "domain-loss()").objective(records.domain)
    found = search(NodeEvaluator(records, [build("model", "k-anonymity(k=2)")], objective, 3), low, top)
    assert all(np.all(np.array(check.levels) >= low) for check in found.evaluations)


def test_a_tie_goes_to_the_finer_node():
    # with the largest column's loss as objective every node with one starred column costs 1; the finest one is wanted
    records = instance(1)
    objective = build("loss", "suppression()").objective(records.domain)
    top = tuple(records.domain.height(j) for j in range(len(records.domain)))
    found = search(NodeEvaluator(records, [build("model", "k-anonymity(k=1)")], objective, 0), (0,) * len(top), top)
    assert found.best.levels == (0,) * len(top)


def test_a_tie_goes_to_a_finer_node_that_was_judged_before():
    # 'a' separates the target perfectly only together with nothing else: both nodes of 'b' score the same
    maps = (np.array([0, 1], np.int32), np.array([0, 0], np.int32))
    codes = np.array([[0, 0], [0, 1]] * 4 + [[1, 0], [1, 1]] * 4, dtype=np.int32)
    domain = LevelMaps(("a", "b"), (maps, maps), (np.array([8, 8]), np.array([8, 8])))
    records = Records(domain, codes, {"s": Sensitive(codes[:, 0].copy(), 2)})
    objective = build("loss", "majority-loss(target=s)").objective(domain)
    for limit in (0, 3):
        done = _Enumerated(
            NodeEvaluator(records, [build("model", "k-anonymity(k=2)")], objective, limit), (0, 0), (1, 1), 4
        )
        for node in (1, 0, 2, 3):  # the coarser of the two best nodes first
            done._evaluate(node)
        assert done.best.levels == (0, 1)
        done._prefer_finest(Budget())
        assert done.best.levels == (0, 0)


def test_persons_count_once():
    domain = LevelMaps(("a",), ((np.array([0, 1], np.int32), np.array([0, 0], np.int32)),), (np.array([3, 2]),))
    codes = np.array([[0], [0], [0], [1], [1]], dtype=np.int32)
    value = Sensitive(np.array([0, 0, 1, 0, 1], dtype=np.int32), 2)
    records = Records(domain, codes, {"s": value}, person=np.array([7, 7, 7, 8, 9], dtype=np.int32))
    tables = ClassTables(records, ("s",))
    low, high = tables.counts(tables.at((0,))), tables.counts(tables.at((1,)))
    assert low.size.tolist() == [1, 2]  # three records of person 7 are one person
    assert high.size.tolist() == [3]
    assert low.of("s").dense().tolist() == [[1, 1], [1, 1]]  # a person counts once for each value
    assert high.of("s").dense().tolist() == [[2, 2]]
    assert low.total == 3


def test_a_loss_counts_records_where_persons_repeat():
    domain = LevelMaps(("a",), ((np.array([0, 1], np.int32), np.array([0, 0], np.int32)),), (np.array([3, 2]),))
    codes = np.array([[0], [0], [0], [1], [1]], dtype=np.int32)
    records = Records(domain, codes, person=np.array([7, 7, 8, 8, 9], dtype=np.int32))
    objective = build("loss", "discernibility()").objective(domain)
    check = NodeEvaluator(records, [build("model", "k-anonymity(k=2)")], objective, 0).evaluate((0,))
    assert check.holds  # two persons in each class
    assert check.score == 9 + 4  # three and two records


def test_targets_are_those_of_the_most_demanding_member():
    domain = LevelMaps(("a",), ((np.array([0, 1], np.int32), np.array([0, 0], np.int32)),), (np.array([3, 2]),))
    codes = np.array([[0], [0], [0], [1], [1]], dtype=np.int32)
    objective = build("loss", "domain-loss()").objective(domain)
    for target, expected in (([3, 1, 1, 2, 1], (0,)), ([4, 1, 1, 2, 1], (1,)), ([6, 1, 1, 1, 1], None)):
        records = Records(domain, codes, target=np.array(target))
        found = search(NodeEvaluator(records, [build("model", "k-anonymity(k=1)")], objective, 0), (0,), (1,))
        assert (None if found.best is None else found.best.levels) == expected


def test_keys_wider_than_a_word():
    rng = np.random.default_rng(5)
    m, n = 14, 200
    codes = rng.integers(0, 100, (n, m)).astype(np.int32)
    codes[:, 2:] = codes[:, 1:2]  # 14 columns of 7 bits are 98 bits
    maps = tuple((np.arange(100, dtype=np.int32), np.arange(100, dtype=np.int32) // 10) for _ in range(m))
    domain = LevelMaps(
        tuple(map(str, range(m))), maps, tuple(np.bincount(codes[:, j], minlength=100) for j in range(m))
    )
    tables = ClassTables(Records(domain, codes))
    assert tables.layout.words == 2
    for levels in ((0,) * m, (1,) * m, (1, 0) * 7):
        coarse = np.column_stack([maps[j][level][codes[:, j]] for j, level in enumerate(levels)])
        expected = sorted(np.unique(coarse, axis=0, return_counts=True)[1].tolist())
        assert sorted(tables.counts(tables.at(levels)).size.tolist()) == expected
        rows = {tuple(row) for row in coarse.tolist()}
        assert {tuple(row) for row in tables.counts(tables.at(levels), codes=True).codes.tolist()} == rows


def test_a_large_lattice_is_not_refused(monkeypatch):
    monkeypatch.setattr(lattice, "ENUMERATED", 3)
    records = instance(2)
    objective = build("loss", "domain-loss()").objective(records.domain)
    top = tuple(records.domain.height(j) for j in range(len(records.domain)))
    found = search(NodeEvaluator(records, [build("model", "k-anonymity(k=3)")], objective, 5), (0,) * len(top), top)
    assert found.optimal
    assert found.best is not None
