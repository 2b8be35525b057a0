"""The playground's board without a browser: points, files, steps that end as the whole run, exports."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError, InputError, ParameterError, UnknownName
from celosia.show.plots import Axis
from celosia.studio.pages.fcrm import board as boards
from celosia.studio.pages.fcrm.board import Board, advance, current_iteration, read_points
from celosia.studio.pages.fcrm.pictures import picture
from celosia.studio.pages.fcrm.view import clip_line, view

TWO_LINES = tuple((float(x), float(x) if i else 9.0 - x) for i in (0, 1) for x in range(8))


def finished(board: Board) -> Board:
    while not board.finished:
        board = advance(board)
    return board


def test_stepping_ends_as_the_whole_run_and_the_file_repeats_it(tmp_path):
    board = finished(Board(points=boards.example(), c=5, m=1.7))
    assert board.converged or len(board.readings) == 30
    assert [reading.iteration for reading in board.readings] == list(range(1, len(board.readings) + 1))
    file = tmp_path / "points.csv"
    file.write_text(boards.points_csv(board))
    whole = celosia.protect(celosia.read(file), board.method(), seed=board.seed)
    assert whole.history[-1]["iterations"] == len(board.readings)
    assert current_iteration(board).outcome.table.polars()["y"].equals(whole.polars()["y"])
    printed: dict = {}
    exec(boards.snippets(board, str(file)).python.replace("made.polars()", "shown = made.polars()"), printed)
    assert printed["shown"]["y"].equals(whole.polars()["y"])


def test_several_steps_at_once_are_single_steps():
    board = Board(points=boards.example(), c=3)
    assert advance(board, 4) == advance(advance(advance(advance(board))))


def test_a_reading_is_the_loss_and_the_risk_of_what_would_leave():
    board = advance(Board(points=TWO_LINES, c=2), 2)
    before, after = (
        pl.DataFrame({"y": y})
        for y in ([p[1] for p in TWO_LINES], current_iteration(board).outcome.table.polars()["y"])
    )
    pair = celosia.read(before), celosia.read(after)
    last = board.readings[-1]
    assert last.pil == pytest.approx(100 * celosia.loss.ProbabilisticLoss(scope="per-column").value(*pair))
    assert last.dr == pytest.approx(100 * celosia.risk.ClassicalDisclosureRisk(window="relative").value(*pair))
    assert last.score == (last.pil + last.dr) / 2


def test_a_change_of_points_or_settings_begins_anew():
    board = advance(Board(points=TWO_LINES, c=2))
    assert board.readings
    for changed in (board.with_point(1, 1), board.without_last(), board.change(c=3), board.clear()):
        assert changed.readings == ()
        assert not changed.running
    assert board.change(dependent=1, independent=2).axes == ("y", "x")
    swapped = board.change(dependent=1, independent=2).with_point(3.0, 4.0)  # at x = 3, y = 4 of the drawing
    assert swapped.points[-1] == (4.0, 3.0)


def test_constraints_hold_in_what_would_leave():
    board = finished(Board(points=boards.example(), c=2, constraints=("y >= 3", "y <= 2 * x + 4")))
    made = current_iteration(board).outcome.table.polars()
    assert made["y"].min() >= 3
    assert (made["y"] <= 2 * made["x"] + 4 + 1e-9).all()
    assert view(board).moved > 0


def test_what_cannot_be_fitted_is_a_sentence():
    with pytest.raises(DataError, match="3 regressions need at least 8 points, there are 2"):
        advance(Board(points=((0.0, 1.0), (1.0, 2.0))))
    with pytest.raises(InputError, match="no points yet"):
        Board().table()
    with pytest.raises(InputError, match="nothing was fitted yet"):
        boards.synthetic_csv(Board(points=TWO_LINES))
    with pytest.raises(ParameterError, match="coordinate 1 is dependent and independent"):
        Board().change(dependent=1)
    with pytest.raises(ParameterError, match="2 coordinates; there is no number 3"):
        Board().change(dependent=3)
    with pytest.raises(ParameterError, match="c must be at most 10"):
        Board().change(c=11)
    with pytest.raises(UnknownName, match="no column named 'z'"):
        advance(Board(points=TWO_LINES, c=2, constraints=("z >= 0",)))
    with pytest.raises(InputError, match="two finite numbers"):
        Board().with_point(float("nan"), 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("1 2\n3\n", "line 2 has 1 coordinates, the first has 2"),
        ("a b\n1 2\n4 secret-cell\n", "line 3 has a value that is missing or no number"),
        ("1,\n", "line 1 has a value that is missing or no number"),
        ("1 nan\n", "line 1 has a value"),
        ("1\n2\n", "a point needs 2 to 20 coordinates, the file has 1"),
        ("a,a\n1,2\n", "the same name"),
        ("\n".join("1 2" for _ in range(5001)), "5001 points; the playground takes at most 5000"),
    ],
)
def test_a_wrong_file_is_told_by_its_line_never_by_its_content(text, message):
    with pytest.raises(InputError, match=message) as told:
        read_points(text)
    assert "secret-cell" not in str(told.value)


def test_files_with_names_blanks_commas_or_more_coordinates():
    assert read_points("\ufeff1 2\n\n 3\t4 \n") == (("x", "y"), ((1.0, 2.0), (3.0, 4.0)))
    assert read_points('"age";"pay";"tax"\n1;2;3\n') == (("age", "pay", "tax"), ((1.0, 2.0, 3.0),))
    names, points = read_points("1,2,3\n4,5,6\n")
    assert names == ("x", "y", "z1")
    board = Board(names=names, points=points, dependent=3)
    assert board.axes == ("x", "z1")
    with pytest.raises(InputError, match="two coordinates only"):
        board.with_point(1, 1)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=20))
def test_saved_points_read_as_the_same(points):
    board = Board(points=tuple(points))
    names, again = read_points(boards.points_csv(board))
    assert (names, again) == (board.names, board.points)


def test_exports_have_a_line_for_every_point_and_iteration():
    board = finished(Board(points=TWO_LINES, c=2))
    rows = list(csv.DictReader(io.StringIO(boards.synthetic_csv(board))))
    assert list(rows[0]) == ["x", "y", "synthetic y", "cluster"]
    lines = {c.number + 1: c for c in view(board).clusters}
    for row in rows:
        line = lines[int(row["cluster"])]
        assert float(row["synthetic y"]) == pytest.approx(line.intercept + line.slope * float(row["x"]))
    readings = list(csv.DictReader(io.StringIO(boards.readings_csv(board))))
    assert [float(row["objective"]) for row in readings] == [reading.objective for reading in board.readings]


def test_the_picture_has_each_point_once_and_each_line_in_the_colour_of_its_points():
    board = finished(Board(points=TWO_LINES, c=2))
    shown = view(board)
    assert sorted((dot.x, dot.y) for dot in shown.drawing.dots) == sorted(TWO_LINES)
    for alone in (False, True):
        svg = ET.fromstring(picture(shown.drawing, standalone=alone))
        paths = [e for e in svg.iter() if e.tag.endswith("path")]
        dots = {
            p.get("class").split()[-1]: p.get("d").count("M") for p in paths if p.get("class", "").startswith("dot")
        }
        lines = {p.get("class").split()[-1] for p in paths if p.get("class", "").startswith("line")}
        assert sum(dots.values()) == len(TWO_LINES)
        assert lines == set(dots) == {"s1", "s2"}


def test_states_of_the_board():
    board = Board(points=TWO_LINES, c=2)
    assert view(Board()).state == "empty"
    assert view(Board(points=TWO_LINES[:2])).state == "few"
    for few in (Board(points=boards.example()[:7], c=3), Board(points=boards.example()[:4], c=3, intercept=False)):
        enough = few.change(points=boards.example()[: few.fewest_points])
        assert (view(few).state, len(enough.points)) == ("few", len(few.points) + 1)
        assert len(advance(enough).readings) == 1, "the method accepts what the board calls enough"
    assert view(board).state == "ready"
    assert view(advance(board)).state in ("stopped", "converged")
    assert view(board.model_copy(update={"running": True})).state == "running"
    assert view(finished(board)).state == "converged"
    assert view(finished(Board(points=boards.example(), c=5, max_iterations=2))).state == "ended"


@given(st.floats(-30, 30), st.floats(-9, 9))
def test_a_clipped_line_stays_inside_and_misses_nothing(intercept, slope):
    box = Axis("x", 0, 10), Axis("y", 0, 10)
    ends = clip_line(intercept, slope, *box)
    at = np.linspace(0, 10, 401)
    y = intercept + slope * at
    crosses = ((y > 1e-6) & (y < 10 - 1e-6)).any()
    if ends is None:
        assert not crosses
    else:
        for x, up in ends:
            assert -1e-9 <= x <= 10 + 1e-9
            assert -1e-9 <= up <= 10 + 1e-9
            assert up == pytest.approx(intercept + slope * x, abs=1e-9)
