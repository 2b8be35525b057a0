"""The experiments on synthetic data: printed tables, set-ups, trends, the page."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest

from celosia.cli.main import run as command
from celosia.errors import DataError
from celosia.kernels.synthesis.fuzzy_regression import five_groups
from celosia.parts import build
from celosia.release.protect import protect
from celosia.table import read
from celosia_reproduce.fuzzy_privacy.study import read_census
from celosia_reproduce.synthetic import reproduce
from celosia_reproduce.synthetic.comparison import checked, lines
from celosia_reproduce.synthetic.conclusions import _of_sweep, best, choice, crossing, of_the_text, reaching
from celosia_reproduce.synthetic.measures import Point, measured_alone
from celosia_reproduce.synthetic.setups import S1, S2, next_columns, printed, printed_s3
from celosia_reproduce.synthetic.sweeps import EQUATION, SUM, census_table, constrained, example, rotating


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
    for reading in ("dr", "dr_relative", "dr_alone", "dr_alone_relative"):
        values = {key: getattr(point, reading) for key, point in found.items()}
        assert values[2, 1] < values[4, 1] < values[4, 12]
        assert values[2, 1] < values[2, 12] < values[4, 12]


def test_the_risk_has_both_linkages_and_the_intervals(shared):
    """All of DR by hand from its three parts, for a file of two columns and for the mean of two files of one."""
    x = read_census(shared("data/census.csv"))[:, [4, 6]]
    made = x + np.random.default_rng(1).normal(0, 0.1, x.shape) * x.std(axis=0)
    point = measured_alone(x, made)

    def risk(columns, window):
        before, after = (read(pl.DataFrame(values[:, columns])) for values in (x, made))
        known = {"known": (3, 5, 8)}
        linked = [build("attack", {"use": use, **known}) for use in ("distance-linkage", "probabilistic-linkage")]
        inside = build("attack", {"use": "interval-disclosure", "window": window})
        distance, agreement, interval = (attack.value(before, after) for attack in (*linked, inside))
        assert min(distance, agreement, interval) > 0
        return 100 * (0.25 * distance + 0.25 * agreement + 0.5 * interval)

    assert point.dr == pytest.approx(risk([0, 1], "rank"))
    assert point.dr_relative == pytest.approx(risk([0, 1], "relative"))
    assert point.dr_alone == pytest.approx((risk([0], "rank") + risk([1], "rank")) / 2)
    assert point.dr_alone_relative == pytest.approx((risk([0], "relative") + risk([1], "relative")) / 2)


def test_a_constraint_holds_in_every_record(shared):
    table = census_table(read_census(shared("data/census.csv")))
    found = constrained(table, c=2)
    assert EQUATION.split()[0] == SUM[0]
    assert found["constrained"]["records where it holds"] == 1.0
    assert found["free"]["records where it holds"] < 0.05


def test_printed_numbers_at_the_default_and_at_the_nearest_reading():
    point = Point(50.0, 30.0, 40.0, 20.0)
    (row,) = lines({6: ({"2": point}, {"2": printed(6)["2"]})}, {}, ({}, {}))
    default, nearest = (checked([row], nearest=near) for near in (False, True))
    assert [s.computed for s in default] == [50.0, 30.0, 40.0]
    assert [s.computed for s in nearest] == [40.0, 20.0, 30.0]  # printed: 44.677, 9.583, 27.13
    assert [s.agrees for s in default] == [False, False, False]
    assert [s.agrees for s in nearest] == [False, False, True]
    assert all(s.why for s in (*default, *nearest) if not s.agrees)
    beyond = list(lines({}, printed_s3(), ({(2, 1): point}, {(2, 1): point})))
    assert [line.name for line in beyond[:2]] == ["c = 2, N = 1", "c = 2, N = 13"]
    assert beyond[1].statement("PIL", nearest=True).computed is None


def test_what_the_text_says_of_its_tables():
    tables = {number: printed(number) for number in (5, 6, 7)} | {8: {str(at): row for at, row in printed_s3().items()}}
    said = of_the_text(tables)
    assert [(s.stated, s.computed) for s in said] == [(13, 12), (81, 77), (87, 87)]
    assert {s.origin for s in said} == {"consistency"}, "print against print: nothing was run"


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
    with_rival = choice({**points, "IPSO-A": Point(35.0, 22.0, 0, 0)})
    assert with_rival["loss below IPSO-A from c"] == 3
    assert with_rival["risk above IPSO-A from c"] == 4
    assert with_rival["score below IPSO-A from c"] == 2
    source = choice(printed(6))
    assert source["best c"] == 12
    assert source["loss falls below risk between"] == (6, 7)
    assert choice({}) == {}


def test_the_report_is_written_and_opens_offline(shared, tmp_path):
    told = []
    found = reproduce(
        shared("data/census.csv"),
        tmp_path,
        lambda what, share: told.append(share),
        starts=1,
        numbers=(2, 6),
        surface=(2, 2),
        repeats=1,
    )
    of_s1 = [s for s in found["statements"] if s["where"] == "Table 6" and s["what"] in ("PIL, c = 2", "PIL, c = 6")]
    assert [s["agrees"] for s in of_s1] == [True, True]
    assert found["come out"] < found["come out at the choice nearest to print"]
    assert found["counts"]["consistency"]["checked"] == 3
    assert found["match within"] == 4
    assert found["conclusions that hold"].startswith(str(sum(c["holds"] for c in found["conclusions"])))
    assert {s["what"] for s in found["statements"]} >= {c["conclusion"] for c in found["conclusions"]}
    assert all(s["why"] for s in found["statements"] if not s["agrees"])
    assert found["identities"]["S1"]["C"]["residual covariance"] < 1e-10
    assert told[-1] == 1.0
    assert told == sorted(told)
    page = (tmp_path / "synthetic.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=", page)
    assert "<script" not in page
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ET.fromstring(svg)
    assert len(re.findall("<svg", page)) == 7
    for text in ("Which conclusions hold here", "nearest to print", "DR by column"):
        assert text in page
    assert json.loads((tmp_path / "synthetic.json").read_text())["S1"]["IPSO-A"]["pil"] == pytest.approx(
        61.946, abs=0.001
    )


@pytest.mark.long
def test_the_whole_experiment(shared, tmp_path, as_documented):
    as_documented("synthetic", reproduce(shared("data/census.csv"), tmp_path))


def test_another_file_is_refused(tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not the census reference file"):
        reproduce(other, tmp_path)


def test_operating_points():
    cs, pil, dr = [2, 3, 4, 5], [40.0, 30.0, 20.0, 10.0], [10.0, 15.0, 22.0, 30.0]
    assert crossing(cs, pil, dr) == (3, 4)
    assert crossing(cs, pil, [0.0] * 4) is None
    assert best(cs, [(p + d) / 2 for p, d in zip(pil, dr, strict=True)]) == 5
    assert reaching(cs, pil, 25.0) == 4
    assert reaching(cs, pil, 5.0) is None


def test_the_printed_risks_of_ipso_a_leave_whole_numbers_of_links(shared):
    """DR = (DBRL + PRL) / 4 + ID / 2: with relative intervals the printed DR leaves 30 and 87 links of 1080 records."""
    table = census_table(read_census(shared("data/census.csv")))
    for setup, number, links in ((S1, 6, 30), (S2, 7, 87)):
        dependent, independent = setup.columns
        made = protect(
            table, {"use": "ipso", "variant": "A", "dependent": dependent, "independent": independent}, seed=1
        )
        left = {}
        for window in ("relative", "rank"):
            attack = build("attack", {"use": "interval-disclosure", "columns": dependent, "window": window})
            left[window] = 4 * (printed(number)["IPSO-A"].dr - 50 * attack.value(table, made)) / 100 * 1080
        assert left["relative"] == pytest.approx(links, abs=0.3)
        assert left["rank"] < 0


@pytest.fixture
def numbers(tmp_path):
    rng = np.random.default_rng(9)
    x = rng.normal(50, 10, (120, 2))
    y = x @ [[2, 1], [1, -1]] + rng.normal(0, 3, (120, 2))
    path = tmp_path / "mine.csv"
    pl.DataFrame(np.column_stack([y, x]), schema=["pay", "tax", "age", "hours"]).write_csv(path)
    return path


def test_the_study_on_any_file(numbers, tmp_path):
    given = ["--dependent", "pay,tax", "--independent", "age,hours", "--c", "2-3,5", "--starts", "1"]
    assert command(["reproduce", "synthetic", "--data", str(numbers), "--out", str(tmp_path / "out"), *given]) == 0
    report = json.loads((tmp_path / "out" / "synthetic.json").read_text(encoding="utf-8"))
    wanted = [*(f"{c}{joint}" for joint in ("", ", joint") for c in (2, 3, 5)), "IPSO-A", "IPSO-B", "IPSO-C"]
    assert list(report["points"]) == wanted
    for name, point in report["points"].items():
        assert point["score"] == pytest.approx((point["pil"] + point["dr"]) / 2), name
    assert set(report["surface"]) == {f"c={c}, N={n}" for c in (2, 3, 5) for n in (1, 2, 3)}
    html = (tmp_path / "out" / "synthetic.html").read_text(encoding="utf-8")
    for text in ("c = 5, joint", "IPSO-C", "converged", "Loss, risk and score"):
        assert text in html
    for drawing in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        ET.fromstring(drawing)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--dependent", "pay"], "with --dependent and --independent"),
        (["--dependent", "pay", "--independent", "pay"], "named twice"),
        (["--dependent", "pay", "--independent", "shoes"], "shoes"),
        (["--dependent", "pay", "--independent", "age", "--c", "2-500"], "got 2 to 500"),
    ],
)
def test_a_study_that_cannot_be_run_says_why(numbers, tmp_path, capsys, given, said):
    assert command(["reproduce", "synthetic", "--data", str(numbers), "--out", str(tmp_path / "out"), *given]) == 2
    assert said in capsys.readouterr().err


def test_the_text_compares_with_ipso_a_at_26_regressions():
    points = {
        **{str(c): Point(30.0, 14.0, 0, 0) for c in (2, 4)},
        **{f"IPSO-{m}": Point(44.0, 14.0, 0, 0) for m in "ABC"},
    }
    (stated,) = (c for c in _of_sweep("S2", points, printed(7)) if "half the loss" in c.conclusion)
    assert stated.printed == "0.6 times at c = 26, whose risk is +0.7 points off"
