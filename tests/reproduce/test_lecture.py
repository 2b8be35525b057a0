"""The lecture on database privacy: every printed number comes out or is explained, every attack on the gateway fails."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from celosia.errors import DataError
from celosia_reproduce import experiment
from celosia_reproduce.lecture import anonymity, noise, separation
from celosia_reproduce.lecture.people import people
from celosia_reproduce.statements import printed_tables


@pytest.fixture(scope="module")
def adult():
    data = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.data"
    if not data.exists():
        pytest.skip("needs the reference file adult.data, which is not part of the project")
    return data


@pytest.fixture(scope="module")
def person(adult, tmp_path_factory):
    return people(adult, tmp_path_factory.mktemp("person"))


@pytest.fixture(scope="module")
def report(adult, tmp_path_factory):
    out = tmp_path_factory.mktemp("lecture")
    report = experiment("lecture")(adult, out)
    assert json.loads((out / "lecture.json").read_text())["counts"] == report["counts"]
    html = (out / "lecture.html").read_text()
    assert html.count("<h2") > 12
    assert "http" not in html, "the page opens offline"
    return report


def test_printed_numbers_come_out_or_are_explained(report):
    differing = {(s["where"], s["what"]): s["why"] for s in report["statements"] if not s["agrees"]}
    assert set(differing) == {
        ("Linkage of Rashad", "people found rightly"),
        ("Five people", "a noisy count is within ±1"),
        ("Malicious count", "exact answer with target = '<=50k'"),
        ("Laplace count", "mean absolute noise of the four printed answers"),
        ("Governor", "alone with sex, postal code and birth date"),
    }
    assert all(differing.values())
    assert report["counts"]["printed"] == {"checked": 124, "come out": 120, "differ": 4}
    assert report["counts"]["derived"] == {"checked": 44, "come out": 43, "differ": 1}
    assert report["counts"]["consistency"] == {"checked": 8, "come out": 8, "differ": 0}


def test_what_the_lecture_does_not_print_is_no_printed_statement(report):
    """It prints the sensitivity 1, epsilon 0.1 and formulas; no scale, no cost, no number of cells, no picture."""
    said = {(s["where"], s["what"]) for s in report["statements"] if s["origin"] == "printed"}
    assert ("Laplace count", "sensitivity of a count") in said
    assert ("Repetition", "what many repetitions tell") in said
    assert not any("scale" in what or "cost" in what or what == "cells" for _, what in said)
    assert "Netflix" not in {where for where, _ in said}


def test_the_documentation_has_these_counts(report, as_documented):
    as_documented("lecture", report)


def test_all_cells_of_the_histogram_are_there(report):
    cells = [s for s in report["statements"] if s["where"] == "Parallel histogram" and s["what"].endswith("ale")]
    assert len(cells) == 32
    assert sum(s["computed"] for s in cells) == 32_561


def test_attacks(report):
    stories = {story["name"]: story for story in report["attacks"]}
    assert stories["differencing"]["plain SQL"] == 39
    spread, expected = (stories["differencing"][k] for k in ("spread of the gateway's difference", "expected spread"))
    assert expected == 1800
    assert 0.4 * expected < spread < 2 * expected
    assert stories["selective count"]["plain SQL"] == 1
    assert stories["selective count"]["with '<=50k'"].startswith("unanswerable")
    averaging = stories["averaging"]
    assert averaging["repetitions needed"] == 3074
    assert averaging["what the mean of all repetitions tells"] == 1
    assert averaging["cost of that many fresh answers"] == pytest.approx(307.4)
    assert averaging["attacks that succeed without a ledger"] > 0.8
    assert averaging["different answers of the gateway to ten repetitions"] == 1
    assert averaging["cost of the nine repetitions"] == 0


def test_estimated_counts_err_less_by_anatomy(report):
    """The claim of the paper on anatomy, over 200 random questions."""
    found = {row["release"]: row for row in report["errors of estimated counts"]}
    assert set(found) == {"generalisation", "anatomy, near groups", "anatomy, buckets"}
    for anatomy in ("anatomy, near groups", "anatomy, buckets"):
        assert found[anatomy]["median"] < found["generalisation"]["median"]
        assert found[anatomy]["mean"] < found["generalisation"]["mean"]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "adult.data").write_text("39, Private, 1\n")
    with pytest.raises(DataError):
        experiment("lecture")(tmp_path / "adult.data", tmp_path)


SMALL = {
    "people": ("Sexo", "M"),
    "people_illness": ("Fecha Nac.", "01/01/2018"),
    "patients": ("zip", "14850"),
    "patients_generalised": ("disease", "Flu"),
    "patients_diverse": ("age", ">40"),
    "patients_attacked": ("disease", "Asthma"),
    "workers": ("Job", "Lawyer"),
    "workers_generalised": ("Sex", "Male"),
    "illness": ("Disease", "Heart"),
    "illness_generalised": ("Age", "[35-40)"),
    "illness_quasi": ("Grupoid", "2"),
    "illness_counts": ("Count", "2"),
    "illness_permuted": ("Disease", "COVID"),
    "illness_perturbed": ("Age", "44"),
}


def computed(statements):
    return [(s.where, s.what, s.stated, s.computed) for s in statements]


def small_statements(tables):
    return computed([*anonymity.statements(tables), *separation.statements(tables)])


@pytest.fixture(scope="module")
def as_printed():
    return small_statements(printed_tables("lecture"))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.sampled(5)
def test_no_number_stands_by_itself(name, as_printed):
    """Another cell in a printed table: something else comes out, or what comes out no longer agrees."""
    tables = printed_tables("lecture")
    column, value = SMALL[name]
    at = next(i for i, cell in enumerate(tables[name][column]) if cell != value)
    if name == "people_illness":
        at = 1  # the record that is joined
    changed = {**tables, name: tables[name].with_columns(pl.Series(column, [*tables[name][column][:at], value, *tables[name][column][at + 1 :]]))}  # fmt: skip

    if name == "people_illness":
        with pytest.raises(pl.exceptions.PolarsError):
            small_statements(changed)  # nobody joins any more
    else:
        assert small_statements(changed) != as_printed


@pytest.mark.parametrize("name", ["k_raw", "k_decades", "k_capped", "k_more_data", "histogram", "histogram_noisy", "person_extract"])  # fmt: skip
def test_a_misprint_is_noticed(name, person):
    tables = printed_tables("lecture")
    column = tables[name].columns[-1]
    digit = [f"9{cell}" if i == 0 else cell for i, cell in enumerate(tables[name][column])]
    changed = {**tables, name: tables[name].with_columns(pl.Series(column, digit))}

    def differing(given):
        return sum(not s.agrees for s in (*anonymity.by_sql(given, person), *noise.on_person(given, person)))

    assert differing(changed) == differing(tables) + 1


def test_the_small_tables_cover_all():
    others = {"k_raw", "k_decades", "k_capped", "k_more_data", "histogram", "histogram_noisy", "person_extract"}
    assert set(SMALL) | others == set(printed_tables("lecture"))
