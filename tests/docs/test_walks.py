"""The walks of docs/developers/architecture.md: every hop is called by its job, in the stated order."""

from __future__ import annotations

import re
import runpy
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from tests.studio.conftest import Desk

import celosia
from celosia.cli.main import run
from celosia.demo import prepare
from celosia.models import KAnonymity
from celosia.studio.project import Project

SOURCE = Path(celosia.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "developers" / "architecture.md"
MOST_HOPS = 12
CLASS_SIZE = {"calls": 52, "files": 10, "deep": 8}
"""What one class size may take at most; the page states these numbers."""
POLICY = """
[input]
path = "in.csv"
[schema]
quasi = ["age", "sex"]
sensitive = ["illness"]
[schema.hierarchies]
age = "intervals(width=10, count=2)"
[[require]]
use = "k-anonymity"
k = 2
[[step]]
use = "generalise"
[output]
path = "out.csv"
"""
DATASET = """
name = "clinic"
epsilon = 1.0
[tables.person]
source = "in.csv"
[tables.person.columns]
age = {type = "integer", bounds = [0, 100]}
"""
INFERENCES = """
[[inference]]
id = "residence"
description = {en = "Find out where I live"}
category = "geographic"
extra = 1
[[inference.rule]]
tables = {student = ["canton"]}
"""


def walks() -> dict[str, list[tuple[str, str]]]:
    """Hops of every walk in the documentation: file and qualified name of the function."""
    section = PAGE.read_text("utf-8").partition("\n## Walks\n")[2].partition("\n## ")[0]
    titles = re.split(r"\n### ([^\n]+)\n", section)[1:]
    hop = re.compile(r"^\d+\. `([\w/]+\.py)` `([\w.]+)`", re.MULTILINE)
    return {title.replace("`", ""): hop.findall(text) for title, text in zip(titles[::2], titles[1::2], strict=True)}


def calls_of(job) -> list[tuple[str, str]]:
    """Functions of Celosia in the order of their first call, in all threads."""
    first: dict[tuple[str, str], None] = {}

    def note(frame, event, _):
        if event == "call":
            code = frame.f_code
            if code.co_filename.startswith(f"{SOURCE}/"):
                first.setdefault((code.co_filename[len(str(SOURCE)) + 1 :], code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        job()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [*first]


def people() -> pl.DataFrame:
    return pl.DataFrame({"age": [20, 21, 22, 40, 41, 42] * 5, "sex": [*"mfmfmf"] * 5, "illness": [*"abc"] * 10})


def run_policy(place, request):
    (place / "policy.toml").write_text(POLICY)
    assert run(["run", "policy.toml"]) == 0


def assess_file(place, request):
    words = ["--quasi", "age,sex", "--sensitive", "illness", "--require", "k-anonymity(k=2)"]
    run(["assess", "in.csv", *words])


def query_file(place, request):
    assert run(["query", "SELECT COUNT(*) FROM person", "--epsilon", "0.1"]) == 0


def click(place, request):
    answer = Desk(Project(place / "clinic")).post("/protect/preview", list="step", position="0", use="generalise")
    assert answer.status_code == 200, answer.text


def publish(place, request):
    words = ["--sql", "SELECT card, canton FROM student", "--owner", "student.card", "--quasi", "canton"]
    assert (
        run(
            [
                "consent",
                "request",
                "sqlite:///u.db",
                *words,
                "--catalogue",
                "inferences.toml",
                "--rule",
                "class",
                "--k",
                "2",
            ]
        )
        == 0
    )


def assess_on_spark(place, request):
    frame = request.getfixturevalue("spark").read.csv(str(place / "in.csv"), header=True, inferSchema=True)
    schema = celosia.Schema.of(quasi=["age", "sex"], sensitive=["illness"])
    celosia.assess(celosia.read(frame, schema), ["k-anonymity(k=2)"])


def measure_class_size(place, request):
    table = celosia.read(place / "in.csv", celosia.Schema.of(quasi=["age", "sex"], sensitive=["illness"]))
    KAnonymity(k=2).value(table)


def measure_hard_class_size(place, request):
    hard = runpy.run_path(str(PAGE.parents[2] / "tools" / "class_size.py"))["HARD"]
    pl.DataFrame(hard).write_csv(place / "hard.csv")
    schema = celosia.Schema.of(quasi=["age", "sex"], person="id", missing="wildcard")
    KAnonymity(k=2).value(celosia.read(place / "hard.csv", schema))


def declare_dataset(place):
    (place / "dataset.toml").write_text(DATASET)
    assert run(["gateway", "init"]) == 0


def prepare_clinic(place):
    prepare(place / "clinic", 120)


def fill_university(place):
    import sqlite3

    with sqlite3.connect(place / "u.db") as database:
        database.execute("CREATE TABLE student (card TEXT PRIMARY KEY, canton TEXT)")
        database.executemany("INSERT INTO student VALUES (?, ?)", [(f"B{i}", "xyz"[i % 3]) for i in range(60)])
    (place / "inferences.toml").write_text(INFERENCES)
    assert run(["consent", "init"]) == 0


JOBS = {
    "celosia run": (None, run_policy),
    "celosia assess": (None, assess_file),
    "One class size, traced": (None, measure_class_size),
    "One class size with persons, wildcards and suppression": (None, measure_hard_class_size),
    "celosia query": (declare_dataset, query_file),
    "A click in the studio": (prepare_clinic, click),
    "celosia consent request": (fill_university, publish),
    "celosia.assess on Spark": (None, assess_on_spark),
}


@pytest.mark.parametrize(
    "title", [pytest.param(title, marks=[pytest.mark.xdist_group("spark")] * ("Spark" in title)) for title in JOBS]
)
def test_every_hop_is_called_in_the_stated_order(title, tmp_path, monkeypatch, request, capsys):
    hops = walks()[title]
    assert 5 <= len(hops) <= MOST_HOPS
    monkeypatch.chdir(tmp_path)
    people().write_csv("in.csv")
    prepare_job, job = JOBS[title]
    if prepare_job is not None:
        prepare_job(tmp_path)
    calls = calls_of(lambda: job(tmp_path, request))
    capsys.readouterr()
    missing = [hop for hop in hops if hop not in calls]
    assert not missing, "no function of that name was called"
    places = [calls.index(hop) for hop in hops]
    assert places == sorted(places)


def test_every_job_has_a_walk():
    assert set(walks()) == set(JOBS)


def test_one_class_size_takes_few_calls_in_few_files():
    count = runpy.run_path(str(PAGE.parents[2] / "tools" / "class_size.py"))["class_size_calls"]
    calls = count()
    found = {"calls": len(calls), "files": len({c.file for c in calls}), "deep": max(c.depth for c in calls)}
    assert all(found[what] <= most for what, most in CLASS_SIZE.items()), found
    assert len(count(hard=True)) <= 210
    assert f"{CLASS_SIZE['calls']} in ten files, at most eight deep" in PAGE.read_text("utf-8")
