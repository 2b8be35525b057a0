"""Steps that a policy switches off are left out of a run, and of its repetition."""

from __future__ import annotations

import pytest

import celosia
from celosia.errors import PolicyError

POLICY = """
[input]
path = "people.csv"
[schema]
quasi = ["age"]
insensitive = ["income"]
[[step]]
use = "recode"
column = "age"
breaks = [40]
[[step]]
name = "rounded"
use = "round"
columns = ["income"]
base = 100
[output]
path = "safe.csv"
order = "kept"
[run]
seed = "00112233445566778899aabbccddeeff"
without = ["{name}"]
"""


@pytest.fixture
def folder(tmp_path):
    rows = "".join(f"{20 + i % 40},{1000 + 10 * (i % 7)}\n" for i in range(200))
    (tmp_path / "people.csv").write_text("age,income\n" + rows)
    return tmp_path


def test_a_step_that_is_switched_off_is_left_out_as_if_the_run_left_it_out(folder):
    (folder / "policy.toml").write_text(POLICY.format(name="rounded"))
    (folder / "all.toml").write_text(POLICY.replace("without", "# without").replace("safe", "other"))
    release = celosia.run(folder / "policy.toml")
    other = celosia.run(folder / "all.toml", without=["rounded"])
    assert [step["name"] for step in release.certificate["steps"]] == ["recode"]
    assert release.paths["data"].read_bytes() == other.paths["data"].read_bytes()
    repeated = celosia.verify(
        release.paths["certificate"], record=release.paths["record"], original=folder / "people.csv"
    )
    assert repeated.verdict == "verified"


def test_a_name_that_no_step_has_is_refused(folder):
    with pytest.raises(PolicyError, match=r"run.without: no step named 'round'.*Did you mean 'rounded'"):
        celosia.Policy.parse(POLICY.format(name="round"), folder)
