"""The verbs that a run needs on a table that is not in memory: the same on every engine, in whatever cut."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from celosia.data.engines import engine_named
from celosia.data.engines.lazy_frames import RECORD, ROWS, group_counts, sort_by_record
from celosia.histogram import Domain
from celosia.streams import Stream

PEOPLE = pl.DataFrame(
    {
        "sex": ["F", "M", None, "F", "F"],
        "age": [30, None, 31, 30, 30],
        "pay": [1.5, 2.5, None, 1.0, 2.0],
        "weight": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
)


@pytest.fixture
def people(engine):
    made = engine_named(engine)
    return made, made.identify(made.accept(PEOPLE))


@pytest.mark.on_spark
def test_a_function_of_batches_replaces_and_adds_columns(people):
    engine, frame = people

    def double(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.select(pay=pl.col("pay") * 2, name=pl.col(RECORD).cast(pl.String))

    made = engine.map_batches(frame, ["pay", RECORD], {"pay": pl.Float64(), "name": pl.String()}, double)
    found = engine.collect(sort_by_record(made))
    assert found["pay"].to_list() == [3.0, 5.0, None, 2.0, 4.0]
    assert found["name"].to_list() == ["0", "1", "2", "3", "4"]
    assert found["sex"].to_list() == PEOPLE["sex"].to_list()


@pytest.mark.on_spark
def test_tallies_count_every_column_with_its_missing_values(people):
    engine, frame = people
    found = engine._tallies(frame, ["sex", "age"])
    assert dict(found["sex"].rows()) == {"F": 3, "M": 1, None: 1}
    assert dict(found["age"].rows()) == {30: 3, 31: 1, None: 1}


@pytest.mark.on_spark
def test_a_packed_histogram_counts_combinations_by_one_number(people):
    engine, frame = people
    domains = {"sex": Domain(pl.Series(["F", "M", None])), "age": Domain(pl.Series([30, 31, None]))}
    found = engine._count_by_key(frame, domains, weight="weight")
    # F 30 is 0 * 3 + 0, M missing 1 * 3 + 2, missing 31 2 * 3 + 1
    assert found.key.tolist() == [0, 5, 7]
    assert found.rows.tolist() == [3, 1, 1]
    assert found.histogram(domains).weights.tolist() == [10.0, 2.0, 3.0]


@pytest.mark.parametrize("size", [255, 256, 257, 70_000])
@pytest.mark.parametrize("name", ["polars", "duckdb"])
def test_a_packed_histogram_has_room_for_every_code(name, size):
    """The last code is that of the missing value: one more than there are values."""
    engine = engine_named(name)
    numbers = pl.Series([*range(size - 1), None], dtype=pl.Int64)
    rows = pl.DataFrame({"number": [size - 2, None, 0, None], "text": ["b", "b", "a", "b"], "who": [1, 2, 3, 3]})
    domains = {"number": Domain(numbers), "text": Domain(pl.Series(["a", "b"]))}
    expected = [0, (size - 2) * 2 + 1, (size - 1) * 2 + 1]
    found = engine._count_by_key(engine.accept(rows), domains)
    assert found.key.tolist() == expected
    assert found.rows.tolist() == [1, 1, 2]
    stored = engine.encode(engine.accept(rows), list(domains), domains=domains, orders={}, person="who").count(
        ["number", "text"], person=True
    )
    assert stored.persons.tolist() == [1, 1, 2]
    assert stored.cells["number"].to_list() == [0, size - 2, None]


@pytest.mark.on_spark
def test_a_frame_with_counts_stands_for_so_many_rows(people):
    engine, _ = people
    small = engine.accept(pl.DataFrame({"sex": ["F", "M", "F"], ROWS: [3, 4, 5]}))
    assert dict(engine.collect(group_counts(small, ["sex"])).rows()) == {"F": 8, "M": 4}


@pytest.mark.on_spark
def test_a_map_gives_missing_for_a_value_that_it_lacks(people):
    engine, frame = people
    values, labels = pl.Series(["F", None]), pl.Series(["woman", "unknown"])
    found = engine.collect(sort_by_record(engine.map(frame, "sex", values, labels)))
    assert found["sex"].to_list() == ["woman", None, "unknown", "woman", "woman"]


def test_words_of_records_far_apart_are_those_of_their_counters():
    stream = Stream(7).child("shuffle")
    near = np.arange(50, dtype=np.int64)
    far = np.array([49, 3, 10**9], dtype=np.int64)
    alone = stream.words(np.array([10**9], dtype=np.int64))
    assert np.array_equal(stream.words(far)[:2], stream.words(near)[[49, 3]])
    assert np.array_equal(stream.words(far)[2:], alone)


KILLED = """
import os, signal
from celosia.data.spill import spill_folder
(spill_folder() / "part").write_text("x")
print(spill_folder(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
ENDED = KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", "")


def _run(code: str, place: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(place)}, capture_output=True, text=True
    )
    return Path(done.stdout.strip())


def test_spill_files_of_a_killed_process_are_gone_after_the_next_start(tmp_path):
    left = _run(KILLED, tmp_path)
    assert (left / "part").is_file()
    assert left.stat().st_mode & 0o777 == 0o700
    other = _run(ENDED, tmp_path)
    assert other.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_the_spill_directory_of_a_living_process_stays(tmp_path):
    code = "import sys\n" + ENDED + "sys.stdin.read()"
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdin=-1, stdout=-1, text=True) as living:
        place = Path(living.stdout.readline().strip())
        _run(ENDED, tmp_path)
        assert (place / "part").is_file()
        living.stdin.close()
    assert list(tmp_path.iterdir()) == []
