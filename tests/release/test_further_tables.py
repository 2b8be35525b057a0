"""Every table of a release gets every later step and is judged: further copies are as public as the first one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.reference.people import EXAMPLES, VALUES, people_table

import celosia
from celosia.cli.main import run as command
from celosia.errors import CelosiaError, ParameterError
from celosia.parts import build
from celosia.release.output.columns import further_tables
from celosia.release.verify.verify import verify

MAKERS = [
    "sequential-trees(columns=[x], leaf=5, copies=3)",
    "gaussian-copula(copies=2)",
    "ipso(dependent=[y], independent=[x], copies=2)",
    {"use": "dp-marginals", "marginals": [["q"], ["s"]], "epsilon": 1.0, "values": VALUES},
    "anatomise(l=2)",
]
FOLLOWERS = [{"use": name, **given} for name, examples in EXAMPLES.items() for given in examples]


@pytest.mark.parametrize("maker", MAKERS, ids=[str(build("method", maker).name) for maker in MAKERS])
def test_a_later_step_changes_every_table_or_is_refused(maker):
    made = celosia.protect(people_table(), maker, seed=3)
    before = {"main": made, **further_tables(made)}
    assert len(before) > 1
    followed = 0
    for follower in FOLLOWERS:
        try:
            done = celosia.protect(made, follower, seed=4)
        except CelosiaError:
            continue
        followed += 1
        after = {"main": done, **further_tables(done)}
        assert set(after) == set(before)
        changed = {name: not table.polars().equals(before[name].polars()) for name, table in after.items()}
        assert {tuple(table.names) for table in after.values()} == {tuple(done.names)}, follower
        if follower["use"] == "sample":
            assert all(len(table) < len(before[name]) for name, table in after.items()), follower
        if changed["main"] and follower["use"] not in {"suppress-cells", "record-swap", "local-generalise"}:
            # those change only what is rare, which another synthetic table may not have
            assert all(changed.values()), follower
    assert followed == 0 if build("method", maker).name in {"anatomise", "dp-marginals"} else followed > 10


@pytest.mark.parametrize(
    ("maker", "follower", "reason"),
    [
        ("anatomise(l=2)", "sample(share=0.1)", "'sensitive' has other columns"),
        ("ipso(dependent=[y], independent=[x], copies=2)", "gaussian-copula(copies=2)", "further tables itself"),
        (
            "gaussian-copula(copies=2)",
            {"use": "dp-histogram", "columns": ["q"], "epsilon": 1.0, "values": {"q": list("abcd")}},
            "once for each table",
        ),
    ],
)
def test_a_step_that_cannot_reach_further_tables_is_refused_with_a_way_forward(maker, follower, reason):
    made = celosia.protect(people_table(), maker, seed=3)
    with pytest.raises(ParameterError, match=reason) as refused:
        celosia.protect(made, follower, seed=3)
    assert "before that step" in str(refused.value)


def test_noise_on_a_shared_column_is_the_same_in_every_copy():
    """Independent noise could be averaged out over the copies."""
    done = celosia.protect(people_table(), MAKERS[0], "noise(columns=[y])", seed=3)
    for copy in further_tables(done).values():
        assert copy.column("y").to_list() == done.column("y").to_list()
        assert copy.column("x").to_list() != done.column("x").to_list()


def policy(folder: Path, steps: list[dict[str, Any]], **more: Any) -> celosia.Policy:
    rng = np.random.default_rng(2)
    n = 300
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(20, 80, n),
            "inc": rng.lognormal(10, 0.8, n).round(2),
            "dis": rng.choice(["flu", "cold", "hiv"], n),
        }
    )
    frame.write_csv(folder / "in.csv")
    schema = {"quasi": ["sex", "age"], "sensitive": ["dis"], "insensitive": ["inc"]}
    schema["hierarchies"] = {"age": {"use": "intervals", "width": 10}}
    facts = {
        "input": {"path": str(folder / "in.csv")},
        "schema": schema,
        "require": ["k-anonymity(k=5)"],
        "step": steps,
        "output": {"path": str(folder / "out.csv"), "overwrite": True},
        "guard": {"acknowledge": {"inc": "synthetic"}},
    }
    return celosia.Policy.of({**facts, **more})


TREES = {"use": "sequential-trees", "columns": ["inc"], "copies": 2}


def smallest_class(path: Path) -> int:
    rows = pl.read_csv(path, infer_schema=False).select("sex", "age").rows()
    return min(Counter(row for row in rows if row != ("*", "*")).values())


def test_every_written_copy_meets_the_requirements_and_the_certificate_states_it(tmp_path):
    drop = {"use": "drop", "columns": ["dis"]}
    release = celosia.run(policy(tmp_path, [TREES, {"use": "generalise", "suppress": 0.05}, drop]))
    assert release.holds
    for name in ("out.csv", "out.copy 2.csv"):
        assert smallest_class(tmp_path / name) >= 5
        assert "dis" not in pl.read_csv(tmp_path / name).columns
    (copy,) = json.loads((tmp_path / "out.certificate.json").read_text())["tables"]
    assert copy["requirements"][0]["holds"]
    assert copy["requirements"][0]["value"] == smallest_class(tmp_path / "out.copy 2.csv")
    assert copy["checked"]["confirmed"]
    checks = verify(tmp_path / "out.certificate.json").checks
    assert any("out.copy 2.csv" in check.claim and check.passed for check in checks if "anonymity" in check.claim)


def test_a_copy_below_the_requirement_fails_the_release(tmp_path):
    """The quasi-identifiers of the second copy are others: its classes are counted too."""
    release = celosia.run(policy(tmp_path, [{"use": "gaussian-copula", "copies": 2}]))
    values = [release.assessment.models[0].value, release.further["copy 2"].models[0].value]
    assert min(values) < 5
    assert not release.holds
    assert not release.certificate["holds"]


def test_a_forged_requirement_of_a_copy_is_noticed(tmp_path):
    celosia.run(policy(tmp_path, [TREES, {"use": "generalise", "suppress": 0.05}]))
    path = tmp_path / "out.certificate.json"
    certificate = json.loads(path.read_text())
    certificate["tables"][0]["requirements"][0]["value"] = 100.0
    path.write_text(json.dumps(certificate))
    failed = [check.claim for check in verify(path).checks if check.passed is False]
    assert [claim for claim in failed if "out.copy 2.csv" in claim]


def test_the_command_line_applies_later_steps_to_every_copy(tmp_path):
    policy(tmp_path, [])
    (tmp_path / "p.toml").write_text(
        """
input = {path = "in.csv"}
schema = {quasi = ["sex","age"], sensitive = ["dis"], insensitive = ["inc"], hierarchies = {age = {use="intervals", width=10}}}
require = [{use="k-anonymity", k=5}]
step = [{use="sequential-trees", columns=["inc"], copies=2}, {use="generalise", suppress=0.05}]
output = {path = "out.csv"}
"""
    )
    assert command(["run", str(tmp_path / "p.toml")]) == 0
    assert smallest_class(tmp_path / "out.copy 2.csv") >= 5


@pytest.mark.parametrize("follower", ["mondrian(require=[k-anonymity(k=2)])", "microaggregate(columns=[x, y], k=3)"])
def test_a_step_that_recodes_shared_columns_in_each_copy_in_another_way_is_refused(follower):
    """Files of different recodings of the same records can be intersected."""
    table = people_table().with_schema(celosia.Schema.of(quasi=["x", "y"]))
    with pytest.raises(ParameterError, match="which they share, in each of them in another way"):
        celosia.protect(table, MAKERS[2], follower, seed=3)
