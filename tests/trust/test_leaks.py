"""Values of the original that must leave nowhere: looked for in everything that a release writes and says, in every format."""

from __future__ import annotations

import logging
import stat
import tempfile
import warnings
from pathlib import Path

import pytest
from tests.trust.canaries import CANARIES, LABEL, NOTE, content, original, told
from tests.trust.tried import Tried, tried

from celosia.cli.main import run as command
from celosia.data.io import write
from celosia.data.io.filetypes import file_types

PRIVATE = (".private.json", ".internal.html")
ENDINGS = {"csv": ".csv.gz", "sas": ".xpt"}
FORMATS = {name: ENDINGS.get(name, kind.suffixes[0]) for name, kind in file_types().items() if kind.read and kind.write}
"""Those that can be read and written, each with an ending."""
POLICY = """
[input]
path = "people{ending}"
[schema]
identifiers = ["name"]
quasi = ["town", "region"]
sensitive = ["pay"]
[[require]]
use = "k-anonymity"
k = 3
[[step]]
use = "round"
columns = ["pay"]
base = 100000
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=3)"]
[output]
path = "out/safe{ending}"
"""


def lay(place: Path, name: str, ending: str) -> None:
    """The original in a format, with what else such a file can hold."""
    path = place / f"people{ending}"
    if name == "spss":
        import pyreadstat

        labels = {"region": {1: "north", 2: "south", 9: LABEL}}
        pyreadstat.write_sav(original(), path, file_label=NOTE, note=NOTE, variable_value_labels=labels)
    elif name == "stata":
        import pyreadstat

        pyreadstat.write_dta(original(), path, variable_value_labels={"region": {1: "north", 2: "south", 9: LABEL}})
    elif name == "excel":
        import xlsxwriter

        with xlsxwriter.Workbook(path) as book:
            original().write_excel(book, worksheet="people")
            hidden = book.add_worksheet("more")
            hidden.write(0, 0, NOTE)
            hidden.hide()
    else:
        write(original(), path)
    (place / "policy.toml").write_text(POLICY.format(ending=ending))
    (place / "out").mkdir()


@pytest.fixture
def said(monkeypatch, tmp_path, capsys, caplog):
    """Run commands in a folder; tells all that they said: on both streams, in logs and warnings."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG)

    def run(*words: str) -> tuple[int, bytes]:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            code = command(list(words))
        heard = capsys.readouterr()
        more = " ".join([*(str(w.message) for w in warned), caplog.text])
        return code, (heard.out + heard.err + more).encode()

    return run


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_of_it_leaves_in_any_format(name, tmp_path, said):
    lay(tmp_path, name, FORMATS[name])
    blobs = {}
    code, blobs["run"] = said("run", "policy.toml")
    assert code == 0, blobs["run"].decode()
    _, blobs["verify"] = said("verify", "out", "--html", "out/verified.html")
    _, blobs["as JSON"] = said("verify", "out", "--json")
    _, blobs["again"] = said("run", "policy.toml")
    files = list((tmp_path / "out").iterdir())
    assert len(files) == 6
    for path in files:
        if path.name.endswith(PRIVATE):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        else:
            blobs[path.name] = content(path)
    leaks = {where: told(blob) for where, blob in blobs.items()}
    tried(
        f"leaks-{name}",
        [
            Tried(
                f"values of the original looked for in all that a release of {name} writes and says",
                len(CANARIES) * len(blobs),
                sum(map(len, leaks.values())),
                "a value found",
            )
        ],
    )
    assert leaks == {where: [] for where in blobs}
    assert told(content(tmp_path / f"people{FORMATS[name]}")), "the search finds them where they are"
    left = [path for path in (tmp_path / "tmp").rglob("*") if path.is_file() and told(content(path))]
    assert left == []


WRONG = {
    "no such column": ('quasi = ["town", "region"]', 'quasi = ["town", "regoin"]'),
    "numbers of texts": ('columns = ["pay"]', 'columns = ["town"]'),
    "too much asked": ("k = 3", "k = 60"),
    "a name released": ('identifiers = ["name"]', 'insensitive = ["name"]'),
    "bounds that do not fit": ("[[require]]", "[schema.bounds]\npay = [0, 10]\n[[require]]"),
    "another kind": ("[[require]]", '[schema.kinds]\ntown = "numeric"\n[[require]]'),
    "a hierarchy without the values": ("[[require]]", '[schema.hierarchies]\ntown = "towns.csv"\n[[require]]'),
    "an output that cannot be": ('path = "out/safe.csv"', 'path = "out"'),
    "a separator that is not there": ('path = "people.csv"', 'path = "people.csv"\nseparator = "|"'),
    "an order without the values": ("[[require]]", '[schema.orders]\ntown = ["Vic", "Olot"]\n[[require]]'),
}


def test_no_refusal_tells_a_value(tmp_path, said):
    lay(tmp_path, "csv", ".csv")
    (tmp_path / "towns.csv").write_text("Vic;Osona;*\nOlot;Garrotxa;*\n")
    policy = (tmp_path / "policy.toml").read_text()
    leaks = {}
    for what, (old, new) in WRONG.items():
        assert old in policy, what
        (tmp_path / "policy.toml").write_text(policy.replace(old, new))
        code, heard = said("run", "policy.toml", "--overwrite")
        assert code in (0, 2, 3), heard.decode()
        leaks[what] = told(heard)
    for words in (
        ["assess", "people.csv"],
        ["init", "people.csv", "--out", "p.toml"],
        ["compare", "people.csv", "towns.csv"],
    ):
        _, heard = said(*words)
        leaks[words[0]] = told(heard)
    tried(
        "leaks-messages",
        [
            Tried(
                "values of the original looked for in messages",
                len(CANARIES) * len(leaks),
                sum(map(len, leaks.values())),
                "a value found",
            )
        ],
    )
    assert leaks == {what: [] for what in leaks}


APPLIED = """
[input]
path = "people.csv"
[schema]
identifiers = ["name"]
quasi = ["region"]
sensitive = ["pay"]
insensitive = ["town"]
[[step]]
use = "drop"
columns = ["town"]
[[step]]
use = "round"
columns = ["pay"]
base = 100000
[output]
path = "out/safe.csv"
report = false
"""
TRIED = [
    ["apply", "out/safe.private.json", "people.csv", "--out", "made/more.csv"],
    ["apply", "out/safe.private.json", "people.csv", "--out", "made/more.csv"],  # it is there already
    ["apply", "out/safe.private.json", "towns.csv", "--out", "made/other.csv"],
    ["protect", "drop", "people.csv", "--columns", "name,town,pay", "--quasi", "region", "--out", "made/dropped.csv"],
    ["protect", "drop", "people.csv", "--columns", "nmae", "--quasi", "region", "--out", "made/none.csv"],
    ["protect", "noise", "people.csv", "--columns", "town", "--out", "made/none.csv"],
    ["protect", "top-code", "people.csv", "--column", "town", "--at", "3", "--out", "made/none.csv"],
    ["explain-risk", "1", "people.csv", "towns.csv", "--key", "nmae"],
]
EXPLORED = [
    *("explore", "people.csv", "--quasi", "town,region", "--seeds", "1", "--seed", "7", "--workers", "1", "--json"),
    *("--candidate", "noise(columns=[pay], p=0.1)", "--candidate", "rank-swap(columns=[pay], window=0.3)"),
    *("--candidate", "round(columns=[town], base=3)", "--risk", "distance-linkage(columns=[pay])"),
    *("--loss", "probabilistic-loss(columns=[pay])", "--store", "made/kept.jsonl", "--html", "made/map.html"),
]


def test_nothing_of_it_leaves_by_other_commands(tmp_path, said):
    """New records, one method alone and an exploration: what they write, keep and say."""
    lay(tmp_path, "csv", ".csv")
    (tmp_path / "policy.toml").write_text(APPLIED)
    (tmp_path / "towns.csv").write_text("Vic;Osona;*\nOlot;Garrotxa;*\n")
    (tmp_path / "made").mkdir()
    code, heard = said("run", "policy.toml")
    assert code == 0, heard.decode()
    blobs, codes = {}, []
    for number, words in enumerate([*TRIED, EXPLORED]):
        code, blobs[f"{number} {words[0]}"] = said(*words)
        codes.append(code)
    assert codes == [0, 2, 2, 0, 2, 2, 2, 2, 0], [blob[-300:] for blob in blobs.values()]
    for path in (tmp_path / "made").rglob("*"):
        blobs[path.name] = content(path)
    assert {"more.csv", "dropped.csv", "kept.jsonl", "map.html"} <= set(blobs)
    leaks = {where: told(blob) for where, blob in blobs.items()}
    what = "values of the original looked for in what apply, protect, explain-risk and explore write and say"
    tried("leaks-commands", [Tried(what, len(CANARIES) * len(blobs), sum(map(len, leaks.values())), "a value found")])
    assert leaks == {where: [] for where in blobs}
    left = [path for path in (tmp_path / "tmp").rglob("*") if path.is_file() and told(content(path))]
    assert left == []
