"""The worked examples of fuzzy privacy, to the last fraction.

Where the source misprints a number the right one is asserted, and the printed one is named in a comment.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from celosia.fuzzy import FuzzySet, at_least, count, grid, is_partition, possibility_curve, q_anonymity, sigma_count
from celosia.kernels.fuzzy.closeness import equal_map, individual_distances, ordered_map, stepped_map, tree_map
from celosia.kernels.fuzzy.diversity import cell_counts, own_posterior, posterior, present_values, shares

EXACT = {"rel": 0, "abs": 1e-14}


def degrees(x, *literals):
    return np.column_stack([FuzzySet.parse(s)(np.asarray(x, float)) for s in literals])


def codes(values):
    return np.unique(values, return_inverse=True)[1]


# Table 3.1 ------------------------------------------------------------------------------------------------------------
ZIP = np.array([476, 476, 476, 479, 479, 479, 479, 476, 479, 479, 479, 479])
AGE = [29, 22, 27, 43, 52, 47, 36, 32, 55, 56, 61, 67]
SALARY = [3.5, 3.5, 5, 7, 7, 8, 9, 10, 9, 9, 10, 15]
ILL = ["UG", "GA", "CE", "GA", "GR", "BR", "NE", "CE", "AC", "AC", "AP", "NE"]
SALARY_SETS = ("(-inf;2;5)", "(2;5;8)", "(5;8;11)", "(8;11;inf)")
AGE_A = ("(-inf;30;42)", "(30;42;54)", "(42;54;66)", "(54;66;inf)")
AGE_B = ("(-inf;30;38)", "(30;38;42;54)", "(42;54;66)", "(54;66;inf)")
CELLS = ((476, 0, 0), (476, 0, 1), (479, 1, 2), (479, 2, 2), (479, 3, 3))


def table_3_1_cells(age_sets):
    age, salary = degrees(AGE, *age_sets), degrees(SALARY, *SALARY_SETS)
    return np.column_stack([(z == ZIP) * age[:, a] * salary[:, s] for z, a, s in CELLS])


def test_memberships_of_table_3_3_and_3_4():
    h, t = 1 / 2, 1 / 3
    salary = [[h, h, 0, 0]] * 2 + [[0, 1, 0, 0]] + [[0, t, 2 * t, 0]] * 2 + [[0, 0, 1, 0], [0, 0, 2 * t, t]]
    salary += [[0, 0, t, 2 * t]] + [[0, 0, 2 * t, t]] * 2 + [[0, 0, t, 2 * t], [0, 0, 0, 1]]
    assert degrees(SALARY, *SALARY_SETS) == pytest.approx(np.array(salary), **EXACT)
    age = [[12, 0, 0, 0]] * 3 + [[0, 11, 1, 0], [0, 2, 10, 0], [0, 7, 5, 0], [3, 9, 0, 0], [9, 3, 0, 0]]
    age += [[0, 0, 11, 1], [0, 0, 10, 2], [0, 0, 5, 7], [0, 0, 0, 12]]
    assert degrees(AGE, *AGE_B) == pytest.approx(np.array(age) / 12, **EXACT)
    as_printed = degrees(AGE, *AGE_A)  # rows 7 and 8 of the table do not follow from the printed sets
    assert as_printed[6:8, :2] == pytest.approx(np.array([[1 / 2, 1 / 2], [5 / 6, 1 / 6]]), **EXACT)
    assert is_partition(as_printed)


A_TABLE = [["1/2", "1/2", "0"], ["1/2", "1/2", "1/2"], ["7/12", "7/12", "1/3"], ["5/9", "5/9", "5/9"]]
B_TABLE = [*A_TABLE[:2], ["1/2", "1/2", "1/2"], A_TABLE[3]]
LAST = ["11/18", "7/18", "1/18"]


@pytest.mark.parametrize(
    ("sets", "table", "mean", "sizes"),
    [
        (AGE_A, A_TABLE, ["11/20", "91/180", "13/45"], [1, 2, 2, 3, 1]),
        (AGE_B, B_TABLE, ["8/15", "22/45", "29/90"], [1, 2, 3, 3, 1]),
    ],
)
def test_example_3_9_corrected(sets, table, mean, sizes):
    """The printed Table 3.5 mixes the minimum with plain sorted degrees; these follow from (2.9) and the product."""
    mu = table_3_1_cells(sets)
    assert mu[0, 0] == 0.5  # Example 3.7
    got = at_least(mu, [1, 2, 3]).T
    want = [[float(Fraction(v)) for v in row] for row in [*table, LAST]]
    assert got == pytest.approx(np.array(want), **EXACT)
    curve = possibility_curve(mu.T)
    assert curve[1:4] == pytest.approx([float(Fraction(v)) for v in mean], **EXACT)
    assert count(mu).tolist() == sizes
    assert q_anonymity(curve) == (2 if sets is AGE_A else 1)


def test_the_chosen_cells_are_no_partition():
    """Row 8 belongs to none of the five cells: the rest of the grid is not negligible."""
    mu = table_3_1_cells(AGE_A)
    assert mu[7].sum() == 0
    assert not is_partition(mu)
    whole = grid([(ZIP[:, None] == [476, 479]).astype(float), degrees(AGE, *AGE_A), degrees(SALARY, *SALARY_SETS)])
    assert whole.shape == (12, 32)
    assert is_partition(whole)


def test_example_3_11_homogeneity_survives():
    ill = [*ILL]
    ill[4] = "AC"  # Table 3.10
    held = present_values(table_3_1_cells(AGE_B), codes(ill), len(set(ill)))
    assert held.sum(axis=1).tolist()[3] == 1  # only heart attack


def test_examples_3_13_3_16_3_18():
    mu = table_3_1_cells(AGE_B)
    k = codes(ILL)
    gastritis = k[1]
    counts = cell_counts(mu, k, 8, "count")
    assert counts[:, gastritis].tolist() == [1, 1, 1, 0, 0]
    q = mu[3:4]
    assert q == pytest.approx(np.array([[0, 0, 11 / 18, 1 / 18, 0]]), **EXACT)
    totals = count(mu).astype(float)
    assert (q @ counts)[0, gastritis] == pytest.approx(11 / 18, **EXACT)  # printed .6164
    f = (q @ shares(counts, totals))[0, gastritis]
    assert f == pytest.approx(11 / 54, **EXACT)  # printed 0.75, with the degrees of another row
    prior = np.zeros((1, 8))
    prior[0, gastritis] = 1
    g, beta = posterior(q, prior, counts, totals)
    assert g[0, gastritis] == pytest.approx(3, **EXACT)  # printed .82187
    assert beta[0, gastritis] == 1
    # Theorem 3.15 fails on the source's own data: ties at one half
    assert counts.sum(axis=1).tolist()[:2] == [2, 3]
    assert totals.tolist()[:2] == [1, 2]
    assert shares(counts, totals).sum(axis=1)[0] == 2
    assert shares(counts).sum(axis=1) == pytest.approx(1)
    assert cell_counts(mu, k, 8).sum(axis=1) == pytest.approx(sigma_count(mu))


def test_example_3_10():
    ages = [21, 24, 32, 36, 45, 56, 58, 62, 65]
    mu = degrees(ages, "(-inf;30;36)", "(30;36;54;60)", "(54;60;inf)")
    t = 1 / 3
    want = np.array([[2 * t, 2 * t, 2 * t, 0, 0], [2 * t, 2 * t, 2 * t, t, t], [2 * t, 2 * t, 2 * t, t, 0]])
    assert pytest.approx(want, **EXACT) == at_least(mu, [1, 2, 3, 4, 5]).T  # Adult at 4 is printed 0
    curve = possibility_curve(mu.T)
    assert curve[1:6] == pytest.approx([2 * t, 2 * t, 2 * t, 2 / 9, 1 / 9], **EXACT)  # printed 0.11 at 4
    assert q_anonymity(curve) == 3
    assert count(mu).tolist() == [3, 3, 3]
    assert sigma_count(mu) == pytest.approx([8 / 3, 10 / 3, 3], **EXACT)


def test_example_3_19():
    counted = {21: (10, 15, 25), 22: (5, 5, 15), 23: (15, 5, 5), 24: (10, 10, 30), 25: (10, 5, 10)}
    age = np.array([a for a, c in counted.items() for _ in range(sum(c))])
    ill = np.array([s for c in counted.values() for s, n in enumerate(c) for _ in range(n)])
    mu = degrees(age, "(-inf;20;23)", "(20;23;26)", "(23;26;inf)")
    totals, counts = count(mu).astype(float), cell_counts(mu, ill, 3, "count")
    assert totals.tolist() == [50, 100, 25]
    assert counts.T.tolist() == [[10, 30, 10], [15, 20, 5], [25, 50, 10]]
    place = [int(np.flatnonzero(age == a)[0]) for a in counted]
    prior = shares(np.array(list(counted.values()), float))
    g, beta = posterior(mu[place], prior, counts, totals)
    assert g[0] == pytest.approx([100 / 7, 75 / 4, 100 / 3], **EXACT)
    want = [[48, 63, 112], [49, 44, 140], [3, 1, 1], [98, 105, 330], [260, 143, 308]]
    assert beta == pytest.approx(shares(np.array(want, float)), **EXACT)  # 48/223 …
    own = own_posterior(mu, age, ill, counts, totals)
    assert own == pytest.approx(beta[age - 21, ill])


EX_3_22 = "(-inf;25;30)", "(25;30;35;40)", "(35;40;inf)"
AGE_3_22 = [29, 22, 27, 43, 52, 47, 30, 36, 32]
PAY_3_22 = np.array([3, 4, 5, 6, 11, 8, 7, 9, 10])
ILL_3_22 = ["UG", "GA", "CE", "GA", "GR", "BR", "BR", "PN", "CE"]


def test_example_3_22_salary():
    mu = degrees(AGE_3_22, *EX_3_22)
    P = shares(cell_counts(mu, PAY_3_22 - 3, 9, "count"))
    d = individual_distances(mu, ordered_map(P - 1 / 9))
    want = [
        Fraction(47, 720),
        Fraction(49, 144),
        Fraction(8, 45),
        Fraction(1, 6),
        Fraction(1, 6),
        Fraction(1, 6),
        Fraction(29, 288),
        Fraction(11, 120),
        Fraction(29, 288),
    ]
    assert d == pytest.approx([float(v) for v in want], **EXACT)
    assert d.max() == pytest.approx(49 / 144, **EXACT)  # the source reports the minimum, .0653
    # equal steps: the distance by value is the ordered one
    assert individual_distances(mu, stepped_map(P - 1 / 9, np.full(8, 1 / 8))) == pytest.approx(d, **EXACT)


def test_example_3_22_disease():
    mu = degrees(AGE_3_22, *EX_3_22)
    k = codes(ILL_3_22)
    P = shares(cell_counts(mu, k, 6, "count"))
    uniform = individual_distances(mu, equal_map(P - 1 / 6))
    want = [
        Fraction(7, 30),
        Fraction(2, 3),
        Fraction(11, 30),
        Fraction(1, 2),
        Fraction(1, 2),
        Fraction(1, 2),
        Fraction(1, 3),
        Fraction(1, 5),
        Fraction(1, 3),
    ]
    assert uniform == pytest.approx([float(v) for v in want], **EXACT)  # the printed reference, 1/6 each
    true = individual_distances(mu, equal_map(P - np.bincount(k) / 9))
    want = [
        Fraction(23, 90),
        Fraction(5, 9),
        Fraction(23, 90),
        Fraction(4, 9),
        Fraction(4, 9),
        Fraction(4, 9),
        Fraction(1, 3),
        Fraction(2, 9),
        Fraction(1, 3),
    ]
    assert true == pytest.approx([float(v) for v in want], **EXACT)


def test_the_crisp_example_2_25():
    pay = np.array([3, 4, 5, 6, 11, 8, 7, 9, 10])
    mu = np.repeat(np.eye(3), 3, axis=0)
    P = shares(cell_counts(mu, pay - 3, 9))
    d = individual_distances(mu, ordered_map(P - 1 / 9))
    assert d[[0, 3, 6]] == pytest.approx([3 / 8, 1 / 6, 17 / 72], **EXACT)


def test_the_tree_distance_is_the_published_recursion():
    """cost(N) = height(N) / H · min(pos, neg), summed over inner nodes (Li, Li & Venkatasubramanian 2007)."""
    levels = np.array([[0, 10, 20, 99], [1, 10, 20, 99], [2, 11, 20, 99], [3, 12, 21, 99], [4, 12, 21, 99]])
    rng = np.random.default_rng(1)
    for _ in range(20):
        p, q = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
        want = 0.0
        for level in (1, 2, 3):
            for node in set(levels[:, level]):
                inside = levels[:, level] == node
                extra = [(p - q)[levels[:, level - 1] == child].sum() for child in set(levels[inside, level - 1])]
                pos, neg = sum(e for e in extra if e > 0), -sum(e for e in extra if e < 0)
                want += level / 3 * min(pos, neg)
        got = individual_distances(np.ones((1, 1)), tree_map((p - q)[None], levels))[0]
        assert got == pytest.approx(want)


def test_one_category_tree_and_one_value():
    assert individual_distances(np.ones((1, 1)), ordered_map(np.zeros((1, 1)))).tolist() == [0]
    assert individual_distances(np.ones((1, 1)), stepped_map(np.zeros((1, 1)), np.zeros(0))).tolist() == [0]


def test_aggregations_and_empty_cells():
    crisp = np.zeros((5, 3))
    crisp[:2, 0] = crisp[2:, 1] = 1  # classes of 2 and 3, the third cell is empty
    assert q_anonymity(possibility_curve(crisp.T, "min")) == 2  # k-anonymity
    assert q_anonymity(possibility_curve(crisp.T, "product")) == 2
    assert q_anonymity(possibility_curve(crisp.T, "mean")) == 3  # the small class hides behind the large one
    assert possibility_curve(crisp.T, "weighted")[3] == pytest.approx(3 / 5)
    assert possibility_curve([]).tolist() == [0]
    assert q_anonymity(np.zeros(4)) == 0
