"""Certificates and private records whose keys have the form of earlier versions are read and verified."""

from __future__ import annotations

import hashlib
import json

import polars as pl

from celosia import verify
from celosia.release.evidence.certificate import load_certificate, load_record
from celosia.release.evidence.plain_data import canonical
from celosia.release.evidence.seal import commitments_of
from celosia.release.run import run

POLICY = """
[input]
path = "people.csv"
[schema]
identifiers = ["name"]
quasi = ["age"]
[[require]]
use = "k-anonymity"
k = 2
[[step]]
use = "recode"
column = "age"
breaks = [40]
[measure]
risks = ["prosecutor", "suda"]
[guard.acknowledge]
name = "the names are invented"
[output]
path = "safe.csv"
columns = ["name"]
report = false
"""


def test_sentences_as_keys_are_read_and_hashed_as_they_were_written(tmp_path):
    people = {"name": [f"n{i}" for i in range(40)], "age": [30 + i % 20 for i in range(40)]}
    pl.DataFrame(people).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    run(tmp_path / "policy.toml")
    certificate, record = tmp_path / "safe.certificate.json", tmp_path / "safe.private.json"
    stated, private = json.loads(certificate.read_text()), json.loads(record.read_text())
    stated["kept"][0]["values of the original"] = stated["kept"][0].pop("values_of_original")
    stated["checked"]["not checked"] = stated["checked"].pop("not_checked")
    stated["made by"] = "celosia run"
    stated["commitments"] = {"how": "HMAC", **commitments_of(load_record(record))}
    certificate.write_text(json.dumps(stated))
    private["certificate"] = hashlib.sha256(canonical(stated)).hexdigest()
    record.write_text(json.dumps(private))
    form = load_certificate(certificate)
    assert form.kept[0].values_of_original == "all"
    assert form.checked is not None
    assert "suda" in form.checked.not_checked
    assert form.made_by == "celosia run"
    assert form.content() == stated
    checks = {check.claim: check for check in verify(certificate, record=record, original=tmp_path / "people.csv")}
    assert checks["certificate of this record"].passed is True
    assert checks["commitment to the record"].passed is True
    assert checks["repetition gives the same numbers"].passed is True
