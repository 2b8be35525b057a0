"""The differential-privacy half of the lecture: every printed number comes out or is explained, every attack fails."""

from __future__ import annotations

import json

import pytest

from celosia.errors import DataError
from celosia.experiments import experiment


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    from pathlib import Path

    data = Path(__file__).resolve().parents[4] / "shared" / "data" / "adult.data"
    if not data.exists():
        pytest.skip("needs the reference file adult.data, which is not part of the project")
    out = tmp_path_factory.mktemp("lecture")
    found = experiment("lecture")(data, out)
    assert json.loads((out / "lecture.json").read_text())["experiment"] == "lecture"
    assert "<h1>" in (out / "lecture.html").read_text()
    return found


def test_printed_numbers_come_out(report):
    wrong = {claim["what"]: claim["note"] for claim in report["claims"] if not claim["agrees"]}
    assert set(wrong) == {
        "a noisy count of Ford 'within ±1'",
        "four printed draws at epsilon 0.1",
        "the malicious count with target = '<=50k'",
    }
    assert all(wrong.values())
    assert report["come out"] == len(report["claims"]) - 3 >= 25
    assert "3.3e-05" in wrong["four printed draws at epsilon 0.1"]


def test_attacks(report):
    stories = {story["name"]: story for story in report["attacks"]}
    assert stories["differencing"]["plain SQL"] == 39
    spread, expected = (stories["differencing"][k] for k in ("spread of the gateway's difference", "expected spread"))
    assert expected == 1800
    assert 0.4 * expected < spread < 2 * expected
    assert stories["selective count"]["with '<=50k'"].startswith("unanswerable")
    averaging = stories["averaging"]
    assert averaging["repetitions needed"] == averaging["printed"] == 3074
    assert averaging["attacks that succeed without a ledger"] > 0.8
    assert averaging["different answers of the gateway to ten repetitions"] == 1
    assert averaging["cost of the nine repetitions"] == 0
    low, high = stories["randomised response"]["interval"]
    assert high - low < 0.04


def test_another_file_is_refused(tmp_path):
    (tmp_path / "adult.data").write_text("39, Private, 1\n")
    with pytest.raises(DataError):
        experiment("lecture")(tmp_path / "adult.data", tmp_path)
