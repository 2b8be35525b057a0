"""A run on a table that is not kept in memory: the same bytes and numbers, nothing collected but counts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.data.engines import engine_named
from celosia.release.evidence.certificate import record_of
from celosia.release.evidence.row_map import pack_rows, row_map
from celosia.release.run import run
from celosia.release.verify.verify import verify

POLICY = """
[input]
path = "people.parquet"
[schema]
quasi = ["sex", "age", "area"]
sensitive = ["disease"]
[schema.hierarchies]
age = {{use = "intervals", width = 5}}
area = {{use = "prefixes"}}
[[require]]
use = "k-anonymity"
k = 5
[[require]]
use = "l-diversity"
l = 2
[[step]]
use = "generalise"
suppress = {suppress}
drop = {drop}
[measure]
losses = ["altered-records", "discernibility", "domain-loss"]
[output]
path = "safe.{ending}"
report = {report}
overwrite = true
[run]
seed = 7
testing = true
"""


def _people(place, rows=4000):
    rng = np.random.default_rng(3)
    pl.DataFrame(
        {
            "sex": pl.Series(["F", "M", None]).gather(rng.integers(0, 3, rows)),
            "age": rng.integers(18, 60, rows),
            "area": [f"{code:03d}" for code in rng.integers(100, 130, rows)],
            "disease": rng.choice(["flu", "cold", "gout"], rows),
        }
    ).write_parquet(place / "people.parquet")


def _release(place, engine, *, suppress=0.03, drop="false", ending="parquet", report="false"):
    text = POLICY.format(suppress=suppress, drop=drop, ending=ending, report=report)
    (place / "policy.toml").write_text(text)
    return run(place / "policy.toml", engine=engine)


def _numbers(release):
    stated = release.certificate
    evidence = {k: v for k, v in release.record["steps"][0]["evidence"].items() if k not in {"checked", "search"}}
    names = ("requirements", "risks", "losses", "guard", "holds")
    return {name: stated[name] for name in names}, stated["release"], evidence


@pytest.mark.parametrize("drop", ["false", "true"])
def test_a_table_that_is_run_through_gives_the_same_release(tmp_path, monkeypatch, drop):
    _people(tmp_path)
    kept = _release(tmp_path, "polars", drop=drop, report="true")
    expected, map_of_kept = _numbers(kept), row_map(kept.private)
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    for engine in ("polars", "duckdb"):
        streamed = _release(tmp_path, engine, drop=drop, report="true")
        assert _numbers(streamed) == expected, engine
        assert np.array_equal(row_map(streamed.private), map_of_kept)
        assert [(c.name, c.after, c.altered) for c in streamed.changes] == [
            (c.name, c.after, c.altered) for c in kept.changes
        ]


def test_a_run_collects_counts_and_no_column(tmp_path, monkeypatch):
    _people(tmp_path)
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    polars = type(engine_named("polars"))
    collect, heights = polars.collect, []

    def counting(self, frame):
        frame = collect(self, frame)
        heights.append(len(frame))
        return frame

    monkeypatch.setattr(polars, "collect", counting)
    _release(tmp_path, "polars", suppress=0.0)
    combinations = pl.read_parquet(tmp_path / "people.parquet").n_unique()
    assert max(heights) <= combinations < 4000


def test_the_row_map_is_computed_from_the_key_and_old_records_still_tell_it(tmp_path):
    _people(tmp_path, 300)
    release = _release(tmp_path, "polars", drop="true", suppress=0.5)
    order = row_map(release.private)
    assert len(order) == release.certificate["release"]["rows"] < 300
    assert "rows" not in release.record
    before = pl.read_parquet(tmp_path / "people.parquet")["disease"].gather(order)
    assert before.to_list() == pl.read_parquet(tmp_path / "safe.parquet")["disease"].to_list()
    assert np.array_equal(row_map(record_of({**release.record, "rows": pack_rows(order)})), order)
    found = verify(release.paths["certificate"], record=release.paths["record"], original=tmp_path / "people.parquet")
    assert found.holds


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_run_streams_an_input_above_its_own_limit(tmp_path, monkeypatch, engine):
    _people(tmp_path)
    small = _release(tmp_path, engine, suppress=0.0, report="true")
    assert small.original.counts.frame is not None or engine == "duckdb"
    monkeypatch.setattr(sys.modules["celosia.release.run"], "RESIDENT_INPUT", 1)
    streamed = _release(tmp_path, engine, suppress=0.0, report="true")
    assert streamed.original.counts.frame is None
    assert _numbers(streamed) == _numbers(small)


def _internal_report(place, engine):
    text = _release(place, engine, suppress=0.0, report="true").paths["internal"].read_text("utf-8")
    return re.sub(r"[0-9a-f]{16,}|\d\d:\d\d(:\d\d)?", "", text)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_the_report_of_a_streamed_run_has_what_that_of_rows_in_memory_has(tmp_path, monkeypatch, engine):
    """Charts of dependences and records at risk, which are about single records."""
    _people(tmp_path)
    kept = _internal_report(tmp_path, "polars")
    monkeypatch.setattr(sys.modules["celosia.release.run"], "RESIDENT_INPUT", 1)
    streamed = _internal_report(tmp_path, engine)
    for part in ('<section id="dependences">', '<section id="owner">'):
        sections = [text.split(part)[1].split("</section>")[0] for text in (kept, streamed)]
        assert sections[0] == sections[1], part


STOPPED = """
import os, signal, sys
import celosia.data.engines.engine as engine
import celosia.release.run as running
from celosia.data.spill import spill_folder

engine.RESIDENT = 1  # the rows are run through, not kept

def stopped(visible, draft, target, release, policy):
    (spill_folder() / "part").write_text("x")
    batch = next(iter(visible.collect_batches(chunk_size=100, maintain_order=True)))
    batch.write_csv(draft)
    print(len(batch), "of", len(release.table), "rows", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

running._write_data = stopped
running.run(sys.argv[1], engine=sys.argv[2])
"""


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.sampled
def test_a_killed_run_leaves_no_output_and_its_spill_files_go_with_the_next_start(tmp_path, engine):
    _people(tmp_path)
    (tmp_path / "policy.toml").write_text(POLICY.format(suppress=0.0, drop="false", ending="csv", report="false"))
    place = tmp_path / "spill"
    place.mkdir()
    environment = {**os.environ, "TMPDIR": str(place)}
    stop = [sys.executable, "-c", STOPPED, str(tmp_path / "policy.toml"), engine]
    killed = subprocess.run(stop, env=environment, check=False, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert killed.stdout == "100 of 4000 rows\n"
    assert not (tmp_path / "safe.csv").exists()
    assert list(place.iterdir())
    # whatever engine the next run has: this one needs no spill folder of its own
    again = f"import celosia; celosia.run({str(tmp_path / 'policy.toml')!r}, engine='polars')"
    subprocess.run([sys.executable, "-c", again], env=environment, check=True, capture_output=True)
    assert (tmp_path / "safe.csv").exists()
    assert not list(place.iterdir())
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".part-")]


def test_memory_is_read_from_the_policy_and_refused_when_it_says_nothing(tmp_path):
    _people(tmp_path, 100)
    table = celosia.read(tmp_path / "people.parquet", engine="duckdb", memory="1GB")
    assert table.engine.memory == 10**9
    limit = table.engine.connection.sql("SELECT current_setting('memory_limit')").fetchone()
    assert limit[0] == "476.8 MiB"  # the half that DuckDB's own buffers may take
    cached = table.engine.connection.sql("SELECT current_setting('enable_external_file_cache')").fetchone()
    assert cached == (False,)  # or what was read of a file stays in them
    with pytest.raises(celosia.errors.ParameterError, match="a size is written as 2GB"):
        celosia.read(tmp_path / "people.parquet", memory="much")
    text = POLICY.format(suppress=0.0, drop="false", ending="csv", report="false") + 'memory = "10MB"\n'
    (tmp_path / "policy.toml").write_text(text)
    with pytest.raises(celosia.errors.PolicyError, match="at least 256MB"):
        run(tmp_path / "policy.toml")
