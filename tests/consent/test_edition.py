"""Public report: withheld counts, rounded shares, and blank cells that the public files do not determine."""

from __future__ import annotations

import json

import polars as pl
import pytest

from celosia.consent.protection.protection import Design
from celosia.consent.publication import request as requests
from celosia.consent.publication.edition import WITHHELD, public
from celosia.consent.publication.request import Request, publish, write
from celosia.consent.rules.rules import read_toml
from celosia.release.evidence.public import Disclosure

MANY = Disclosure(records=200, changed=100)
"""Shares are published in steps of 0.05."""


def report_of(*owners, total=None, everybody=100, strengthen=()):
    blocks = [
        {"inference": f"i{n}", "owners": n, "rows": 2 * n, "rows whose X it decides": n, "X": 10, "columns": ["a"]}
        for n in owners
    ]
    total = max(owners, default=0) if total is None else total
    risk = {"value": 0.512, "low": 0.4, "high": 0.6, "baseline": 0.123, "records": 200}
    loss = {"altered": 0.333, "gcp": 0.0444}
    facts = {"rows": 200, "smallest class": 9, "blocked rows": 2 * total, "of them blocked": 1.0, "X": 10}
    return {
        "method": {"rule": "coarser", "strengthen": list(strengthen)},
        "before": {"alpha": 0.5},
        "rows without an owner": 0,
        "owners": everybody,
        "owners who block": total,
        "rows marked": 2 * total,
        "blocks": blocks,
        "facts": facts,
        "measured": {
            rule: {
                "losses": dict.fromkeys(("all", "blocking", "others"), loss),
                "p_reid": dict.fromkeys(("all", "blocking", "others"), risk),
                "facts": facts,
                "alpha": 0.0,
                "cm": {"a": 0.123},
            }
            for rule in ("coarser", "standard", "control")
        },
    }


@pytest.mark.parametrize("few", [0, 1, 4, 30, 66, 67, 99, 100])
def test_counts_of_blocks_are_withheld(few):
    shown = public(report_of(few), MANY)
    assert shown["blocks"][0]["owners"] is None
    assert shown["blocks"][0]["rows"] is None
    assert shown["blocks"][0]["rows whose X it decides"] is None
    assert shown["rows marked"] is None
    assert shown["withheld"] == WITHHELD
    assert shown["facts"] == {"rows": 200, "smallest class": 9}
    assert shown["before"] == {}
    losses = {"all": {"altered": 0.35, "gcp": 0.05}}
    assert shown["measured"] == {"coarser": {"losses": losses, "p_reid": {"all": {"value": 0.5}}}}


def test_shares_of_few_changed_records_are_withheld():
    assert public(report_of(30), Disclosure(records=200, changed=9))["measured"] == {}


def test_one_person_more_changes_no_number():
    fewer, more = (public(report_of(n), MANY) for n in (66, 67))
    assert fewer == {**more, "blocks": fewer["blocks"]}


def test_who_asked_is_for_the_publisher_alone():
    """Every coarse place belongs to a blocking owner: who reads that knows who asked."""
    assert "of them blocked" not in json.dumps(public(report_of(30), MANY))
    assert report_of(30)["facts"]["of them blocked"] == 1.0


def test_numbers_over_all_rows_are_withheld_when_rows_are_left_out():
    """300 people in the result and 225 in the file: 75 block, and one person more shows who."""
    shown = public(report_of(75, everybody=300, strengthen=("exclude",)), MANY)
    assert shown["owners"] is None
    assert shown["rows without an owner"] is None
    assert shown["before"] == shown["measured"] == {}


CATALOGUE = read_toml(
    '[[inference]]\nid = "hiv"\ndescription = "deduce whether I have HIV"\nextra = 5\n'
    '[[inference.rule]]\ntables = {patient = ["hiv"]}\n'
)
N = 300


@pytest.mark.parametrize("rule", ["class", "coarser"])
def test_every_value_of_a_blank_cell_gives_the_same_public_files(store, tmp_path, monkeypatch, rule):
    """Two of 300 people block, with a value of their own each time; the draws are those of one original."""
    monkeypatch.setattr(requests, "table_fingerprint", lambda _: b"")
    owners = [f"B{i:04d}" for i in range(N)]
    store.add_owners(owners)
    store.load(pl.DataFrame({"owner": ["B0007", "B0100"], "inference": "hiv", "block": True}), ["hiv"])
    places = [[0, 0, 0, 1, 1, 1, 1, 2, 2, 3][i % 10] for i in range(N)]
    columns = {"canton": [f"C{d // 2}" for d in places], "district": [f"D{d}" for d in places]}
    frame = pl.DataFrame({"card": owners, **columns, "hiv": ["yes" if i % 9 == 1 else "no" for i in range(N)]})
    place = ("canton", "district")
    design = Design(k=40, rule=rule, tree=place, strengthen=("suppress",), camouflage=0.05)
    wanted = Request(
        sql="SELECT card, canton, district, hiv FROM patient",
        owner="card",
        quasi=place,
        sensitive=("hiv",),
        design=design,
        acknowledge={"hiv": "blank where it was asked for"},
    )
    files, exact = set(), set()
    for i, values in enumerate((("no", "no"), ("no", "yes"), ("yes", "yes"))):
        own = pl.col("card").replace_strict(dict(zip(("B0007", "B0100"), values, strict=True)), default=None)
        original = frame.with_columns(hiv=pl.coalesce(own, "hiv"))
        paths = write(publish(wanted, original, CATALOGUE, store, seed=1 << 70), tmp_path / str(i))
        certificate = json.loads(paths["certificate"].read_text())
        exact.add(json.dumps(json.loads(paths["record"].read_text())["report"]["before"]))
        assert certificate["measured"]
        stated = {key: value for key, value in certificate.items() if key not in ("commitments", "created")}
        texts = [paths[name].read_text() for name in ("data", "report", "page")]
        files.add((json.dumps(stated, sort_keys=True), *texts))
    assert len(files) == 1
    assert len(exact) == 3, "at full precision each original has a report of its own"
