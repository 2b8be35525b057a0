"""Faults that were put in and that the tests of the day did not notice: what each of them would change.

The faults themselves are in ``tools/faults.toml``; ``python tools/mutate.py --faults tools/faults.toml`` puts them in.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest
from tests.reference.small import table

import celosia
from celosia.cli.main import run as command
from celosia.data.engines import engine_named
from celosia.data.io.atomic import replace_file, replace_files
from celosia.errors import SchemaError
from celosia.loss import AlteredRecords, CertaintyPenalty, DomainLoss
from celosia.parts import build
from celosia.risk import Prosecutor
from celosia.table.derive import with_record_ids
from celosia.table.materialise import materialise
from celosia.table.pairing import paired_counts

AGES = {"age": [20, 30, 40, 50], "n": [0, 1, 2, 3]}


def test_rows_that_were_dropped_count_as_altered():
    people = table(AGES, quasi=["age"])
    fewer = celosia.protect(people, "subset(where='n < 3')", seed=1)
    assert AlteredRecords().value(people, fewer) == 0.25
    coarse = celosia.protect(people, "recode(column=age, breaks=[30])", "subset(where='n < 3')", seed=1)
    assert AlteredRecords().value(people, coarse) == 1.0


def test_rows_that_were_dropped_count_as_altered_where_only_counts_are_in_memory(tmp_path, monkeypatch):
    """The losses of a table that stays in its file are taken from counts of pairs of cells."""
    rows = {"age": [1, 1, 1, 2, 3, 3], "sex": ["F", "F", "F", "M", "F", "F"]}
    pl.DataFrame(rows).write_parquet(tmp_path / "people.parquet")
    monkeypatch.setattr(type(engine_named("polars")), "resident", lambda *_: None)
    roles = celosia.Schema.of(quasi=["age", "sex"], hierarchies={"age": "intervals(width=10)"})
    people = materialise(with_record_ids(celosia.read(tmp_path / "people.parquet", roles)))
    fewer = celosia.protect(people, "generalise(require=['k-anonymity(k=2)'], suppress=0.2, drop=true)", seed=1)
    assert len(fewer) == 5
    assert paired_counts(people, fewer, ["age", "sex"]) is not None
    assert AlteredRecords().value(people, fewer) == pytest.approx(1 / 6)


def test_compare_keeps_its_tables_apart():
    """What was lost from the first to the second is not what was lost from the second to the first."""
    people = table(
        {"age": [20.0 + i * i for i in range(30)], "x": [float(i % 7) for i in range(30)]}, quasi=["age", "x"]
    )
    safe = celosia.protect(people, "noise(columns=[age, x], p=0.3)", seed=1)
    loss, attack = build("loss", "relative-error"), build("attack", "distance-linkage")
    forth = (loss.value(people, safe), attack.value(people, safe))
    back = (loss.value(safe, people), attack.value(safe, people))
    compared = celosia.compare(people, safe, [loss], [attack])
    assert (compared.losses[0].value, compared.risks[0].value) == forth
    assert forth[0] != back[0]
    assert forth[1] != back[1]


FORMAL = """
[input]
path = "people.csv"
[schema]
quasi = ["age", "town"]
[[step]]
use = "randomised-response"
columns = ["town"]
epsilon = 1.0
categories = {town = ["Ur", "Uruk"]}
[history]
releases = ["earlier.csv"]
acknowledge = "a test"
[output]
path = "safe.csv"
report = false
"""


def test_a_formal_guarantee_withholds_what_earlier_releases_tell(tmp_path):
    people = pl.DataFrame({"age": [20, 20, 30, 30] * 5, "town": ["Ur", "Uruk"] * 10})
    people.write_csv(tmp_path / "people.csv")
    people.write_csv(tmp_path / "earlier.csv")
    (tmp_path / "policy.toml").write_text(FORMAL)
    release = celosia.run(tmp_path / "policy.toml")
    assert release.record["history"], "it was measured, for the owner"
    assert release.certificate["history"] == {"checked": ["earlier_release_1"]}


class Disk:
    """What a process asks of its disk, in order: which files it puts there, and which names it gives."""

    def __init__(self, monkeypatch):
        self.asked = []
        sync, rename = os.fsync, os.replace
        monkeypatch.setattr(os, "fsync", lambda number: (self._synced(number), sync(number))[1])
        monkeypatch.setattr(os, "replace", lambda a, b, **more: (self._renamed(a, b), rename(a, b, **more))[1])
        monkeypatch.setattr(Path, "replace", lambda a, b: (self._renamed(a, b), rename(a, b))[1])

    def _synced(self, number):
        self.asked.append(("on disk", os.fstat(number).st_ino))

    def _renamed(self, source, target):
        self.asked.append(("named", Path(source).stat().st_ino, Path(target).name))

    def in_order(self, name, place):
        """Whether a file was on the disk before it got its name, and the name was put there after."""
        (renamed,) = [i for i, what in enumerate(self.asked) if what[0] == "named" and what[2] == name]
        inode = self.asked[renamed][1]
        before = ("on disk", inode) in self.asked[:renamed]
        return before and ("on disk", place.stat().st_ino) in self.asked[renamed:]


def test_a_file_is_on_the_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    disk = Disk(monkeypatch)
    with replace_file(tmp_path / "a.txt") as draft:
        draft.write_text("whole")
    assert disk.in_order("a.txt", tmp_path)


def test_the_files_of_a_release_are_on_the_disk_before_they_get_their_names(tmp_path, monkeypatch):
    disk = Disk(monkeypatch)
    with replace_files({name: tmp_path / name for name in "ab"}, tmp_path / ".release.json") as drafts:
        for draft in drafts.values():
            draft.write_text("whole")
    assert all(disk.in_order(name, tmp_path) for name in ("a", "b", ".release.json"))


def test_the_highest_risk_is_that_of_the_smallest_class():
    people = table({"age": [20, 20, 20, 30, 30]}, quasi=["age"])
    assert Prosecutor().value(people) == 0.5


def test_the_command_compares_the_first_file_with_the_second(tmp_path, capsys):
    people = pl.DataFrame({"id": [1, 2, 3, 4], "age": [20, 30, 40, 50]})
    people.write_csv(tmp_path / "people.csv")
    people[:3].write_csv(tmp_path / "safe.csv")
    files = [str(tmp_path / "people.csv"), str(tmp_path / "safe.csv")]
    assert command(["compare", *files, "--quasi", "age", "--key", "id", "--loss", "altered-records", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert compared["rows"] == {"original": 4, "protected": 3}
    assert compared["losses"][0]["value"] == 0.25


def test_a_table_and_those_beside_it_are_replaced_when_that_is_asked_for(tmp_path):
    rows = {"age": [30, 31, 32, 33], "ill": ["a", "b", "a", "b"]}
    pl.DataFrame(rows).write_csv(tmp_path / "people.csv")
    words = ["protect", "anatomise", str(tmp_path / "people.csv"), "--out", str(tmp_path / "safe.csv")]
    words += ["--quasi", "age", "--sensitive", "ill", "--l", "2"]
    assert command(words) == 0
    beside = sorted(path.name for path in tmp_path.glob("safe*.csv"))
    assert len(beside) == 2
    assert command(words) == 2
    assert command([*words, "--overwrite"]) == 0
    assert sorted(path.name for path in tmp_path.glob("safe*.csv")) == beside


@pytest.mark.filterwarnings("ignore:.* columns have no role")
def test_assess_refuses_a_column_that_is_not_there_before_anything_runs(monkeypatch):
    people = table(AGES, quasi=["age"])
    monkeypatch.setattr(type(people), "class_counts", lambda *_, **__: pytest.fail("it ran"))
    for part in ("l-diversity(l=2, column=nothing)", "t-closeness(t=0.2, column=nothing)"):
        with pytest.raises(SchemaError, match=r"column names the column 'nothing', which the table lacks"):
            celosia.assess(people, [part])


def test_a_column_with_one_value_loses_what_its_search_says():
    people = table({"q": ["a"] * 4, "r": [1, 2, 1, 2]}, quasi=["q", "r"])
    for loss in (DomainLoss(), DomainLoss(aggregate="arithmetic"), CertaintyPenalty()):
        safe = celosia.protect(people, celosia.methods.Generalise(require=["k-anonymity(k=3)"], objective=loss))
        assert safe.history[-1]["score"] == pytest.approx(loss.value(people, safe))


def test_a_synthesis_has_records_whatever_the_noise():
    """With so much noise the noisy total is below zero in half of the draws."""
    schema = celosia.Schema.of(orders={"c": ["x", "y"]})
    people = celosia.read(pl.DataFrame({"c": ["x", "y", "x"]}), schema)
    for _ in range(12):
        made = celosia.protect(people, "dp-synthesis(columns=[c], epsilon=0.001)")
        assert len(made) >= 1
        assert set(made.polars()["c"].to_list()) <= {"x", "y"}
