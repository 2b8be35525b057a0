"""Projects of ARX become policies that load and run; what cannot be told is said; hostile files are one sentence."""

from __future__ import annotations

import contextlib
import json
import stat
import struct
import tomllib
import zipfile

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.migration.projects import COLUMNS, HIERARCHIES, INSENSITIVE, QUASI, ROWS, SENSITIVE, entries, packed

from celosia.cli.main import run as command
from celosia.errors import DataError, OutputError
from celosia.migration import archive, translate, write
from celosia.migration.arx_models import objective, requirement
from celosia.release.policy.policy import Policy


def read(path):
    """The policy of a project, as data."""
    translation = translate(path)
    return tomllib.loads(translation.policy()), translation


def test_a_project_becomes_a_policy_that_runs(project, tmp_path, capsys):
    out = tmp_path / "policy.toml"
    assert command(["import", str(project()), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "quasi: age, zip" in shown
    assert "Not translated, or not exactly:" in shown
    assert "Java objects" in shown
    policy = Policy.load(out)
    assert policy.schema.quasi == ("age", "zip")
    assert policy.schema.sensitive == ("disease",)
    assert [str(model) for model in policy.require] == ["k-anonymity(k=5)"]
    assert command(["run", str(out)]) == 0
    safe = pl.read_csv(tmp_path / "policy.safe.csv", separator=";", infer_schema=False)
    assert "name" not in safe.columns
    assert safe.group_by("age", "zip").len().filter(pl.col("age") != "*")["len"].min() >= 5


def test_data_and_hierarchies_lie_beside_it_for_the_owner_alone(project, tmp_path):
    path = project()
    written = write(translate(path), tmp_path / "p.toml", source=path)
    names = [file.name for file in written]
    assert names == ["p.toml", "p.hierarchy.age.csv", "p.hierarchy.zip.csv", "p.data.csv"]
    assert (tmp_path / "p.data.csv").read_bytes() == entries()["data/input.csv"]
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in written[1:])
    with pytest.raises(OutputError, match="there already"):
        write(translate(path), tmp_path / "p.toml", source=path)
    write(translate(path), tmp_path / "p.toml", source=path, overwrite=True)


def test_nothing_is_left_where_a_file_could_not_be_written(project, tmp_path):
    path = project()
    place = tmp_path / "new"
    place.mkdir()
    translation = translate(path)
    packed(path, {"other": b""})
    with pytest.raises(DataError, match="has no"):
        write(translation, place / "p.toml", source=path)
    assert list(place.iterdir()) == []


def test_settings_of_the_search_are_translated(project):
    columns = {
        **COLUMNS,
        "age": {**COLUMNS["age"], "min": 1, "max": 2},
        "disease": {"type": SENSITIVE, "datatype": "Ordinal", "format": "none\nflu"},
    }
    policy, _ = read(
        project(
            columns=columns,
            criteria=["4-anonymity", "distinct-2-diversity for attribute 'disease'"],
            limit=0.1,
            metric="Loss (0.25/1.0/0.5)",
            weights={"age": 0.5, "zip": 0.25},
            emptied=[QUASI, SENSITIVE],
        )
    )
    assert policy["require"] == [
        {"use": "k-anonymity", "k": 4},
        {"use": "l-diversity", "l": 2, "column": "disease"},
    ]
    assert policy["step"] == [
        {
            "use": "generalise",
            "suppress": 0.1,
            "objective": {"use": "domain-loss", "gs": 0.25},
            "levels": {"age": [1, 2]},
            "weights": {"age": 1.0, "zip": 0.5},
            "blank": True,
        }
    ]
    assert policy["schema"]["orders"] == {"disease": ["none", "flu"]}
    assert policy["schema"]["kinds"]["age"] == "numeric"
    assert policy["about"]["title"] == "Patients"


def test_a_microaggregated_column_gets_one_value_per_class(project):
    columns = {**COLUMNS, "age": {**COLUMNS["age"], "function": "Arithmetic mean"}}
    policy, translation = read(project(columns=columns, hierarchies={"zip": HIERARCHIES["zip"]}))
    assert policy["step"][0]["aggregate"] == {"age": "mean"}
    assert "age" not in policy["step"][0].get("levels", {})
    Policy.parse(translation.policy())


def test_a_column_without_a_hierarchy_stays_as_it_is(project):
    identity = [[row[0]] for row in HIERARCHIES["zip"]]
    for levels in ({"zip": identity}, {}):
        policy, _ = read(project(hierarchies={"age": HIERARCHIES["age"], **levels}))
        assert policy["step"][0]["levels"] == {"zip": 0}
        assert list(policy["schema"]["hierarchies"]) == ["age"]


def test_a_hierarchy_that_is_named_but_missing_is_told(project):
    _, translation = read(project({"input/hierarchies/zip.csv": None}))
    assert any("'zip' is not in the file" in str(note) for note in translation.notes)


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("5-anonymity", {"use": "k-anonymity", "k": 5}),
        ("distinct-3-diversity for attribute 'a'", {"use": "l-diversity", "l": 3, "column": "a"}),
        (
            "entropy-2.5-diversity for attribute 'a'",
            {"use": "l-diversity", "l": 2.5, "column": "a", "variant": "entropy"},
        ),
        (
            "shannon-entropy-3.0-diversity for attribute 'a'",
            {"use": "l-diversity", "l": 3, "column": "a", "variant": "entropy"},
        ),
        (
            "grassberger-entropy-2.0-diversity for attribute 'a'",
            {"use": "l-diversity", "l": 2, "column": "a", "variant": "entropy", "estimator": "grassberger"},
        ),
        (
            "recursive-(4.0,3)-diversity for attribute 'a b'",
            {"use": "l-diversity", "l": 3, "column": "a b", "variant": "recursive", "c": 4.0},
        ),
        (
            "0.2-closeness with equal ground-distance for attribute 'a'",
            {"use": "t-closeness", "t": 0.2, "column": "a", "distance": "equal"},
        ),
        (
            "0.2-closeness with hierarchical ground-distance for attribute 'a'",
            {"use": "t-closeness", "t": 0.2, "column": "a", "distance": "hierarchical"},
        ),
        (
            "0.2-closeness with ordered distance for attribute 'a'",
            {"use": "t-closeness", "t": 0.2, "column": "a", "distance": "ordered"},
        ),
        (
            "1.0-disclosure privacy for attribute 'it's'",
            {"use": "delta-disclosure", "delta": 1.0, "column": "it's"},
        ),
        ("basic-1.0-likeness for attribute 'a'", {"use": "beta-likeness", "beta": 1.0, "column": "a"}),
        (
            "enhanced-1.0-likeness for attribute 'a'",
            {"use": "beta-likeness", "beta": 1.0, "column": "a", "enhanced": True},
        ),
        ("(0.01)-sample-uniqueness", {"use": "sample-uniqueness", "share": 0.01}),
        ("(0.05)-avg-reidentification-risk", {"use": "average-risk", "risk": 0.05}),
        ("(<0.05)-avg-reidentification-risk", {"use": "average-risk", "risk": 0.05}),
        (
            "(0.05, 0.1666 (0.17), 0.01)-avg-reidentification-risk",
            {"use": "average-risk", "risk": 0.05, "highest": 0.17, "share": 0.01},
        ),
    ],
)
def test_a_sentence_names_a_requirement_that_can_be_built(sentence, part):
    from celosia.parts import build

    assert requirement(sentence) == part
    assert build("model", part)


@pytest.mark.parametrize(
    "sentence",
    [
        "(0.01)-population-uniqueness (pitman)",
        "(5)-map estimated as (2)-anonymity (Poisson)",
        "(0.0,0.5)-presence",
        "Inclusion",
        "something-new",
        "0-anonymity",
        "1e999-closeness with equal ground-distance for attribute 'disease'",
        "2.0-disclosure privacy for attribute 'visits'",
    ],
)
def test_a_model_that_is_not_told_whole_is_a_note_and_no_requirement(project, sentence):
    policy, translation = read(project(criteria=["5-anonymity", sentence]))
    assert len(policy["require"]) == 1
    assert any(repr(sentence) in str(note) for note in translation.notes)
    assert f"# - the privacy model {sentence!r}" in translation.policy()
    Policy.parse(translation.policy())


def test_without_a_model_there_is_no_step(project):
    policy, translation = read(project(criteria=["Inclusion"]))
    assert "step" not in policy
    assert any("no privacy model could be translated" in str(note) for note in translation.notes)
    Policy.parse(translation.policy())


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("Loss (0.5/1.0/1.0)", "domain-loss"),
        ("Non-monotonic precision", "precision"),
        ("Non-monotonic non-uniform entropy", "non-uniform-entropy"),
        ("Non-monotonic discernability", "discernibility"),
        ("Average equivalence class size", "average-class-size"),
        ("Ambiguity", "ambiguity"),
        ("Height", "height"),
        ("Publisher payout (prosecutor)", None),
    ],
)
def test_a_quality_model_is_an_objective(project, sentence, name):
    part, remark = objective(sentence)
    assert (part or {}).get("use") == name
    policy, translation = read(project(metric=sentence))
    assert ("objective" in policy["step"][0]) == (name is not None)
    assert name or remark in [note.text for note in translation.notes]
    Policy.parse(translation.policy())


def test_dates_numbers_and_types_that_are_not_known(project):
    rows = [["born", "seen", "pay", "what", "zip"], ["01.02.1980", "May 3", "1,5", "x", "13053"]]
    columns = {
        "born": {"type": INSENSITIVE, "datatype": "Date/Time", "format": "dd.MM.yyyy"},
        "seen": {"type": INSENSITIVE, "datatype": "Date/Time", "format": "MMM d"},
        "pay": {"type": INSENSITIVE, "datatype": "Decimal", "format": "#.###"},
        "what": {"type": INSENSITIVE, "datatype": "Colour"},
        "zip": {"type": QUASI},
    }
    policy, translation = read(project(columns=columns, rows=rows, hierarchies={"zip": HIERARCHIES["zip"]}))
    assert policy["input"]["dates"] == {"born": "%d.%m.%Y"}
    assert policy["schema"]["kinds"] == {"born": "date", "seen": "date", "pay": "numeric"}
    notes = " ".join(map(str, translation.notes))
    assert all(f"{name!r}" in notes for name in ("seen", "pay", "what"))
    Policy.parse(translation.policy())


@pytest.mark.parametrize("separator", [",", "\t", "|"])
def test_the_separator_of_the_project_counts(project, separator):
    policy, _ = read(project(separator=separator))
    assert policy["input"]["separator"] == separator


def test_an_early_project_in_another_encoding_is_read_with_a_remark(project, tmp_path):
    rows = "13053;Gironès;*\n13068;Gironès;*\n14850;Alt Empordà;*\n".encode("cp1252")
    path = project({"input/hierarchies/zip.csv": rows}, version="2.3.0", vocabulary="1.0")
    translation = translate(path)
    assert any("Windows-1252" in str(note) for note in translation.notes)
    write(translation, tmp_path / "p.toml", source=path)
    assert "Empordà" in (tmp_path / "p.hierarchy.zip.csv").read_text("utf-8")


def test_names_that_lead_elsewhere_stay_in_the_folder(project, tmp_path):
    place = tmp_path / "inner"
    place.mkdir()
    name = "../../../tmp/evil"
    columns = {name: {"type": QUASI}, **{key: value for key, value in COLUMNS.items() if key != "zip"}}
    rows = [[row[2], row[0], row[1], row[3], row[4]] for row in ROWS]
    rows[0][0] = name
    path = project(columns=columns, rows=rows, hierarchies={name: HIERARCHIES["zip"], "age": HIERARCHIES["age"]})
    written = write(translate(path), place / "p.toml", source=path)
    assert {file.parent for file in written} == {place}
    assert {file.name for file in place.iterdir()} == {file.name for file in written}


def test_the_project_itself_is_never_replaced(project, tmp_path):
    path = project(name="p.toml.deid")
    link = tmp_path / "p.toml"
    link.symlink_to(path)
    with pytest.raises(OutputError, match="is an original"):
        write(translate(path), link, source=path, overwrite=True)


ENTITIES = b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><definition>&b;</definition>'
OUTSIDE = b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><definition>&e;</definition>'
HOSTILE = {
    "entities": ({"input/definition.xml": ENTITIES}, "document type"),
    "a file of the machine": ({"input/definition.xml": OUTSIDE}, "document type"),
    "cut off": ({"input/definition.xml": b"<definition><assigment>"}, "not XML"),
    "no XML": ({"input/config.xml": b"\x00\x01"}, "not XML"),
    "an encoding that is none": (
        {"input/config.xml": b'<?xml version="1.0" encoding="nonsense"?><config/>'},
        "not XML",
    ),
    "bytes of another encoding": ({"input/definition.xml": b"<definition>\xff\xfe</definition>"}, "not XML"),
    "deep": ({"input/config.xml": b"<a>" * 5000}, "nested more than"),
    "no columns": ({"input/definition.xml": b"<definition/>"}, "describes no column"),
    "no name": ({"input/definition.xml": b"<definition><assigment/></definition>"}, "has no name"),
    "no data": ({"data/input.csv": None}, "has no data/input.csv"),
    "empty data": ({"data/input.csv": b""}, "header"),
    "other columns": ({"data/input.csv": b"a;b\n1;2\n"}, "header"),
    "uneven hierarchy": ({"input/hierarchies/age.csv": b"30;3*;*\n31;*\n"}, "different lengths"),
    "empty hierarchy": ({"input/hierarchies/age.csv": b""}, "different lengths"),
    "another vocabulary": ({"metadata.xml": b"<metadata><vocabulary>9.0</vocabulary></metadata>"}, "vocabulary '9.0'"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_project_is_one_sentence(project, tmp_path, capsys, case):
    changed, said = HOSTILE[case]
    out = tmp_path / "policy.toml"
    assert command(["import", str(project(changed)), "--out", str(out)]) == 2
    message = capsys.readouterr().err
    assert said in message
    assert len(message.strip().splitlines()) == 1
    assert not out.exists()


def test_archives_that_are_none_or_damaged_are_one_sentence(project, tmp_path, capsys):
    good = project().read_bytes()
    middle = good.index(b"input/definition.xml") + 80
    broken = {
        "empty": b"",
        "text": b"hello",
        "cut": good[: len(good) // 2],
        "changed": good[:middle] + bytes(byte ^ 0xFF for byte in good[middle : middle + 40]) + good[middle + 40 :],
    }
    for name, content in broken.items():
        path = tmp_path / f"{name}.deid"
        path.write_bytes(content)
        assert command(["import", str(path), "--out", str(tmp_path / "p.toml")]) == 2, name
        assert "not a zip file, or damaged" in capsys.readouterr().err, name
    assert command(["import", str(tmp_path / "none.deid")]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert command(["import", str(tmp_path / "cut.zip")]) == 2


def test_an_archive_under_a_password_or_with_two_entries_of_a_name_is_refused(project, tmp_path, capsys):
    locked = bytearray(project().read_bytes())
    place = locked.index(b"PK\x01\x02")
    struct.pack_into("<H", locked, place + 8, 1)  # the flag in the directory
    path = tmp_path / "locked.deid"
    path.write_bytes(bytes(locked))
    assert command(["import", str(path), "--out", str(tmp_path / "p.toml")]) == 2
    assert "encrypted" in capsys.readouterr().err
    twice = project(name="twice.deid")
    with zipfile.ZipFile(twice, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("input/config.xml", b"<config/>")
    assert command(["import", str(twice), "--out", str(tmp_path / "p.toml")]) == 2
    assert "two entries of one name" in capsys.readouterr().err


def test_what_grows_too_much_is_refused_before_and_while_it_is_unpacked(project, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST_TABLE", 1 << 16)
    with pytest.raises(DataError, match="would grow"):
        translate(project({"data/input.csv": entries()["data/input.csv"] + b"0" * (1 << 22)}))
    monkeypatch.setattr(archive, "LARGEST_XML", 100)
    with pytest.raises(DataError, match="larger than 100 bytes"):
        translate(project())


@settings(max_examples=120)
@given(st.randoms(use_true_random=False), st.sampled_from(sorted(entries())))
def test_any_change_of_a_project_is_a_policy_or_one_sentence(tmp_path_factory, random, name):
    content = bytearray(entries()[name])
    for _ in range(random.choice((1, 2, 5))):
        at = random.randrange(len(content) + 1)
        content[at : at + random.randrange(20)] = random.randbytes(random.randrange(5))
    path = packed(tmp_path_factory.mktemp("fuzz") / "p.deid", {**entries(), name: bytes(content)})
    archived = bytearray(path.read_bytes())
    if random.random() < 0.5:
        archived[random.randrange(len(archived))] ^= 1 << random.randrange(8)
        path.write_bytes(bytes(archived))
    with contextlib.suppress(DataError):
        translation = translate(path)
        Policy.parse(translation.policy())
        for fill in translation.files.values():
            fill(path.with_name("filled"))


def test_the_result_as_json(project, tmp_path, capsys):
    assert command(["import", str(project()), "--out", str(tmp_path / "p.toml"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["roles"]["sensitive"] == ["disease"]
    assert [step["use"] for step in told["steps"]] == ["generalise"]
    assert told["notes"]


def test_no_value_of_the_data_is_shown(project, tmp_path, capsys):
    rows = [[*row[:3], "canary-value", *row[4:]] if i else row for i, row in enumerate(ROWS)]
    assert command(["import", str(project(rows=rows)), "--out", str(tmp_path / "p.toml")]) == 0
    assert "canary" not in capsys.readouterr().out + (tmp_path / "p.toml").read_text()
