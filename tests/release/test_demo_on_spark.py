"""The demonstration's policy on Spark: persons, classes, losses and the released records are those of Polars."""

import polars as pl
import pytest

from celosia.demo.prepare import prepare
from celosia.release.running import run

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.long]


def test_the_demonstration_is_the_same_on_spark(spark, tmp_path):
    """The session brings at most 4 MB to the driver in one result."""
    policy = prepare(tmp_path, persons=400)
    pl.read_csv(tmp_path / "original.csv", try_parse_dates=True).write_parquet(tmp_path / "original.parquet")
    text = policy.read_text("utf-8").replace("original.csv", "original.parquet").replace("release.csv", "{out}.csv")
    told = {}
    for engine in ("polars", "spark"):
        settings = f'report = false\n[run]\nseed = 1\ntesting = true\nengine = "{engine}"\n'
        (tmp_path / f"{engine}.toml").write_text(text.replace("{out}", engine) + settings, "utf-8")
        certificate = run(tmp_path / f"{engine}.toml").certificate
        names = ("requirements", "risks", "losses", "holds", "counted")
        found = {name: certificate[name] for name in names}, certificate["steps"][0]["evidence"]["levels"]
        told[engine] = found, (tmp_path / f"{engine}.csv").read_bytes()
    assert told["spark"] == told["polars"]
