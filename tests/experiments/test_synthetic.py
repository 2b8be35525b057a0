"""The experiments on synthetic data: printed tables, set-ups, trends, the page."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from celosia.errors import DataError
from celosia.experiments.fuzzy_privacy.study import read_census
from celosia.experiments.synthetic import choice, reproduce
from celosia.experiments.synthetic.setups import S1, S2, five_groups, next_columns, printed, printed_s3
from celosia.experiments.synthetic.steps import steps
from celosia.experiments.synthetic.sweeps import Point, example, rotating


def quiet(*_):
    return None


def test_the_printed_scores_are_means_of_loss_and_risk():
    rows = [*printed(5).values(), *printed(6).values(), *printed(7).values(), *printed_s3().values()]
    assert len(rows) == 87
    assert max(abs(row.score - (row.pil + row.dr) / 2) for row in rows) < 0.0062


def test_the_setups_are_positions_in_the_file(shared):
    x = read_census(shared("data/census.csv"))
    assert (x[:, 4] == x[:, 7] + x[:, 9]).all()
    assert {5, 8, 10} <= set(S1.independent)
    assert {5, 8, 10} <= set(S2.independent)
    assert sorted(S1.dependent + S1.independent) == sorted(S2.dependent + S2.independent) == list(range(1, 14))
    assert next_columns(13, 2) == [1, 2]
    assert sorted(next_columns(4, 12)) == [v for v in range(1, 14) if v != 4]


def test_more_regressions_and_more_columns_lose_less_and_disclose_more(shared):
    x = read_census(shared("data/census.csv"))
    found = rotating(x, [2, 4], [1, 12], False, quiet)
    assert abs(found[2, 12].pil - 35.483) < 1.5  # all columns together
    assert abs(found[4, 12].pil - 20.786) < 1.5
    assert abs(found[2, 1].pil_alone - 63.961) < 1.5  # column by column
    for reading in ("pil", "pil_alone"):
        values = {key: getattr(point, reading) for key, point in found.items()}
        assert values[2, 1] > values[4, 1] > values[4, 12]
        assert values[2, 1] > values[2, 12] > values[4, 12]
    assert found[2, 1].dr < found[4, 1].dr < found[4, 12].dr
    assert found[2, 1].dr < found[2, 12].dr < found[4, 12].dr


def test_the_example_falls_and_rises():
    found, pictures = example([1, 3, 5, 8], 4, (5,))
    assert found[1].pil > found[3].pil > found[5].pil > found[8].pil
    assert found[1].dr < found[3].dr < found[5].dr < found[8].dr
    assert len(np.unique(pictures[5].cluster)) == 5
    assert five_groups(np.random.default_rng(0))[0].shape == (150, 1)


def test_the_choice_of_c():
    points = {str(c): Point(p, d, p, d) for c, p, d in ((2, 40.0, 10.0), (3, 30.0, 20.0), (4, 18.0, 26.0))}
    assert choice(points) == {
        "best c": 4,
        "loss falls below risk between": (3, 4),
        "first c with a loss of at most 20": 4,
    }


def test_the_report_is_written_and_opens_offline(shared, tmp_path):
    told = []
    found = reproduce(
        shared("data/census.csv"),
        tmp_path,
        lambda what, share: told.append(share),
        starts=1,
        numbers=(2, 6),
        surface=(2, 2),
    )
    assert found["within 4 points of the printed ones"] == found["losses of S1 compared"] == 2
    assert found["identities"]["S1"]["C"]["residual covariance"] < 1e-10
    assert told[-1] == 1.0
    assert told == sorted(told)
    page = (tmp_path / "synthetic.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=", page)
    assert "<script" not in page
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ET.fromstring(svg)
    assert len(re.findall("<svg", page)) == 6
    assert "What cannot be reproduced" in page
    assert json.loads((tmp_path / "synthetic.json").read_text())["S1"]["IPSO-A"]["pil"] == pytest.approx(
        61.946, abs=0.001
    )


def test_another_file_is_refused(tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not the census reference file"):
        reproduce(other, tmp_path)


def test_the_regressions_can_be_watched():
    x, y = five_groups(np.random.default_rng(1))
    found = [step for step, _ in zip(steps(x, y[:, 0], 5, np.random.default_rng(2)), range(12), strict=False)]
    assert [step.iteration for step in found] == list(range(1, 13))
    assert all(b.objective <= a.objective * (1 + 1e-12) for a, b in pairwise(found))
    last = found[-1]
    assert last.memberships.shape == (150, 5)
    assert last.lines.shape == (5, 2)
    assert last.score == (last.pil + last.dr) / 2
    assert 0 <= last.pil <= 80
    nearest = last.memberships.argmax(axis=1)
    assert np.allclose(last.synthetic, last.lines[nearest, 0] + last.lines[nearest, 1] * x[:, 0])
