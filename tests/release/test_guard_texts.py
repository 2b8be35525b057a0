"""What stands about the cells is released too: names of columns, labels, sheets, the stratum, frames of Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import celosia
from celosia import Schema
from celosia.data.io.facts import FileFacts
from celosia.errors import GuardError
from celosia.release.output.columns import select_output
from celosia.release.output.guard import inspect
from celosia.table.derive import with_record_ids
from celosia.table.edit import replace_by_batches

N = 120


def policy(folder: Path, frame: pl.DataFrame, schema: dict[str, Any], **more: Any) -> celosia.Policy:
    frame.write_csv(folder / "in.csv")
    facts = {
        "input": {"path": str(folder / "in.csv")},
        "schema": schema,
        "output": {"path": str(folder / "out.csv")},
    }
    return celosia.Policy.of(facts | more)


def replacing(folder: Path, frame: pl.DataFrame, schema: dict[str, Any], **more: Any) -> celosia.Policy:
    return policy(folder, frame, schema, **more, output={"path": str(folder / "out.csv"), "overwrite": True})


def people(**more: Any) -> pl.DataFrame:
    return pl.DataFrame({"sex": ["F", "M"] * (N // 2), "age": [20, 30, 40] * (N // 3), **more})


@pytest.mark.parametrize("name", ["ana.puig@example.org", "DNI 12345678Z", "answers of Maria Garcia"])
def test_an_identifier_as_the_name_of_a_column_stops_the_release(tmp_path, name):
    frame, schema = people(**{name: ["yes", "no"] * (N // 2)}), {"quasi": ["sex"], "insensitive": [name]}
    with pytest.raises(GuardError, match="the name of column 2: it holds") as stopped:
        celosia.run(policy(tmp_path, frame, schema))
    assert name not in str(stopped.value)
    acknowledged = {"guard": {"acknowledge": {name: "a public office"}}}
    assert celosia.run(policy(tmp_path, frame, schema, **acknowledged)).holds


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_an_identifier_in_a_label_stops_the_release(tmp_path, ending):
    labels = {"doctor": {float(i): f"{i}: maria.{i}@hospital.org" for i in range(3)}}
    facts = FileFacts("spss", labels=labels, descriptions={"doctor": "treated by; ask DNI 12345678Z"})
    frame = people(doctor=[float(i % 3) for i in range(N)])
    celosia.data.io.write(frame, tmp_path / "in.sav", facts)
    given = policy(tmp_path, frame, {"quasi": ["sex"], "insensitive": ["doctor"]})
    source = {"input": given.input.model_copy(update={"path": tmp_path / "in.sav"})}
    output = {"output": given.output.model_copy(update={"path": tmp_path / f"out.{ending}"})}
    with pytest.raises(GuardError, match="column 'doctor': 3 of 4 labels hold what looks like: e-mail address"):
        celosia.run(given.model_copy(update=source | output))


def test_the_name_of_a_sheet_is_not_released(tmp_path):
    celosia.data.io.write(people(), tmp_path / "in.xlsx", FileFacts("excel", sheet="Maria Garcia"))
    given = policy(tmp_path, people(), {"quasi": ["sex", "age"]})
    source = {"input": given.input.model_copy(update={"path": tmp_path / "in.xlsx"})}
    output = {"output": given.output.model_copy(update={"path": tmp_path / "out.xlsx"})}
    celosia.run(given.model_copy(update=source | output))
    assert celosia.data.io.scan(tmp_path / "out.xlsx").facts.sheet != "Maria Garcia"


def test_a_stratum_that_nobody_counts_is_left_out(tmp_path):
    frame, schema = people(town=[f"t{i % 40}" for i in range(N)]), {"quasi": ["sex"], "stratum": "town"}
    assert "town" not in celosia.run(policy(tmp_path, frame, schema)).table.names
    kept = {"output": {"path": str(tmp_path / "out.csv"), "overwrite": True, "columns": ["town"]}}
    release = celosia.run(policy(tmp_path, frame, schema, **kept))
    assert [(each["column"], each["what"]) for each in release.certificate["kept"]] == [("town", "stratum")]
    counted = {"quasi": ["sex", "town"], "stratum": "town"}
    steps = {"step": [{"use": "suppress-records", "require": ["k-anonymity(k=3)"]}], "require": ["k-anonymity(k=3)"]}
    release = celosia.run(policy(tmp_path, frame, counted, **steps, output=kept["output"] | {"columns": []}))
    assert "town" in release.table.names


def test_protect_leaves_identifiers_out_of_a_frame_and_warns():
    frame = people(name=[f"person {i}" for i in range(N)])
    schema = Schema.of(identifiers=["name"], quasi=["sex", "age"])
    with pytest.warns(UserWarning, match="columns are left out of the result: 'name'"):
        safe = celosia.protect(frame, "round(columns=age, base=20)", schema=schema, seed=1)
    assert safe.columns == ["sex", "age"]
    masked = celosia.protect(frame, "pseudonymise(columns=name)", schema=schema, seed=1)
    assert set(masked["name"]).isdisjoint(frame["name"])


def test_protect_keeps_identifiers_in_a_table_and_warns():
    table = celosia.read(people(name=[f"person {i}" for i in range(N)]), Schema.of(identifiers=["name"], quasi=["age"]))
    with pytest.warns(UserWarning, match="identifiers stay in the table: 'name'. celosia.write leaves them out"):
        assert "name" in celosia.protect(table, "round(columns=age, base=20)", seed=1).names
    masked = celosia.protect(table, "pseudonymise(columns=name)", seed=1)
    assert "name" in masked.protect("round(columns=age, base=20)", seed=1).names  # overwritten by an earlier call
    assert "name" not in celosia.protect(table, "drop").names


def test_assess_warns_of_columns_without_a_role():
    frame, schema = people(income=np.arange(N) * 1.5), Schema.of(quasi=["sex", "age"])
    with pytest.warns(UserWarning, match="1 columns have no role .'income'."):
        assert celosia.assess(frame, "k-anonymity(k=3)", schema=schema).holds
    with pytest.warns(UserWarning, match="1 columns have no role .'income'."):
        assert celosia.assess(celosia.read(frame, schema), "k-anonymity(k=3)").holds


def test_a_column_that_shows_a_quasi_identifier_more_finely_stops_the_release(tmp_path):
    ages = [20 + i % 40 for i in range(10 * N)]
    frame = pl.DataFrame(
        {
            "age": ages,
            "agegrp": [f"from {age // 5 * 5}" for age in ages],
            "decade": [f"from {age // 20 * 20}" for age in ages],
            "answer": [("yes", "no", "maybe")[i * i % 7 % 3] for i in range(10 * N)],
        }
    )
    schema = {"quasi": ["age"], "insensitive": ["agegrp", "decade", "answer"]}
    step = {"step": [{"use": "recode", "column": "age", "breaks": [40]}]}
    with pytest.raises(GuardError, match=r"column 'agegrp': .* follow from the quasi-identifier 'age'") as stopped:
        celosia.run(policy(tmp_path, frame, schema, **step))
    assert "decade" not in str(stopped.value), "as coarse as the released age"
    acknowledged = {"guard": {"acknowledge": {"agegrp": "what a test needs"}}}
    assert "agegrp" in celosia.run(policy(tmp_path, frame, schema, **step, **acknowledged)).table.names


@pytest.mark.parametrize("step", [[], [{"use": "suppress-cells", "columns": ["ill"], "where": "ill > 90"}]])
@pytest.mark.parametrize("ending", ["sav", "csv"])
def test_a_rare_code_with_a_label_is_a_rare_category(tmp_path, ending, step):
    """Four codes with labels are categories, and one person has the last; labels of missing answers make no code."""
    codes = [4.0] + [float(1 + i % 3) for i in range(N - 1)]
    frame = people(ill=codes, visits=[float(i % 3) for i in range(N - 1)] + [9.0])
    labels = {"ill": {1.0: "flu", 2.0: "cold", 3.0: "none", 4.0: "Fabry"}, "visits": {9.0: "refused"}}
    celosia.data.io.write(frame, tmp_path / "in.sav", FileFacts("spss", labels=labels))
    facts = {"input": {"path": str(tmp_path / "in.sav")}, "output": {"path": str(tmp_path / f"out.{ending}")}}
    schema = {"quasi": ["sex"], "insensitive": ["visits"], "sensitive": ["ill"], "kinds": {"ill": "numeric"}}
    with pytest.raises(GuardError, match="column 'ill': 1 of 120 cells hold values that fewer than 3") as stopped:
        celosia.run(celosia.Policy.of(facts | {"schema": schema, "step": step}))
    assert "visits" not in str(stopped.value)
    assert "Fabry" not in str(stopped.value)


AGES = [20 + i * 7 % 40 for i in range(5 * N)]
#: Every 25th cell deviates, every 30th is missing.
NEARLY = [None if i % 30 == 7 else age + (i % 25 == 3) for i, age in enumerate(AGES)]


@pytest.mark.parametrize(
    ("copy", "step"),
    [
        (AGES, {"use": "round", "columns": ["copy"], "base": 1}),
        (AGES, {"use": "top-code", "columns": ["copy"], "value": 1000}),
        (AGES, {"use": "suppress-cells", "columns": ["copy"], "where": "copy > 1000"}),
        ([float(age) for age in AGES], {"use": "noise", "columns": ["copy"], "p": 1e-6}),
        ([f"a{age}" for age in AGES], {"use": "recode", "column": "copy", "mapping": {"zz": "q"}}),
        ([f"a{age}" for age in AGES], {"use": "pseudonymise", "columns": ["copy"]}),
        (NEARLY, {"use": "round", "columns": ["copy"], "base": 1}),
        (NEARLY, None),
    ],
)
def test_a_copy_of_a_quasi_identifier_stops_the_release_whatever_a_step_declares(tmp_path, copy, step):
    frame, schema = pl.DataFrame({"age": AGES, "copy": copy}), {"quasi": ["age"], "insensitive": ["copy"]}
    steps = [{"use": "recode", "column": "age", "breaks": [40]}, *([step] if step else [])]
    with pytest.raises(GuardError, match=r"column 'copy': .* follow from the quasi-identifier 'age'"):
        celosia.run(policy(tmp_path, frame, schema, step=steps))


def test_a_copy_of_which_two_sevenths_deviate_stops_the_release(tmp_path):
    frame = pl.DataFrame({"age": AGES, "copy": [age + i * i % 7 % 2 for i, age in enumerate(AGES)]})
    steps = [{"use": "recode", "column": "age", "breaks": [40]}]
    with pytest.raises(GuardError, match=r"column 'copy': .* disclose the quasi-identifier 'age'"):
        celosia.run(policy(tmp_path, frame, {"quasi": ["age"], "insensitive": ["copy"]}, step=steps))


@pytest.mark.parametrize(
    ("other", "step"),
    [
        ([str(i * i % 97 > 93) for i in range(5 * N)], None),  # 3 % hold it, at any age
        ([str(age + i * i % 11 > 58) for i, age in enumerate(AGES)], None),  # as people retire at different ages
        ([age + i * i % 11 % 5 for i, age in enumerate(AGES)], None),  # every value has several ages
        (AGES, {"use": "round", "columns": ["other"], "base": 40}),
        (AGES, {"use": "rank-swap", "columns": ["other"], "window": 0.3}),
    ],
)
def test_a_column_that_a_quasi_identifier_only_predicts_is_released(tmp_path, other, step):
    frame, schema = pl.DataFrame({"age": AGES, "other": other}), {"quasi": ["age"], "insensitive": ["other"]}
    steps = [{"use": "recode", "column": "age", "breaks": [40]}, *([step] if step else [])]
    assert "other" in celosia.run(policy(tmp_path, frame, schema, step=steps)).table.names


@pytest.mark.parametrize("change", [lambda rows: rows["copy"], lambda rows: rows["copy"] * 2])
def test_a_copy_of_a_quasi_identifier_is_found_where_the_rows_are(tmp_path, change):
    pl.DataFrame({"age": AGES, "copy": AGES}).write_parquet(tmp_path / "people.parquet")
    schema = Schema.of(quasi=["age"], insensitive=["copy"])
    original = with_record_ids(celosia.read(tmp_path / "people.parquet", schema, engine="duckdb"))
    coarse = replace_by_batches(original, "age", lambda rows: rows["age"] // 20)
    for released, names in ((coarse, {"age"}), (replace_by_batches(coarse, "copy", change), {"age", "copy"})):
        seen = inspect(original, released, names, {})
        assert [each.column for each in seen if "follow from the quasi-identifier 'age'" in each.what] == ["copy"]


SEXES = np.random.default_rng(3).choice(["F", "M"], 5 * N).tolist()


@pytest.mark.parametrize(
    "both",
    [
        [f"{sex}{age // 5}" for sex, age in zip(SEXES, AGES, strict=True)],
        [age // 5 * 2 + (sex == "F") for sex, age in zip(SEXES, AGES, strict=True)],
    ],
)
def test_a_column_that_two_quasi_identifiers_give_together_stops_the_release(tmp_path, both):
    frame = pl.DataFrame({"sex": SEXES, "age": AGES, "both": both})
    schema = {"quasi": ["sex", "age"], "insensitive": ["both"]}
    steps = [{"use": "recode", "column": "age", "breaks": [40]}]
    with pytest.raises(GuardError, match=r"column 'both': .* follow from .* together, more finely than they are"):
        celosia.run(policy(tmp_path, frame, schema, step=steps))


def test_a_code_of_a_sensitive_column_that_was_changed_stops_the_release(tmp_path):
    ills = np.random.default_rng(4).choice(["flu", "cold", "none"], 5 * N).tolist()
    codes = {"flu": 1, "cold": 2, "none": 3}
    frame = pl.DataFrame({"sex": SEXES, "ill": ills, "code": [codes[ill] for ill in ills], "other": AGES})
    schema = {"quasi": ["sex"], "sensitive": ["ill"], "insensitive": ["code", "other"]}
    noisy = [{"use": "pram", "columns": ["ill"], "diagonal": 0.5}]
    with pytest.raises(
        GuardError, match=r"column 'code': .* follow from the column 'ill'.* change it in the"
    ) as stopped:
        celosia.run(policy(tmp_path, frame, schema, step=noisy))
    assert "other" not in str(stopped.value)
    assert celosia.run(policy(tmp_path, frame, schema, step=[])).table.names, "as exact as the column itself"


def test_numbers_near_to_a_coarser_column_are_named(tmp_path):
    near = [age + i % 3 for i, age in enumerate(AGES)]
    frame = pl.DataFrame({"age": AGES, "near": near, "other": [i * i % 31 for i in range(5 * N)]})
    schema = {"quasi": ["age"], "insensitive": ["near", "other"]}
    step = [{"use": "recode", "column": "age", "breaks": [40]}]
    guard = celosia.run(policy(tmp_path, frame, schema, step=step)).certificate["guard"]
    assert [each["column"] for each in guard if "keep the order of 'age'" in each["what"]] == ["near"]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("person", [None, "who"])
def test_a_synthesis_that_repeats_its_input_stops_the_release(tmp_path, engine, person):
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "who": np.arange(4 * N),
            "age": rng.integers(20, 80, 4 * N),
            "years": rng.integers(0, 30, 4 * N),
            "ill": rng.choice(["flu", "cold", "none"], 4 * N),
        }
    )
    schema = {"quasi": ["age", "years"], "sensitive": ["ill"], **({"person": person} if person else {})}
    learnt = {"step": [{"use": "sequential-trees", "leaf": 1}], "run": {"engine": engine}}
    with pytest.raises(GuardError, match=r"records hold together .* only one person .* larger leaves") as stopped:
        celosia.run(replacing(tmp_path, frame, schema, **learnt))
    column = str(stopped.value).split("column '")[1].split("'")[0]
    acknowledged = {"guard": {"acknowledge": {column: "what a test needs"}}}
    guard = celosia.run(replacing(tmp_path, frame, schema, **learnt, **acknowledged)).certificate["guard"]
    assert any("(records)" in each["what"] for each in guard)
    for method in ({"use": "sequential-trees"}, {"use": "gaussian-copula", "smoothing": "none"}):
        guard = celosia.run(replacing(tmp_path, frame, schema, step=[method])).certificate["guard"]
        assert not any("(records)" in each["what"] for each in guard)


def test_records_that_other_people_have_too_are_no_copies(tmp_path):
    """In a small domain a synthesis repeats unique records as other people would."""
    rng = np.random.default_rng(5)
    values = {name: rng.integers(0, 6, 4 * N) for name in ("a", "b", "c")}
    schema = {"quasi": ["a", "b"], "sensitive": ["c"]}
    for leaf in (5, 50):
        step = [{"use": "sequential-trees", "leaf": leaf}]
        guard = celosia.run(replacing(tmp_path, pl.DataFrame(values), schema, step=step)).certificate["guard"]
        assert not any("(records)" in each["what"] for each in guard)


IDENTIFYING = [
    "Calle Mayor 12, 2 B",
    "100 Main Street, Springfield",
    "12 rue de Rivoli",
    "Hauptstraße 5",
    "Мария Петрова",
    "Μαρία Παπαδοπούλου",
    "Garcia Lopez, Maria",
    "PAA381045",
    "06 12 34 56 78",
    "https://www.linkedin.com/in/maria-1",
    "es9121000418450200051332",
    "4111111111111111",
    "RSSMRA85T10A562S",
]
HARMLESS = [
    "White, Non-Hispanic",
    "Via internet 2 times",
    "Class 1",
    "Arbeitsplatz 2",
    "Нижний край",
    "https://www.who.int/classifications",
    "V201001",
    "9999998",
    "20 to 30",
    "Dr visits 3",
    "2 Drive to work",
    "New York",
]


def labelled(folder: Path, labels: list[str], description: str = "") -> celosia.Policy:
    place = [float(i % len(labels)) for i in range(N)]
    facts = FileFacts("spss", labels={"x": dict(enumerate(labels))}, descriptions={"x": description or "answer"})
    (folder / "in.sav").unlink(missing_ok=True)
    celosia.data.io.write(people(x=place), folder / "in.sav", facts)
    out = {"path": str(folder / "out.sav"), "overwrite": True}
    schema = {"quasi": ["sex"], "insensitive": ["x"]}
    return celosia.Policy.of({"input": {"path": str(folder / "in.sav")}, "schema": schema, "output": out})


@pytest.mark.parametrize("text", IDENTIFYING)
def test_one_text_about_a_column_is_recognised_like_a_cell(tmp_path, text):
    frame, schema = people(**{text: ["yes", "no"] * (N // 2)}), {"quasi": ["sex"], "insensitive": [text]}
    with pytest.raises(GuardError, match="the name of column 2: it holds") as stopped:
        celosia.run(policy(tmp_path, frame, schema))
    assert text not in str(stopped.value)
    with pytest.raises(GuardError, match="column 'x': 1 of 4 labels hold"):
        celosia.run(labelled(tmp_path, ["flu", text, "none"]))
    with pytest.raises(GuardError, match="column 'x': 1 of 4 labels hold"):
        celosia.run(labelled(tmp_path, ["flu", "cold", "none"], text))


def test_ordinary_names_and_labels_are_released(tmp_path):
    (tmp_path / "labels").mkdir()
    celosia.run(labelled(tmp_path / "labels", HARMLESS, "Q1. Via internet, 2 times"))
    frame, schema = people(**dict.fromkeys(HARMLESS, 1)), {"quasi": ["sex"], "insensitive": HARMLESS}
    celosia.run(policy(tmp_path, frame, schema, input={"path": str(tmp_path / "in.csv"), "header": True}))


@pytest.mark.parametrize(
    "labels",
    [
        ["Maria", "Jose", "Juan", "Ana", "Pedro", "Luis"],
        [f"HC{1_000_000 + 7919 * i}" for i in range(30)],
        [f"@user_{i}" for i in range(30)],
        [f"{41.3 + i / 997:.6f}, {2.1 + i / 991:.6f}" for i in range(30)],
        [a + b for a in "王李张刘陈" for b in "伟芳娜敏静"],
    ],
)
def test_labels_are_recognised_together_like_the_cells_of_a_column(tmp_path, labels):
    with pytest.raises(GuardError, match=r"column 'x': .* labels hold"):
        celosia.run(labelled(tmp_path, labels))


def test_a_quasi_identifier_that_hardly_two_people_share_predicts_nothing():
    """Visits of a person have the same birth date and the same income, which does not follow from it."""
    n = 300
    rng = np.random.default_rng(2)
    people = pl.DataFrame({"who": range(n), "born": rng.permutation(n), "income": rng.integers(0, 20, n) * 1000})
    visits = pl.concat([people, people])
    schema = Schema.of(person="who", quasi=["born"], insensitive=["income"])
    table = celosia.read(visits, schema)
    coarse = celosia.protect(table, "recode(column=born, breaks=[100, 200])")
    assert select_output(table, coarse, [coarse.private_history[-1]["method"]]).sightings == ()


def test_a_date_as_the_name_of_a_column_is_reported():
    frame = celosia.read(pl.DataFrame({"a": [1, 1], "12/10/1990": ["x", "x"]}), celosia.Schema.of(quasi=["a"]))
    found = [str(each) for each in inspect(frame, frame, (), {}) if each.unit == "the name of column"]
    assert found == ["the name of column 2: it holds a date"]
