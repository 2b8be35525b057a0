"""Spark Connect: a client without a Java of its own reads, assesses and runs a policy on a server."""

import json
import subprocess
import sys

import polars as pl
import pytest

import celosia
from celosia.release.run import run

pytestmark = pytest.mark.xdist_group("spark")

POLICY = """
[input]
path = "people.parquet"
[schema]
person = "who"
quasi = ["age", "city"]
sensitive = ["ill"]
[schema.hierarchies]
age = {use = "intervals", width = 10}
[[require]]
use = "k-anonymity"
k = 2
[[step]]
use = "generalise"
suppress = 0.2
[[step]]
use = "noise"
columns = ["income"]
p = 0.1
[measure]
risks = ["prosecutor"]
losses = ["domain-loss"]
[output]
path = "{out}.csv"
report = false
[run]
seed = 1
testing = true
"""
CLIENT = """
import json, sys
import celosia
from celosia.release.run import run

place, engine = sys.argv[1:]
schema = celosia.Schema.of(quasi=["age", "city"], sensitive=["ill"], person="who")
table = celosia.read(f"{place}/people.parquet", schema, engine=engine)
found = celosia.assess(table, ["k-anonymity(k=2)", "l-diversity(l=2, column=ill)"], ["prosecutor"])
stated = run(f"{place}/connect.toml", engine=engine).certificate
values = [finding.value for finding in (*found.models, *found.risks)]
kind = type(table.rows.frame).__module__
print(json.dumps([kind, values, stated["requirements"], stated["risks"], stated["losses"]]))
"""


@pytest.fixture
def place(tmp_path):
    rows = range(60)
    people = pl.DataFrame(
        {
            "who": [f"p{i // 2}" for i in rows],
            "age": [20 + i // 2 % 25 for i in rows],
            "city": [("Vic", "Olot", None)[i // 2 % 3] for i in rows],
            "ill": [("flu", "cold", "gout")[i % 3] for i in rows],
            "income": [1000.0 + 37 * i for i in rows],
        }
    )
    people.write_parquet(tmp_path / "people.parquet")
    for out in ("polars", "connect"):
        (tmp_path / f"{out}.toml").write_text(POLICY.replace("{out}", out))
    return tmp_path


@pytest.mark.long
def test_a_client_reads_assesses_and_runs_a_policy(connect, place):
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(place), f"spark:{connect}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    kind, values, *stated = json.loads(done.stdout.splitlines()[-1])
    assert kind == "pyspark.sql.connect.dataframe"
    schema = celosia.Schema.of(quasi=["age", "city"], sensitive=["ill"], person="who")
    table = celosia.read(place / "people.parquet", schema)
    found = celosia.assess(table, ["k-anonymity(k=2)", "l-diversity(l=2, column=ill)"], ["prosecutor"])
    assert values == [finding.value for finding in (*found.models, *found.risks)]
    here = run(place / "polars.toml").certificate
    assert stated == [here["requirements"], here["risks"], here["losses"]]
    assert (place / "connect.csv").read_bytes() == (place / "polars.csv").read_bytes()
