"""Values learnt from groups, noise taken off again, randomised categories turned back, and who owns which record."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from celosia.kernels.disclosure import own_records
from celosia.kernels.disclosure.own_records import Own
from celosia.release.explain_risk import cheapest_blanking, smallest_sets
from celosia.risk.attacks.transparency.assignment import BALANCE, Assignment, assign_values, credit
from celosia.risk.attacks.transparency.category_posterior import posterior, prior
from celosia.risk.attacks.transparency.noise_posterior import comparable, estimate, signal
from celosia.risk.bases.nearest import scale_columns


def _assigned(features, group, truth, rounds) -> dict[tuple[int, int], float]:
    """The chances of pairs by plain loops over records and values."""
    n = len(group)
    counts = {g: {} for g in set(group)}
    for g, s in zip(group, truth, strict=True):
        counts[g][s] = counts[g].get(s, 0) + 1
    w = {(i, s): c / sum(counts[group[i]].values()) for i in range(n) for s, c in counts[group[i]].items()}
    for _ in range(rounds):
        weight = {s: sum(v for (_, other), v in w.items() if other == s) for s in set(truth)}
        new = {}
        for i, s in w:
            p = weight[s]
            for q in features:
                same = sum(v for (j, other), v in w.items() if other == s and q[j] == q[i])
                p *= (1 + same) / (max(q) + 1 + weight[s])
            new[i, s] = p
        for _ in range(BALANCE):
            for g in counts:
                for s, count in counts[g].items():
                    column = [(i, s) for i in range(n) if group[i] == g]
                    factor = count / sum(new[pair] for pair in column)
                    new.update({pair: new[pair] * factor for pair in column})
            for i in range(n):
                row = [(i, s) for s in counts[group[i]]]
                total = sum(new[pair] for pair in row)
                new.update({pair: new[pair] / total for pair in row})
        w = new
    return w


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_learning_against_plain_loops(seed, rounds):
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(4), rng.integers(0, 4, 10)])
    truth = rng.integers(0, 4, 14) * 2  # codes with gaps
    features = [rng.integers(0, 3, 14), np.arange(14) % 2]
    pairs = assign_values(features, group, truth, rounds)
    slow = _assigned([f.tolist() for f in features], group.tolist(), truth.tolist(), rounds)
    found = dict(zip(zip(pairs.record.tolist(), pairs.value.tolist(), strict=True), pairs.chance, strict=True))
    assert found.keys() == slow.keys()
    assert [found[pair] for pair in slow] == pytest.approx(list(slow.values()), rel=1e-9, abs=1e-12)
    # one value per record, and what somebody says who learns nothing
    assert np.bincount(pairs.record, pairs.chance) == pytest.approx(np.ones(14))
    shares = [np.mean(truth[group == group[i]] == s) for i, s in zip(pairs.record, pairs.value, strict=True)]
    assert pairs.share == pytest.approx(shares)


def test_a_feature_that_tells_the_value_is_learnt():
    """Groups of one record of each kind: alone they tell nothing, all together they tell everything."""
    rng = np.random.default_rng(1)
    kind = np.concatenate([rng.permutation(2) for _ in range(40)])
    group, mixed = np.arange(80) // 2, rng.integers(0, 2, 80)
    group = np.concatenate([group, np.arange(40, 60)])  # singles, from which it is learnt
    kind, mixed = np.concatenate([kind, np.arange(20) % 2]), np.concatenate([mixed, mixed[:20]])
    pairs = assign_values([kind, mixed], group, kind)
    assert credit(pairs, pairs.chance, kind).tolist() == [1.0] * 100
    assert credit(pairs, pairs.share, kind)[:80].tolist() == [0.5] * 80
    useless = assign_values([mixed * 0], group, kind)
    assert credit(useless, useless.chance, kind)[:80] == pytest.approx([0.5] * 80)


def test_credit_is_shared_by_equally_likely_values():
    pairs = Assignment(
        np.array([0, 0, 0, 1, 2]), np.array([5, 6, 7, 5, 6]), np.array([0.4, 0.4, 0.2, 1, 1]), np.ones(5)
    )
    assert credit(pairs, pairs.chance, np.array([6, 5, 5])).tolist() == [0.5, 1.0, 0.0]
    assert credit(pairs, pairs.chance, np.array([7, 6, 6])).tolist() == [0.0, 0.0, 1.0]


def test_groups_of_nobody():
    none = np.zeros(0, np.int64)
    assert len(assign_values([none], none, none).chance) == 0
    assert len(credit(assign_values([none], none, none), np.zeros(0), none)) == 0


NOISE = np.array([[1.0, 0.3], [0.3, 0.5]])


def noisy(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Normal records and what is published of them."""
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal([5.0, -3.0], [[2.0, 1.2], [1.2, 1.5]], n)
    return x, x + rng.multivariate_normal([0, 0], NOISE, n)


def test_the_estimate_behind_noise_is_the_conditional_mean():
    _, y = noisy(300)
    mean, total, behind = signal(y, NOISE)
    assert mean == pytest.approx(y.mean(axis=0))
    assert total == pytest.approx(np.cov(y.T, ddof=0))
    found, left = estimate(y, NOISE)
    # precision form of the same posterior: (Σx⁻¹ + Σe⁻¹)⁻¹ (Σx⁻¹ μ + Σe⁻¹ y)
    a, b = np.linalg.inv(behind), np.linalg.inv(NOISE)
    assert left == pytest.approx(np.linalg.inv(a + b))
    assert found[7] == pytest.approx(np.linalg.solve(a + b, a @ mean + b @ y[7]))


@pytest.mark.parametrize(("factor", "accepted"), [(1.0, True), (0.7, False), (1.3, False)])
def test_what_is_left_has_the_stated_spread(factor, accepted):
    x, y = noisy(20_000)
    found, left = estimate(y, NOISE)
    spread = (found - x).std(axis=0)
    assert np.allclose(spread, factor * np.sqrt(np.diag(left)), rtol=0.05) == accepted
    assert (spread < (y - x).std(axis=0)).all()


def test_a_missing_value_leaves_the_others_to_themselves():
    _, y = noisy(50)
    holes = np.vstack([y, [[7.0, np.nan], [np.nan, np.nan]]])
    found, _ = estimate(holes, NOISE)
    mean, total, behind = signal(y, NOISE)
    assert found[:50] == pytest.approx(estimate(y, NOISE)[0])
    assert found[50, 0] == pytest.approx(mean[0] + behind[0, 0] / total[0, 0] * (7.0 - mean[0]))
    assert np.isnan(found[50, 1])
    assert np.isnan(found[51]).all()
    assert estimate(y[:0], NOISE)[0].shape == (0, 2)


def test_noise_that_explains_everything_leaves_the_mean():
    y = np.array([[1.0], [3.0], [5.0]])
    found, left = estimate(y, np.array([[100.0]]))
    assert found.ravel() == pytest.approx([3.0, 3.0, 3.0])
    assert left == pytest.approx(np.zeros((1, 1)))


def test_the_nearest_comparable_record_has_the_best_odds():
    from scipy.stats import multivariate_normal

    x, y = noisy(60)
    mean, total, _ = signal(y, NOISE)
    known, published = comparable(x, y, NOISE)
    near = ((known[:, None] - published[None]) ** 2).sum(axis=2)
    for i in range(60):
        odds = multivariate_normal(x[i], NOISE).logpdf(y) - multivariate_normal(mean, total).logpdf(y)
        assert np.argsort(near[i]).tolist() == np.argsort(-odds).tolist()
        # not only the order: half of the squared distance is the logarithm of the odds, up to a constant
        assert np.ptp(near[i] / 2 + odds) < 1e-8
    holes = y.copy()
    holes[3, 0] = np.nan
    assert np.isfinite(comparable(x, holes, NOISE)[1]).all()


@pytest.mark.parametrize("units", [(1.0, 1e5), (1e-9, 1e6)])
def test_what_is_known_of_noise_does_not_depend_on_units(units):
    x, y = noisy(80)
    wide = NOISE * np.outer(units, units)
    assert estimate(y * units, wide)[0] / units == pytest.approx(estimate(y, NOISE)[0], rel=1e-6)
    assert estimate(y * units, wide)[1] / np.outer(units, units) == pytest.approx(estimate(y, NOISE)[1], rel=1e-6)
    for links in (comparable, lambda a, b, _: scale_columns(a, b, "mahalanobis")):
        far = [cdist(*links(*files)) for files in ((x, y, NOISE), (x * units, y * units, wide))]
        assert far[1] == pytest.approx(far[0], rel=1e-5)


def test_mahalanobis_distances_against_the_inverse():
    x, y = noisy(40)
    inverse = np.linalg.inv(np.cov(x.T, ddof=0))
    assert cdist(*scale_columns(x, y, "mahalanobis")) == pytest.approx(cdist(x, y, "mahalanobis", VI=inverse))
    # a column that is the sum of the others adds nothing
    both = [np.column_stack([part, part.sum(axis=1)]) for part in (x, y)]
    assert cdist(*scale_columns(*both, "mahalanobis")) == pytest.approx(
        cdist(*scale_columns(x, y, "mahalanobis")), rel=1e-6
    )


@pytest.mark.parametrize("block", [1, 2, 5, 4_000_000])
def test_own_records_against_plain_loops(block, monkeypatch):
    monkeypatch.setattr(own_records, "BLOCK", block)
    rng = np.random.default_rng(2)
    source, target = rng.integers(0, 9, 12), rng.integers(2, 11, 15)
    fits = rng.random((12, 15)) < 0.5
    own = Own.of(source, target)
    mine = source[:, None] == target[None]
    assert own.numbers().tolist() == mine.sum(axis=1).tolist()
    assert own.count(lambda i, j: fits[i, j]).tolist() == (mine & fits).sum(axis=1).tolist()
    truth = np.array([3, -1, 0, 14, -1])
    single = Own.single(truth)
    expected = [int(t >= 0 and fits[i, t]) for i, t in enumerate(truth)]
    assert single.count(lambda i, j: fits[i, j]).tolist() == expected
    assert Own.of(source[:0], target).count(lambda i, j: fits[i, j]).tolist() == []
    assert Own.of(source, target[:0]).count(lambda i, j: fits[i, j]).tolist() == [0] * 12


def test_the_likeliest_shares_of_randomised_categories():
    rng = np.random.default_rng(3)
    matrix = rng.dirichlet(np.ones(3) * 2, 3) * 0.5 + np.eye(3) * 0.5
    true = np.array([0.5, 0.3, 0.2])
    found = prior(1000 * true @ matrix, matrix)
    assert found == pytest.approx(true, abs=1e-6)  # the unbiased estimate, where that is one
    # counts that no shares explain: the unbiased estimate is negative, the likeliest lies on the rim
    counts = np.array([5.0, 0.0, 95.0])
    assert (np.linalg.solve(matrix.T, counts / 100) < 0).any()
    rim = prior(counts, matrix)
    assert (rim >= 0).all()
    assert rim.sum() == pytest.approx(1.0)

    def likelihood(shares: np.ndarray) -> float:
        return float(counts @ np.log(shares @ matrix))

    for other in rng.dirichlet(np.ones(3), 50):
        assert likelihood(0.95 * rim + 0.05 * other) <= likelihood(rim) + 1e-6
    told = posterior(found, matrix)
    assert told.sum(axis=0) == pytest.approx(np.ones(3))
    assert told @ (found @ matrix) == pytest.approx(found)  # on average nothing was learnt
    assert posterior(np.array([0.2, 0.8]), np.array([[1.0, 0.0], [1.0, 0.0]]))[:, 1].tolist() == [0.2, 0.8]


def test_sets_of_columns_against_all_of_them():
    def chance(columns: frozenset[str]) -> float:
        return 1.0 if {"a", "b"} <= columns or {"b", "c", "d"} <= columns else 0.2

    assert smallest_sets(chance, "abcde", 0.5) == [("a", "b"), ("b", "c", "d")]
    assert smallest_sets(chance, "abcde", 0.2) == [(name,) for name in "abcde"]
    assert smallest_sets(chance, "acde", 0.5) == []
    assert smallest_sets(lambda s: len(s) / 5, "abcde", 0.9) == [tuple("abcde")]  # none of three
    cost = {"a": 2.0, "b": 5.0, "c": 2.0, "d": 3.0, "e": 0.1}
    assert cheapest_blanking([(chance, "abcde")], cost, 0.5) == ("a", "c")  # 4, less than b alone
    assert cheapest_blanking([(chance, "abcde")], {**cost, "b": 3.9}, 0.5) == ("b",)
    assert cheapest_blanking([(chance, "abcde")], cost, 0.1) is None
    assert cheapest_blanking([(chance, "ae"), (chance, "ab")], cost, 0.5) == ("a",)
    assert cheapest_blanking([(chance, "ae")], cost, 0.5) == ()
