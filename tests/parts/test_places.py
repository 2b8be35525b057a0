"""Parameters that name files: where their paths start, and what a part is called wherever they lie."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import celosia
from celosia.parts import build, find, identity, kinds, parts, resolve_paths

EXAMPLES = [
    ("method", {"use": "noise", "columns": ["a", "b"], "p": 0.2}),
    ("method", {"use": "generalise", "require": ["k-anonymity(k=3)", "l-diversity(l=2, column=s)"], "suppress": 0.1}),
    ("method", {"use": "pram", "columns": ["a"]}),
    ("method", {"use": "recode", "column": "a", "mapping": {"x": "y z"}}),
    ("model", {"use": "t-closeness", "t": 0.2, "column": "s"}),
    ("loss", {"use": "domain-loss", "weights": {"a": 2.0}}),
]


@pytest.mark.parametrize(("kind", "spec"), EXAMPLES)
def test_without_files_a_part_is_called_as_it_is_written(kind, spec):
    part = build(kind, spec)
    assert identity(part) == str(part)


@pytest.mark.parametrize("kind", ["method", "model", "risk", "loss", "mechanism"])
def test_so_is_every_part_by_its_defaults(kind):
    assert kind in kinds()
    for cls in parts(kind).values():
        if not any(info.is_required() for info in cls.model_fields.values()):
            try:
                part = cls()
            except celosia.CelosiaError:
                continue
            assert identity(part) == str(part)


def test_a_part_is_called_the_same_wherever_its_files_lie():
    spec = {"use": "generalise", "require": ["k-map(k=3, population=people.csv)"]}
    here, there = (build("method", resolve_paths("method", spec, Path(place))) for place in ("here", "/there"))
    assert str(here) != str(there)
    assert identity(here) == identity(there)
    other = build("method", {"use": "generalise", "require": ["k-map(k=3, population=others.csv)"]})
    assert identity(other) != identity(here)


def test_a_run_from_another_folder_gives_the_same_bytes(tmp_path, monkeypatch):
    """The order of the records is drawn by the name of the steps, and a population is part of one."""
    place = tmp_path / "project"
    place.mkdir()
    pl.DataFrame({"q": list("aabb") * 20, "n": range(80)}).write_csv(place / "people.csv")
    (place / "policy.toml").write_text(
        '[input]\npath = "people.csv"\n[schema]\nquasi = ["q"]\nidentifiers = ["n"]\n[[require]]\nuse = "k-map"\nk = 2\n'
        'population = "people.csv"\n[[step]]\nuse = "generalise"\n[output]\nreport = false\n'
        "[run]\nseed = 123456789012345678901234567890\n"
    )
    written = []
    for folder in (tmp_path, place):
        monkeypatch.chdir(folder)
        policy = (place / "policy.toml").relative_to(folder)
        written.append(celosia.run(policy, overwrite=True).paths["data"].read_bytes())
    assert written[0] == written[1]
    assert find("method", "generalise")
