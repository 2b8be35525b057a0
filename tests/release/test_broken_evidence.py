"""Broken and foreign files: one sentence and exit code 2, whatever is wrong with them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia import apply, verify
from celosia.cli.main import run as command
from celosia.errors import InputError
from celosia.release.run import run

POLICY = """
[input]
path = "people.csv"
[schema]
identifiers = ["name"]
quasi = ["age", "city"]
sensitive = ["ill"]
hierarchies = {age = "intervals(width=10)", city = {use = "levels", rows = [["Ur", "*"], ["Uruk", "*"]]}}
[[require]]
use = "k-anonymity"
k = 3
[[step]]
use = "generalise"
suppress = 0.1
[output]
path = "safe.csv"
report = false
"""

RAW = {
    "empty": b"",
    "white space": b" \n",
    "no text": bytes(range(256)),
    "another encoding": '{"format": "é"}'.encode("utf-16"),
    "null": b"null",
    "a number": b"7",
    "a text": b'"celosia certificate 1"',
    "a list": b"[]",
    "an empty object": b"{}",
    "another form": b'{"format": "celosia certificate 9"}',
    "the form of nobody": b'{"format": ["celosia certificate 1"]}',
    "deep brackets": b"[" * 200_000,
    "two documents": b"{}{}",
    "a page": b"<!doctype html><p>not found",
    "TOML": POLICY.encode(),
}
WRONG: list[Any] = [None, 7, "x", [], {}, [7], True]
"""Values of other types; those of the type of a field are left out."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with its evidence."""
    folder = tmp_path_factory.mktemp("release")
    rng = np.random.default_rng(1)
    people = {
        "name": [f"n{i}" for i in range(60)],
        "age": rng.integers(1, 60, 60),
        "city": rng.choice(["Ur", "Uruk"], 60),
        "ill": rng.choice(["x", "y"], 60),
    }
    pl.DataFrame(people).write_csv(folder / "people.csv")
    (folder / "policy.toml").write_text(POLICY)
    run(folder / "policy.toml")
    return folder


def broken(whole: dict[str, Any], needed: list[tuple[str, ...]]) -> dict[str, bytes]:
    """Files that lack one of the needed fields, or hold something of another type there."""
    made = {}
    for path in needed:
        lacking = copy.deepcopy(whole)
        del _table(lacking, path)[path[-1]]
        made[f"without {'.'.join(map(str, path))}"] = json.dumps(lacking).encode()
        right = _table(whole, path)[path[-1]]
        for wrong in WRONG:
            if type(wrong) is not type(right) and not (isinstance(right, float) and type(wrong) is int):
                changed = copy.deepcopy(whole)
                _table(changed, path)[path[-1]] = wrong
                made[f"{'.'.join(map(str, path))} = {wrong!r}"] = json.dumps(changed).encode()
    whole_text = json.dumps(whole).encode()
    made |= {f"cut at {share:.0%}": whole_text[: int(share * len(whole_text))] for share in (0.1, 0.5, 0.99)}
    return made


def _table(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        data = data[key]
    return data


CERTIFIED: list[tuple[Any, ...]] = [
    ("format",), ("release",), ("schema",), ("counted",), ("holds",), ("requirements",), ("risks",), ("commitments",),
    ("release", "file"), ("release", "sha256"), ("release", "rows"), ("release", "columns"), ("release", "suppressed"),
    ("requirements", 0, "part"), ("requirements", 0, "holds"), ("risks", 0, "part"),
]  # fmt: skip
RECORDED: list[tuple[Any, ...]] = [
    ("format",), ("key",), ("seed",), ("input",), ("certificate",), ("steps", 0, "name"), ("steps", 0, "parameters"),
]  # fmt: skip


def _refused(verb: Callable[[], Any]) -> str:
    """What is wrong with a refusal; empty when it is bad input, told in one line."""
    try:
        verb()
    except InputError as error:
        return "" if str(error) and "\n" not in str(error) else f"not one line: {str(error)[:200]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]!r}"
    return "not refused"


def _all_refused(files: dict[str, bytes], target: Path, verb: Callable[[], Any]) -> None:
    whole = target.read_bytes()
    try:
        wrong = {}
        for name, content in files.items():
            target.write_bytes(content)
            if said := _refused(verb):
                wrong[name] = said
    finally:
        target.write_bytes(whole)
    assert wrong == {}


@pytest.mark.parametrize("name", RAW)
def test_the_command_line_says_it_in_one_line_and_ends_with_2(name, tmp_path, capsys):
    (tmp_path / "safe.certificate.json").write_bytes(RAW[name])
    assert command(["verify", str(tmp_path / "safe.certificate.json")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("celosia: ")
    assert said.count("\n") == 1


def test_broken_certificates(place):
    target = place / "safe.certificate.json"
    files = {**RAW, **broken(json.loads(target.read_text()), CERTIFIED)}
    files["a record"] = (place / "safe.private.json").read_bytes()
    assert len(files) >= 60
    _all_refused(files, target, lambda: verify(target))


@pytest.mark.parametrize("verb", ["verify", "apply"])
def test_broken_records(place, verb):
    target = place / "safe.private.json"
    files = {**RAW, **broken(json.loads(target.read_text()), RECORDED)}
    files["a certificate"] = (place / "safe.certificate.json").read_bytes()
    assert len(files) >= 60
    verbs = {
        "verify": lambda: verify(place / "safe.certificate.json", record=target),
        "apply": lambda: apply(target, place / "people.csv"),
    }
    _all_refused(files, target, verbs[verb])


def changed(whole: dict[str, Any], **sections: Any) -> bytes:
    return json.dumps({**whole, **sections}).encode()


def test_evidence_that_names_what_nobody_knows(place):
    certificate, record = (place / f"safe.{name}.json" for name in ("certificate", "private"))
    stated, private = json.loads(certificate.read_text()), json.loads(record.read_text())
    claim, step = stated["requirements"][0], private["steps"][0]
    files = {
        "an unknown model": changed(stated, requirements=[{**claim, "part": "k-anonimity(k=3)"}]),
        "a part that cannot be read": changed(stated, requirements=[{**claim, "part": "k-anonymity(k="}]),
        "a parameter that nobody has": changed(stated, requirements=[{**claim, "part": "k-anonymity(j=3)"}]),
        "a column that is not there": changed(stated, requirements=[{**claim, "part": "l-diversity(l=2, column=z)"}]),
        "a loss as a risk": changed(stated, risks=[{"part": "discernibility", "value": 1.0}]),
        "a file elsewhere": changed(stated, release={**stated["release"], "file": "../people.csv"}),
        "a field that nobody knows": changed(stated, approved="by everybody"),
        "a misspelt field": changed(stated, lossses=[]),
        "how missing values count": changed(stated, schema={**stated["schema"], "missing": {"age": "never"}}),
    }
    _all_refused(files, certificate, lambda: verify(certificate))
    steps = {
        "an unknown method": changed(private, steps=[{**step, "parameters": {"use": "generalize"}}]),
        "no method": changed(private, steps=[{**step, "parameters": {}}]),
        "too few transformations": changed(private, steps=[step, step]),
        "a policy that is no TOML": changed(private, policy="[input"),
        "a policy without input": changed(private, policy=""),
        "a field that nobody knows": changed(private, sead="00"),
    }
    _all_refused(steps, record, lambda: apply(record, place / "people.csv"))


def test_transformations_that_do_not_fit(place):
    """What a step found has a form of its own: what cannot be followed is refused as well."""
    record = place / "safe.private.json"
    private = json.loads(record.read_text())
    found = private["transformation"][0]
    inner = found["transformation"]
    files = {
        "nothing": changed(private, transformation=[{}]),
        "a list": changed(private, transformation=[{**found, "transformation": []}]),
        "a text": changed(private, transformation=[{**found, "transformation": "x"}]),
        "a number": changed(private, transformation=[{**found, "transformation": 7}]),
        "no labels": changed(private, transformation=[{**found, "transformation": {**inner, "labels": None}}]),
        "labels of nobody": changed(private, transformation=[{**found, "transformation": {**inner, "labels": {"z": {}}}}]),
        "labels that are none": changed(private, transformation=[{**found, "transformation": {**inner, "labels": {"age": 7}}}]),
    }  # fmt: skip
    _all_refused(files, record, lambda: apply(record, place / "people.csv"))


def test_released_files_that_are_not_what_they_say(place, capsys):
    """They are contradicted by their hash, or cannot be read; nothing else."""
    data, certificate = place / "safe.csv", place / "safe.certificate.json"
    whole = data.read_bytes()
    try:
        for content in (
            b"",
            b"\0" * 100,
            b"age,city,ill\n",
            b"age\n1\n",
            b'"',
            whole[: len(whole) // 2],
            bytes(range(256)),
        ):
            data.write_bytes(content)
            code = command(["verify", str(certificate)])
            said = capsys.readouterr()
            assert code in (2, 3), content[:20]
            assert "internal error" not in said.err
    finally:
        data.write_bytes(whole)
