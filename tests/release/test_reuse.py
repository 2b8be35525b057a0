"""A transformation found once is applied to new records, and tells which of them it does not protect."""

from __future__ import annotations

import json

import polars as pl
import pytest

import celosia
from celosia.errors import DataError
from celosia.release.apply import apply
from celosia.release.evidence.certificate import load_record
from celosia.release.run import run

POLICY = """
[input]
path = "people.csv"

[schema]
quasi = ["age", "zip"]
sensitive = ["disease"]

[schema.kinds]
zip = "nominal"

[schema.hierarchies]
age = "intervals(width=10)"
zip = {use = "prefixes"}

[[require]]
use = "k-anonymity"
k = 2

[[step]]
use = "METHOD"
PARAMETERS

[output]
path = "safe.csv"
report = false
"""


@pytest.fixture
def released(tmp_path):
    def make(method, parameters="", **columns):
        people = pl.DataFrame(
            {
                "age": [31, 34, 38, 52, 55, 59],
                "zip": ["13053", "13068", "13053", "14850", "14853", "14850"],
                "disease": ["a", "b", "a", "c", "c", "b"],
                **columns,
            }
        )
        people.write_csv(tmp_path / "people.csv")
        (tmp_path / "policy.toml").write_text(POLICY.replace("METHOD", method).replace("PARAMETERS", parameters))
        return run(tmp_path / "policy.toml", overwrite=True)

    return make


def new(ages, zips):
    frame = pl.DataFrame({"age": ages, "zip": zips, "disease": ["a"] * len(ages)})
    return celosia.read(frame, celosia.Schema.of(quasi=["age", "zip"], sensitive=["disease"]))


@pytest.mark.parametrize("method", ["generalise", "local-generalise"])
def test_old_records_get_their_old_cells(released, method, tmp_path):
    release = released(method)
    again = apply(tmp_path / "safe.private.json", tmp_path / "people.csv")
    old = release.table.polars().select("age", "zip").sort("age", "zip")
    assert again.table.polars().select("age", "zip").sort("age", "zip").equals(old)
    assert again.holds
    assert not again.unplaced.any()
    assert again.spec()["requirements"][0]["violating"] == 0


def test_new_values_take_the_cell_that_covers_them(released, tmp_path):
    release = released("generalise")
    levels = release.table.history[-1]["levels"]
    assert levels == {"age": 1, "zip": 2}
    # 33 never occurred, but lies in a known interval; so does the area code 130**
    done = apply(tmp_path / "safe.private.json", new([33, 36], ["13099", "13001"]))
    assert done.table.polars()["zip"].to_list() == ["130**", "130**"]
    assert len(set(done.table.polars()["age"].to_list())) == 1
    assert done.holds


def test_violating_and_unknown_records_are_named(released, tmp_path):
    released("generalise")
    done = apply(tmp_path / "safe.private.json", new([33, 34, 57, 99], ["13053", "13053", "14850", "99999"]))
    assert done.unplaced.tolist() == [False, False, False, True]
    assert done.table.polars()["age"].to_list()[3] == "*"
    assert done.violating["k-anonymity(k=2)"].tolist() == [False, False, True, False]
    assert not done.holds
    # put together with the release the lonely record finds company
    joined = apply(tmp_path / "safe.private.json", new([57], ["14850"]), released=tmp_path / "safe.csv")
    assert joined.holds


def test_a_category_never_seen_has_no_place_in_a_column_that_stays(released, tmp_path, capsys):
    from celosia.cli.main import run as command

    same = ["14850"] * 6
    released("generalise", zip=same)  # every age needs its interval, the zip stays as it is
    assert load_record(tmp_path / "safe.private.json").transformation[0]["transformation"]["labels"]["zip"]
    done = apply(tmp_path / "safe.private.json", new([33] * 6, ["14850"] * 2 + ["99999"] * 2 + [None] * 2))
    assert done.unplaced.tolist() == [False, False, True, True, False, False]
    assert done.table.polars()["zip"].to_list() == ["14850"] * 2 + ["*"] * 2 + [None] * 2
    people = pl.DataFrame(
        {"age": [31, 59] * 60, "zip": (["14850"] * 4 + ["99999"] * 2) * 20, "disease": ["a", "a", "b", "b"] * 30}
    )
    people.write_csv(tmp_path / "new.csv")
    assert (
        command(["apply", f"{tmp_path}/safe.private.json", f"{tmp_path}/new.csv", "--out", f"{tmp_path}/out.csv"]) == 0
    )
    assert "40 fit no class" in capsys.readouterr().out


def test_a_local_transformation_places_what_fits_a_class(released, tmp_path):
    old = set(released("local-generalise").table.polars().select("age", "zip").rows())
    done = apply(tmp_path / "safe.private.json", new([31, 99], ["13053", "99999"]))
    cells = done.table.polars().select("age", "zip").rows()
    assert cells[0] in old
    assert done.unplaced[1] == (cells[1] not in old)


# -- boxes ---------------------------------------------------------------------------------------------------------------


def test_boxes_take_the_same_records_and_new_ones(released, tmp_path):
    release = released("mondrian")
    record, old = tmp_path / "safe.private.json", release.table.polars().select("age", "zip")
    assert sorted(set(old.rows())) == [("[30-50)", "130**"), ("[50-60)", "1485*")]
    again = apply(record, tmp_path / "people.csv")
    assert again.table.polars().select("age", "zip").sort("age", "zip").equals(old.sort("age", "zip"))
    assert again.holds
    # 33 and 13099 never occurred but fit; 99 lies outside, and no box holds the zip 99999
    done = apply(record, new([33, 32, 99, 33], ["13099", "13053", "14850", "99999"]))
    assert done.unplaced.tolist() == [False, False, True, True]
    assert done.table.polars().select("age", "zip").rows() == [("[30-50)", "130**")] * 2 + [("*", "*")] * 2
    assert done.holds
    assert done.table.suppressed() == 2


def test_boxes_name_the_records_that_a_requirement_fails_for(released, tmp_path):
    released("mondrian")
    done = apply(tmp_path / "safe.private.json", new([33, 32, 57], ["13053", "13053", "14850"]))
    assert done.violating["k-anonymity(k=2)"].tolist() == [False, False, True]
    assert not done.holds
    # among the records of the release it has company, because its cells are theirs
    joined = apply(tmp_path / "safe.private.json", new([57], ["14850"]), released=tmp_path / "safe.csv")
    assert joined.holds


def test_the_cuts_stay_private(released, tmp_path):
    released("mondrian")
    record = load_record(tmp_path / "safe.private.json")
    cuts = record.transformation[0]["transformation"]["cuts"]
    assert cuts == {"node": [0], "column": [0], "at": [["38", "50"]], "first": [1]}
    public = (tmp_path / "safe.certificate.json").read_text(encoding="utf-8")
    assert not [word for word in ("cuts", "spans", "parents", "13068") if word in public]


def test_class_sizes_that_records_ask_for_are_judged_again(released, tmp_path):
    release = released("mondrian", wish=[1, 1, 3, 1, 1, 1], parameters='target = "wish"')
    assert release.table.polars().group_by("age").len()["len"].to_list() == [3, 3]
    data = pl.DataFrame({"age": [33, 34, 53, 54], "zip": ["13053"] * 2 + ["14850"] * 2, "wish": [3, 2, 1, 2]})
    done = apply(tmp_path / "safe.private.json", data.with_columns(disease=pl.lit("a")))
    assert done.violating["k-anonymity(k=2)"].tolist() == [False] * 4
    assert done.violating["mondrian(target=wish)"].tolist() == [True, False, False, False]


# -- fuzzy labels and groups ---------------------------------------------------------------------------------------------


def test_labels_of_fuzzy_sets_are_reused(released, tmp_path):
    release = released("fuzzy-recode", parameters='columns = ["age"]\ncells = 2\nlabels = {age = ["young", "old"]}')
    record = tmp_path / "safe.private.json"
    again = apply(record, tmp_path / "people.csv")
    assert sorted(again.table.polars()["age"]) == sorted(release.table.polars()["age"]) == ["old"] * 3 + ["young"] * 3
    done = apply(record, new([20, 40, 58], ["13053", "13053", "13053"]))
    assert done.table.polars()["age"].to_list() == ["young", "young", "old"]
    assert done.violating["k-anonymity(k=2)"].tolist() == [False, False, True]
    assert not done.unplaced.any()
    public = (tmp_path / "safe.certificate.json").read_text(encoding="utf-8")
    assert "centres" not in public
    assert "centres" in record.read_text(encoding="utf-8")


def test_groups_of_an_anatomy_cannot_be_joined(released, tmp_path):
    released("anatomise", parameters='columns = ["disease"]')
    with pytest.raises(DataError, match=r"counts of their sensitive values are published.* Run the policy on the new"):
        apply(tmp_path / "safe.private.json", new([31], ["13053"]))


# -- numbers that a step took from the data ------------------------------------------------------------------------------


def test_limits_and_bins_are_those_of_the_release(released, tmp_path):
    released("top-code", parameters='columns = ["age"]\nquantile = 0.5')
    record = tmp_path / "safe.private.json"
    assert apply(record, new([20, 50, 90], ["13053"] * 3)).table.polars()["age"].to_list() == [
        20,
        38,
        38,
    ]  # kept, not interpolated
    released("recode", parameters='column = "age"\nbins = 2')
    done = apply(record, new([31, 45, 59, 65], ["13053"] * 4))
    assert done.table.polars()["age"].to_list() == ["[30-45)", "[45, 60]", "[45, 60]", "*"]
    assert done.unplaced.tolist() == [False, False, False, True]


def test_bad_records_are_refused(tmp_path):
    (tmp_path / "other.json").write_text(json.dumps({"format": "something"}))
    (tmp_path / "text.json").write_text("not json")
    for name, message in (("other.json", "its form is not"), ("text.json", "not JSON"), ("none.json", "cannot read")):
        with pytest.raises(DataError, match=message):
            load_record(tmp_path / name)


def test_missing_columns_and_data_dependent_steps_are_refused(released, tmp_path):
    released("generalise")
    with pytest.raises(DataError, match="no column 'zip'"):
        apply(
            tmp_path / "safe.private.json",
            celosia.read(pl.DataFrame({"age": [1]}), celosia.Schema.of(quasi=["age"])),
        )
    record = load_record(tmp_path / "safe.private.json")
    record.transformation[0].pop("transformation")
    with pytest.raises(DataError, match="aggregate belongs to the records of the class"):
        apply(record, new([31], ["13053"]))


def test_the_command_writes_what_may_leave_in_a_new_order(released, tmp_path, capsys):
    from celosia.cli.main import run as command

    released("generalise")
    people = pl.DataFrame(
        {"age": [31, 59] * 50, "zip": ["13053", "14850"] * 50, "disease": [f"d{i % 7}" for i in range(100)]}
    )
    people.with_columns(note=pl.lit("not declared")).write_csv(tmp_path / "new.csv")
    arguments = ["apply", str(tmp_path / "safe.private.json"), str(tmp_path / "new.csv"), "--out"]
    assert command([*arguments, str(tmp_path / "out.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unplaced"] == 0
    written = pl.read_csv(tmp_path / "out.csv")
    assert written.columns == ["age", "zip", "disease"]
    assert sorted(written["disease"]) == sorted(people["disease"])
    assert written["disease"].to_list() != people["disease"].to_list(), "the order of rows tells nothing"
    assert command([*arguments, str(tmp_path / "out.csv")]) == 2
    policy = tmp_path / "policy.toml"
    policy.write_text(policy.read_text() + 'order = "kept"\n')
    run(policy, overwrite=True)
    assert command([*arguments, str(tmp_path / "kept.csv")]) == 0
    assert pl.read_csv(tmp_path / "kept.csv")["disease"].to_list() == people["disease"].to_list()
    people.head(1).write_csv(tmp_path / "new.csv")
    assert command([*arguments, str(tmp_path / "one.csv")]) == 3
    assert "1 new records violate it" in capsys.readouterr().out


@pytest.mark.parametrize(("ids", "violating"), [(["p9"] * 2, 2), (["p6", "p9"], 0)])
def test_persons_of_old_and_new_records_are_counted_together(released, tmp_path, ids, violating):
    released("generalise", pid=[f"p{i}" for i in range(1, 7)])
    policy = tmp_path / "policy.toml"
    text = policy.read_text(encoding="utf-8").replace("[schema]", '[schema]\nperson = "pid"')
    policy.write_text(text, encoding="utf-8")
    run(policy, overwrite=True)
    record, release = tmp_path / "safe.private.json", tmp_path / "safe.csv"
    # a class that the release lacks: only the persons of the new records are in it
    new = pl.DataFrame({"age": [57, 58], "zip": ["13053"] * 2, "disease": ["a", "b"], "pid": ids})
    joined = apply(record, new, released=release)
    assert int(joined.violating["k-anonymity(k=2)"].sum()) == violating
    assert apply(record, new.with_columns(zip=pl.lit("14850")), released=release).holds
    (tmp_path / "people.csv").write_text("age,zip,disease,pid\n1,1,a,p1\n", encoding="utf-8")
    with pytest.raises(DataError, match="known from its original only"):
        apply(record, new, released=release)


def test_violating_records_can_be_suppressed(released, tmp_path, capsys):
    from celosia.cli.main import run as command

    released("generalise")
    record, path = tmp_path / "safe.private.json", tmp_path / "new.csv"
    people = new([33, 34, 57], ["13053", "13053", "14850"])
    done = apply(record, people, suppress_violating=True)
    assert done.holds
    assert done.suppressed.tolist() == [False, False, True]
    assert done.table.polars()["age"].to_list()[2] == "*"
    assert done.table.polars()["disease"].to_list()[2] is None, "a suppressed record alone shows no sensitive value"
    pl.DataFrame(
        {"age": [33, 34] * 40 + [57], "zip": ["13053"] * 80 + ["14850"], "disease": ["a", "a", "b", "b"] * 20 + ["a"]}
    ).write_csv(path)
    arguments = ["apply", str(record), str(path), "--out", str(tmp_path / "out.csv")]
    assert command(arguments) == 3
    assert not (tmp_path / "out.csv").exists(), "nothing is written on exit code 3"
    assert "--suppress-violating" in capsys.readouterr().out
    assert command([*arguments, "--suppress-violating"]) == 0
    assert "1 more violated a requirement and are suppressed" in capsys.readouterr().out
    assert pl.read_csv(tmp_path / "out.csv")["age"].to_list().count("*") == 1


def test_what_the_guard_reports_in_new_records_can_be_acknowledged(released, tmp_path, capsys):
    from celosia.cli.main import run as command

    released("generalise")
    rare = {"age": [33, 34] * 40, "zip": ["13053"] * 80, "disease": ["a", "b"] * 39 + ["rare one", "rare two"]}
    pl.DataFrame(rare).write_csv(tmp_path / "new.csv")
    arguments = ["apply", f"{tmp_path}/safe.private.json", f"{tmp_path}/new.csv", "--out", f"{tmp_path}/out.csv"]
    stopped = command(arguments)
    shown = capsys.readouterr()
    assert "disease" in shown.out + shown.err
    assert command([*arguments, "--overwrite", "--acknowledge", "disease=the hospital agreed"]) == 0
    assert "Acknowledged: the hospital agreed" in capsys.readouterr().out or stopped == 0
    assert command([*arguments, "--overwrite", "--acknowledge", "disease"]) == 2
    assert "COLUMN=REASON" in capsys.readouterr().err


def test_drift_is_reported_without_values(released, tmp_path, capsys):
    from celosia.cli.main import run as command

    many = 40
    released("generalise")
    pl.DataFrame(
        {
            "age": [31, 34, 38, 52, 55, 59] * many,
            "zip": ["13053", "14850"] * 3 * many,
            "disease": ["a", "b", "c"] * 2 * many,
        }
    ).write_csv(tmp_path / "people.csv")
    run(tmp_path / "policy.toml", overwrite=True)
    record = tmp_path / "safe.private.json"
    same = apply(record, pl.read_csv(tmp_path / "people.csv", schema_overrides={"zip": pl.String}))
    assert [(drift.unknown, drift.distance, drift.is_shifted) for drift in same.drift] == [(0, 0.0, False)] * 3
    drifted = pl.DataFrame(
        {"age": [31, 31, 31, 75] * many, "zip": ["13053"] * 4 * many, "disease": ["a", "unseen", "a", "b"] * many}
    )
    by_name = {drift.column: drift for drift in apply(record, drifted).drift}
    assert by_name["age"].unknown == many, "beyond the range of the earlier ages"
    assert by_name["disease"].unknown == many
    assert by_name["disease"].distance == pytest.approx(0.5 * (1 / 6 + 1 / 12 + 1 / 3 + 1 / 4))
    assert by_name["zip"].distance == pytest.approx(0.5)
    assert all(drift.is_shifted for drift in by_name.values())
    drifted.write_csv(tmp_path / "new.csv")
    command(["apply", str(record), str(tmp_path / "new.csv"), "--out", str(tmp_path / "out.csv"), "--write-violating"])
    shown = capsys.readouterr().out
    assert "SHIFTED" in shown
    assert "unseen" not in shown
    # without the original, protected cells are compared with the release; without both, nothing is
    (tmp_path / "people.csv").unlink()
    assert apply(record, drifted).drift is None
    joined = {drift.column: drift for drift in apply(record, drifted, released=tmp_path / "safe.csv").drift}
    assert joined["disease"].unknown == many


def test_chance_is_no_shift():
    """Of 60 columns of two samples from one distribution hardly one is reported; a shift of one tenth is."""
    import numpy as np

    from celosia.release.drift import measure_drift

    rng = np.random.default_rng(5)
    names = [f"c{i}" for i in range(60)]
    earlier, later = (
        celosia.read(pl.DataFrame({name: rng.choice(list("abcdef"), 2000) for name in names})) for _ in range(2)
    )
    measured = measure_drift(earlier, later, names)
    assert sum(drift.is_shifted for drift in measured) == 0
    mean = np.mean([drift.distance for drift in measured])
    assert mean == pytest.approx(np.mean([drift.expected for drift in measured]), rel=0.1)
    moved = pl.DataFrame({name: rng.choice(list("abcdef"), 2000, p=[0.27, 0.07, *[0.165] * 4]) for name in names})
    assert all(drift.is_shifted for drift in measure_drift(earlier, celosia.read(moved), names))


def test_an_existing_output_is_noticed_before_the_work(released, tmp_path, monkeypatch):
    released("generalise")

    def refuse(*_: object) -> None:
        raise AssertionError("nothing may be read first")

    monkeypatch.setattr("celosia.release.policy.policy.Policy.table", refuse)
    with pytest.raises(celosia.errors.OutputError, match="is there already"):
        run(tmp_path / "policy.toml")


def test_apply_overwrites_none_of_the_files_that_it_needs(released, tmp_path, capsys):
    from celosia.cli.main import run as command

    released("generalise")
    people = {"age": [31, 59] * 50, "zip": ["13053", "14850"] * 50, "disease": [f"d{i % 7}" for i in range(100)]}
    pl.DataFrame(people).write_csv(tmp_path / "new.csv")
    arguments = ["apply", f"{tmp_path}/safe.private.json", f"{tmp_path}/new.csv", "--released", f"{tmp_path}/safe.csv"]
    for name in ("people.csv", "safe.private.json", "safe.csv", "new.csv"):
        before = (tmp_path / name).read_bytes()
        assert command([*arguments, "--out", str(tmp_path / name), "--overwrite"]) == 2
        assert "is never overwritten" in " ".join(capsys.readouterr().err.split())
        assert (tmp_path / name).read_bytes() == before
