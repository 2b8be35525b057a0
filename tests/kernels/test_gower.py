"""Mixed groups against a plain second way; distances between words."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.kernels.neighbours.gower import LABEL, NUMBER, ORDER, TABLE, Mixed, edit_distances, mdav_mixed


def plain(cells, kinds, weights, table, k):
    n = len(cells)
    group = np.full(n, -1)
    rest = np.arange(n)
    label = 0

    def away(x):
        total = np.zeros(len(rest))
        for j, kind in enumerate(kinds):
            a = cells[rest, j]
            if kind == LABEL:
                total += weights[j] * (a != x[j])
            elif kind == TABLE:
                total += weights[j] * table[a.astype(int), int(x[j])]
            else:
                total += weights[j] * np.abs(a - x[j])
        return total

    def centre():
        out = []
        for j, kind in enumerate(kinds):
            a = cells[rest, j]
            if kind == NUMBER:
                out.append(a.mean())
            elif kind == ORDER:
                out.append(np.sort(a)[(len(a) - 1) // 2])
            else:
                out.append(np.argmax(np.bincount(a.astype(int))))
        return np.array(out)

    def take(x):
        nonlocal rest, label
        pick = np.argsort(away(x), kind="stable")[:k]
        group[rest[pick]] = label
        label += 1
        rest = np.delete(rest, pick)

    while len(rest) >= 2 * k:
        r = rest[np.argmax(away(centre()))]
        take(cells[r])
        if len(rest) >= 2 * k:
            take(cells[rest[np.argmax(away(cells[r]))]])
    group[rest] = label
    return group


@pytest.mark.parametrize("seed", range(8))
def test_groups_as_defined(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 90)), int(rng.integers(2, 5))
    # steps of 1/64 keep every sum exact, so that both ways see the same ties
    cells = np.column_stack(
        [rng.integers(0, 65, n) / 64, rng.integers(0, 5, n) / 4, rng.integers(0, 4, n), rng.integers(0, 3, n)]
    ).astype(float)
    kinds = np.array([NUMBER, ORDER, LABEL, TABLE])
    weights = np.array([1.0, 2.0, 0.5, 1.0])
    table = np.array([[0.0, 0.25, 1], [0.25, 0, 0.5], [1, 0.5, 0]])
    sizes = np.array([0, 5, 4, 3])
    found = mdav_mixed(Mixed(cells, kinds, weights, table.reshape(-1), np.zeros(4, np.int64), sizes), k)
    assert found.tolist() == plain(cells, kinds, weights, table, k).tolist()


def test_edit_distances_by_hand():
    words = ["kitten", "sitting", "", "kit"]
    letters = [np.frombuffer(word.encode("utf-32-le"), np.uint32) for word in words]
    begin = np.concatenate([[0], np.cumsum([len(x) for x in letters])])
    table = edit_distances(np.concatenate(letters).astype(np.int64), begin)
    assert table[0, 1] == pytest.approx(3 / 7)
    assert table[0, 2] == 1
    assert table[0, 3] == pytest.approx(3 / 6)
    assert (table == table.T).all()
    assert (np.diag(table) == 0).all()
