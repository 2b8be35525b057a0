"""The form of a policy: what it refuses, in which words, and where its paths start."""

from __future__ import annotations

import os

import polars as pl
import pytest

import celosia
from celosia import Policy
from celosia.cli.main import run as command
from celosia.errors import OutputError, PolicyError

POLICY = """
[input]
path = "people.csv"
[schema]
quasi = ["q"]
[[require]]
use = "k-anonymity"
k = 2
[output]
path = "safe.csv"
report = false
"""


@pytest.fixture
def place(tmp_path):
    """A folder with data and a policy, which is not the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    pl.DataFrame({"q": list("aabb")}).write_csv(folder / "people.csv")
    (folder / "policy.toml").write_text(POLICY)
    return folder


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format = 2", "format must be 1, got 2"),
        ("[outputs]", r"the policy has no key 'outputs'. Did you mean 'output'"),
        ("[output]\nreprt = true", r"\[output\] has no key 'reprt'. Did you mean 'report'"),
        ("[output]\nmode = 1", r"\[output\] has no key 'mode'"),
        ("[input]\npath = 'x.csv'\nseparater = 1", r"\[input\] has no key 'separater'. Did you mean 'separator'"),
        ("[input]\npath = 'x.csv'\nschema = 1", r"\[input\] has no key 'schema'"),
        ("[run]\nsed = 1", r"\[run\] has no key 'sed'. Did you mean 'seed'"),
        ("[run]\nseed = 'zz'", "run.seed must be a whole number or hexadecimal digits, from 0 to 512 bits.$"),
        ("[about]\ntitel = 'x'", r"\[about\] has no key 'titel'. Did you mean 'title'"),
        ("[output]\nreport = 'yes'", "output.report must be true or false, got 'yes'"),
        ("[output]\nlanguage = 'de'", "output.language must be 'en', 'es' or 'ca', got 'de'"),
        ("[schema]\nquasi = 'q'", "schema.quasi must be a list, got 'q'"),
        ("[schema]\nkinds = {q = 'number'}", "schema.kinds.q must be 'numeric', .*, got 'number'"),
        ("[schema]\nbounds = {q = [2, 1]}", "schema: bounds of column 'q' must be two numbers"),
        ("step = 3", "step must be a list"),
        ("step = [3]", r"\[\[step\]\] 1: must be a table"),
        ("[[step]]\nname = 'x'", r"\[\[step\]\] 1: no method named ''"),
        ("require = 3", "require must be a list, got 3"),
        ("output = 3", r"\[output\] must be a table"),
        ("[measure]\nrisks = ['prosecutr']", "measure.risks 1: no risk or attack named 'prosecutr'. Did you mean"),
        ("[explore]\nseeds = 0", "explore.seeds must be a whole number of at least 1, got 0"),
        ("[explore]\nseeds = 10001", "explore.seeds must be at most 10000, got 10001"),
        ("[explore]\nrisk = 'nothing'", "explore.risk: no risk or attack named 'nothing'"),
        ("[explore]\ncandidate = 'noise'", "explore.candidate must be a list"),
        ("[explore]\ncandidate = ['nois']", "explore.candidate 1: no method named 'nois'"),
        ("[input]\npath = 'x.csv'\nurl = 'sqlite:///y'", r"\[input\] needs either path or url"),
        ("[input]\npath = 'x.unknown'", r"input: 'x.unknown': no file type"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, message):
    if "[input]" not in text:
        text = f"{text}\n[input]\npath = 'people.csv'"
    with pytest.raises(PolicyError, match=message) as said:
        Policy.parse(text, name="policy.toml")
    assert str(said.value).startswith("policy.toml: ")
    assert "\n" not in str(said.value)


def test_a_policy_may_say_that_its_release_is_replaced(place):
    policy = place / "policy.toml"
    celosia.run(policy)
    with pytest.raises(OutputError, match="there already"):
        celosia.run(policy)
    policy.write_text(POLICY + "overwrite = true\n")
    assert command(["run", str(policy)]) == 0
    policy.write_text(POLICY.replace("safe.csv", "people.csv") + "overwrite = true\n")
    with pytest.raises(OutputError, match="an original is never overwritten"):
        celosia.run(policy)


def test_the_result_goes_beside_the_policy_unless_told(place):
    policy = place / "policy.toml"
    policy.write_text(POLICY.replace('path = "safe.csv"\n', ""))
    assert celosia.run(policy).paths["data"] == place / "safe.csv"
    assert Policy.parse('[input]\npath = "a.csv"', place).output.path == place / "safe.csv"


def test_paths_start_in_the_folder_of_the_policy(place, monkeypatch, tmp_path):
    """Of a population, of nested parts, of hierarchies however they are written, of keys in files."""
    pl.DataFrame({"q": list("aaabbb")}).write_csv(place / "population.csv")
    (place / "levels.csv").write_text("a;*\nb;*\n")
    (place / "key.txt").write_text("correct horse battery staple")
    (place / "policy.toml").write_text(
        POLICY.replace('quasi = ["q"]', 'quasi = ["q"]\nidentifiers = ["n"]\nhierarchies = {q = "levels(path=levels.csv)"}')
        + """
[[require]]
use = "k-map"
k = 3
population = {path = "population.csv"}
[[step]]
use = "generalise"
require = ["k-anonymity(k=2)", "k-map(k=3, population=population.csv)"]
[[step]]
use = "pseudonymise"
columns = ["n"]
key = "file:key.txt"
[measure]
risks = ["journalist(population=population.csv)"]
"""
    )  # fmt: skip
    pl.DataFrame({"q": list("aabb"), "n": list("abcd")}).write_csv(place / "people.csv")
    monkeypatch.chdir(tmp_path)
    assert celosia.run(place / "policy.toml").holds
    monkeypatch.chdir(place)
    assert celosia.run("policy.toml", overwrite=True).holds


def test_candidates_of_an_exploration_start_there_too(place):
    text = """
[input]
path = "people.csv"
[explore]
candidate = [
  "pram(columns=[q], matrix=m.csv)",
  {use = "subset", vary = {matching = ["one.csv", "two.csv"]}},
  {steps = [{use = "generalise", require = ["k-map(k=3, population=p.csv)"]}]},
]
"""
    first, second, third = Policy.parse(text, place).explore.candidates
    assert first["matrix"] == os.fspath(place / "m.csv")
    assert second["vary"] == {"matching": [os.fspath(place / "one.csv"), os.fspath(place / "two.csv")]}
    assert third["steps"][0]["require"][0]["population"] == os.fspath(place / "p.csv")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "sqlite+pysqlite"])
def test_databases_that_are_files_start_in_the_folder_of_the_policy(place, kind):
    def source(url: str) -> str:
        return Policy.parse(f'[input]\nurl = "{url}"\nquery = "t"', place).input.source

    assert source(f"{kind}:///x.db") == f"{kind}:///{place}/x.db"
    assert source(f"{kind}:///a/x.db?mode=ro") == f"{kind}:///{place}/a/x.db?mode=ro"
    assert source(f"{kind}:////var/x.db") == f"{kind}:////var/x.db"
    assert source(f"{kind}:///:memory:") == f"{kind}:///:memory:"
    text = f'[[require]]\nuse = "k-map"\nk = 2\npopulation = {{url = "{kind}:///p.db", query = "t"}}'
    (model,) = Policy.parse(f"[input]\npath = 'x.csv'\n{text}", place).require
    assert model.population["url"] == f"{kind}:///{place}/p.db"


def test_addresses_of_servers_are_no_paths(place):
    policy = Policy.parse('[input]\nurl = "postgresql://host/x.db"\nquery = "t"', place)
    assert policy.input.source == "postgresql://host/x.db"
    assert Policy.parse('[input]\nurl = "env:BASE"\nquery = "t"', place).input.source == "env:BASE"
    assert Policy.parse('[input]\nurl = "file:base.txt"\nquery = "t"', place).input.source == f"file:{place}/base.txt"


def test_what_python_gives_is_what_a_file_gives(place):
    schema = celosia.Schema.of(quasi=["q"])
    sections = {"input": {"path": "people.csv"}, "schema": schema, "require": [celosia.models.KAnonymity(k=2)]}
    policy = Policy.of({**sections, "output": {"path": "safe.csv", "report": False}}, place)
    assert dict(policy) == dict(Policy.load(place / "policy.toml"))
    assert celosia.run(policy).holds


def test_a_release_remembers_where_the_paths_of_its_policy_start(tmp_path, monkeypatch):
    """Data, hierarchies and release in folders of their own, and a verification that starts elsewhere."""
    for folder in ("data", "levels", "out"):
        (tmp_path / folder).mkdir()
    pl.DataFrame({"q": list("aabb")}).write_csv(tmp_path / "data" / "people.csv")
    (tmp_path / "levels" / "q.csv").write_text("a;*\nb;*\n")
    text = POLICY.replace('"people.csv"', '"data/people.csv"').replace('"safe.csv"', '"out/safe.csv"')
    text = text.replace('quasi = ["q"]', 'quasi = ["q"]\nhierarchies = {q = "levels/q.csv"}')
    (tmp_path / "policy.toml").write_text(text + '[[step]]\nuse = "recode"\ncolumn = "q"\nlevel = 1\n')
    celosia.run(tmp_path / "policy.toml")
    monkeypatch.chdir(tmp_path / "data")
    found = celosia.verify(tmp_path / "out", original=tmp_path / "data" / "people.csv")
    assert found.verdict == "verified"
    assert celosia.apply(tmp_path / "out" / "safe.private.json", tmp_path / "data" / "people.csv").holds
    moved = tmp_path / "moved"
    (tmp_path / "out").rename(moved)
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    (tmp_path / "levels").rename(tmp_path / "elsewhere" / "levels")
    found = celosia.verify(moved, original=tmp_path / "elsewhere" / "people.csv")
    assert found.verdict == "verified"


def test_a_release_of_a_policy_made_in_python_can_be_repeated(place, monkeypatch):
    """Its record holds the file that the policy could have been, with whole paths."""
    monkeypatch.chdir(place)
    pl.DataFrame({"q": [1, 2, 3, 4] * 3, "s": ["low", "high"] * 6, "n": list("abcdefghijkl")}).write_csv("people.csv")
    (place / "levels.csv").write_text("1;12;*\n2;12;*\n3;34;*\n4;34;*\n")
    schema = celosia.Schema.of(
        identifiers=["n"], quasi=["q"], sensitive=["s"], kinds={"q": "nominal", "s": "ordinal"},
        orders={"s": ["low", "high"]}, hierarchies={"q": "levels.csv"}, missing={"q": "category"},
    )  # fmt: skip
    made = Policy.of(
        {
            "about": {"title": 'A "title"'},
            "input": {"path": "people.csv", "separator": ","},
            "schema": schema,
            "require": [celosia.models.KAnonymity(k=3), "k-map(k=2, population=people.csv)"],
            "step": [{"use": "generalise"}],
            "measure": {"risks": ["prosecutor"], "losses": ["altered-records"]},
            "output": {"path": "made.csv", "report": False},
        }
    )
    celosia.run(made)
    monkeypatch.chdir(place.parent)
    found = celosia.verify(
        place / "made.certificate.json", record=place / "made.private.json", original=place / "people.csv"
    )
    assert found.verdict == "verified", found
    assert celosia.apply(place / "made.private.json", place / "people.csv").holds
