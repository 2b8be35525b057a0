"""Suggestions for tables of research: short names, labels, blocks of items, functions of other columns."""

from __future__ import annotations

import datetime as dt
import json
import tomllib

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.data import io as cio
from celosia.errors import ParameterError, UnknownName
from celosia.proposals import decide, keep_columns, suggest, undecided_groups
from celosia.proposals.code_book import CodeBook, read_code_book
from celosia.proposals.vocabulary import meaning_of

N = 600


def by_name(columns, **options):
    return {s.name: s for s in suggest(pl.DataFrame(columns), **options)}


@pytest.fixture
def rng():
    return np.random.default_rng(8)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("nonwhite", "origin"),
        ("agegrp", "age"),
        ("hhsize", "family situation"),
        ("numkids", "family situation"),
        ("kidslt6", "family situation"),
        ("yrs.since.phd", "working time or experience"),
        ("AESTDTC", "date of an event"),
        ("USUBJID", "person number"),
        ("RIDAGEYR", "age"),
        ("hv025", "region or country"),
        ("DT_NASC", "birth date"),
        ("CO_MUN_RES", "place"),
        ("ID_MUNICIP", "place"),
        ("lwage", "money"),
        ("cd4count", "laboratory value"),
        ("sbp_baseline", "vital sign or examination"),
        ("job_satisfaction", "wellbeing or mental state"),
        ("age_at_diagnosis", "age"),
        ("confianza_gobierno", "attitude or opinion"),
        ("finalwgt", "sampling weight"),
        ("survtime", "outcome or survival"),
        ("wave", "wave, visit or period"),
    ],
)
def test_short_names_of_research(name, meaning):
    assert meaning_of(name).what == meaning


def test_values_speak_where_the_name_does_not(rng):
    found = by_name(
        {
            "v1": rng.choice(["Married", "Single", "Widowed", "Divorced"], N),
            "v2": rng.choice(["Strongly agree", "Agree", "Disagree"], N),
            "sex": rng.choice(["F", "M"], N),
        }
    )
    assert (str(found["v1"].role), found["v1"].meaning) == ("quasi", "family situation")
    assert str(found["v2"].role) == "sensitive"


def test_blocks_of_items_are_decided_together(rng):
    found = by_name({f"E{i}": rng.integers(1, 7, N) for i in range(1, 6)} | {"gender": rng.integers(1, 3, N)})
    assert {str(found[f"E{i}"].role) for i in range(1, 6)} == {"sensitive"}
    assert "5 columns with similar names" in found["E1"].reason
    assert str(found["gender"].role) == "quasi"


def test_a_function_of_a_quasi_identifier_does_not_leave_beside_it(rng):
    age = rng.integers(18, 90, N)
    region = rng.choice(["a", "b", "c", "d"], N)
    price = np.select([region == r for r in "abcd"], [3.5, 4.25, 6.0, 7.75])
    height, weight = rng.normal(170, 9, N).round(), rng.normal(72, 14, N).round()
    found = by_name(
        {
            "age": age,
            "agegrp": age // 10,
            "region": region,
            "price": price,
            "female": (sex := rng.integers(0, 2, N)),
            "sex": np.where(sex == 1, "F", "M"),
            "height": height,
            "bodyweight": weight,
            "quetelet": weight / (height / 100) ** 2,
        }
    )
    assert (str(found["agegrp"].role), found["agegrp"].derived_from) == ("quasi", ("age",))
    assert found["price"].left_out
    assert found["price"].derived_from == ("region",)
    assert found["quetelet"].left_out
    assert set(found["quetelet"].derived_from) == {"height", "bodyweight"}
    assert [found[name].left_out for name in ("female", "sex")].count(True) == 1


def test_an_independent_column_is_no_function(rng):
    found = by_name({"age": rng.integers(18, 90, N), "income": rng.integers(1, 4, N), "rare": rng.random(N) < 0.01})
    assert not any(s.derived_from for s in found.values())


def test_dummies_of_one_fact(rng):
    trade = rng.integers(0, 5, N)
    names = ["agric", "manuf", "construc", "qux", "zap"]
    found = by_name({name: (trade == i).astype(int) for i, name in enumerate(names)})
    assert str(found["qux"].role) == "quasi"
    assert found["qux"].meaning == "work"


def test_a_body_weight_is_no_sampling_weight(rng):
    pounds = {"weight": rng.normal(340, 60, N).clip(120, 690).round().astype(int)}
    assert str(by_name(pounds | {"height": rng.normal(66, 4, N).round()})["weight"].role) == "quasi"
    scaled = by_name({"weight": rng.gamma(9, 1 / 9, N), "sex": rng.choice(["F", "M"], N)})["weight"]
    assert str(scaled.role) == "weight"
    assert "scaled to the sample" in scaled.reason


def test_weights_of_fewer_people_than_records(rng):
    found = by_name({"pweight": rng.uniform(0.3, 1.3, N), "sex": rng.choice(["F", "M"], N)})
    assert "population risks are those of the sample" in found["pweight"].reason


def test_row_numbers_are_no_data(rng):
    found = by_name({"q": range(1, N + 1), "sex": rng.choice(["F", "M"], N)})
    assert (str(found["q"].role), found["q"].meaning) == ("identifier", "row number")


def test_school_grades_are_education(rng):
    found = by_name({"grade": rng.integers(1, 19, N), "sex": rng.choice(["F", "M"], N)})
    assert found["grade"].meaning == "education"


def test_labels_make_codes_categories(rng):
    book = CodeBook(
        {"p1": "How much do you trust parliament?", "p2": "Household income, all sources"},
        {
            "p1": {float(i): f"{i}" for i in range(11)},
            "p2": dict(enumerate(["Under 5,000", "5,000 to 9,999", "10,000 to 19,999", "20,000 or more"], 1)),
            "p3": {i: f"Occupation {chr(i % 40 + 65)}" for i in range(100, 140)},
        },
    )
    columns = {"p1": rng.integers(0, 11, N), "p2": rng.integers(1, 5, N), "p3": rng.integers(100, 140, N)}
    found = by_name(columns | {"sex": rng.integers(1, 3, N)}, code_book=book)
    assert [str(found[name].kind) for name in ("p1", "p2", "p3")] == ["ordinal", "ordinal", "nominal"]
    assert [str(found[name].role) for name in ("p1", "p2")] == ["sensitive", "sensitive"]


@pytest.mark.parametrize(
    "text",
    [
        "variable,label,value,value label\np3,Marital status,1,Married\n,,2,Single\np4,Sex,,\n",
        "Variable;Code;Label\np3;1;Married\np3;2;Single\n",
        'name,description,values\np3,Marital status,"1 = Married; 2 = Single"\n',
        '"Variable / Field Name","Choices"\np3,"1, Married | 2, Single"\n',
    ],
)
def test_a_code_book_in_its_usual_forms(text, tmp_path):
    path = tmp_path / "book.csv"
    path.write_text(text.replace("Variable / Field Name", "Field name"), encoding="utf-8")
    assert read_code_book(path).labels["p3"] == {"1": "Married", "2": "Single"}


def test_an_interaction_of_a_flag_with_a_quasi_identifier_is_left_out(rng):
    sex, attack = rng.choice(["F", "M"], N), (rng.random(N) < 0.2).astype(int)
    found = by_name({"sex": sex, "stroke": attack, "stroke2": attack * (sex == "F")})
    assert found["stroke2"].left_out
    assert found["stroke2"].derived_from == ("stroke", "sex")
    assert not found["stroke"].left_out


def test_day_and_month_are_a_date(rng):
    found = by_name({"month": rng.integers(1, 13, N), "day": rng.integers(1, 29, N), "age": rng.integers(18, 80, N)})
    assert {str(found[name].role) for name in ("month", "day")} == {"quasi"}
    assert (
        str(by_name({"month": rng.integers(1, 13, N), "age": rng.integers(18, 80, N)})["month"].role) == "insensitive"
    )


def test_a_class_of_household_sizes_is_no_household(rng):
    found = by_name({"household": rng.integers(1, 6, N), "age": rng.integers(18, 80, N)})
    assert str(found["household"].role) != "household"


def test_a_panel_has_persons(rng):
    ids = np.repeat(rng.choice(90_000, 150, replace=False), 4)
    found = by_name({"nr": ids, "year": np.tile([2001, 2002, 2003, 2004], 150), "lwage": rng.normal(2, 0.3, N)})
    assert str(found["nr"].role) == "person"
    assert "a panel" in found["nr"].reason


def test_a_rank_or_a_copy_of_an_amount_is_left_out(rng):
    wage = rng.lognormal(3, 0.5, N).round(2)
    found = by_name(
        {"age": rng.integers(18, 80, N), "wage": wage, "logwage": np.log(wage), "wage_decile": rng.integers(1, 11, N)}
    )
    assert not found["wage"].left_out
    assert found["logwage"].derived_from == found["wage_decile"].derived_from == ("wage",)


def test_a_date_gives_way_to_the_outcome_that_it_shows(rng):
    event = rng.random(N) < 0.4
    dates = [
        dt.date(2020, 1, 1) + dt.timedelta(int(d)) if e else None
        for d, e in zip(rng.integers(0, 900, N), event, strict=True)
    ]
    found = by_name({"relapse": event.astype(int), "relapse_date": dates, "age": rng.integers(18, 80, N)})
    assert found["relapse_date"].left_out
    assert not found["relapse"].left_out


def test_undecided_columns_are_decided_in_groups(rng):
    words = ["alpha", "beta", "gamma", "delta"]
    suggestions = suggest(
        pl.DataFrame({"age": rng.integers(18, 80, N)} | {f"zq{c}": rng.choice(words, N) for c in "bcdfghjk"})
    )
    group = undecided_groups(suggestions)[0]
    assert set(group.columns) <= {s.name for s in suggestions if s.left_out}
    decided = {s.name: s for s in decide(suggestions, group.columns, "sensitive")}
    assert {(str(decided[name].role), decided[name].left_out) for name in group.columns} == {("sensitive", False)}
    assert decide(suggestions, group.columns, "leave-out") == suggestions


def test_columns_to_keep_are_kept_and_identifiers_refused(rng):
    suggestions = suggest(pl.DataFrame({"name": ["Ana"] * N, "zqx": rng.choice(list("abcdefgh"), N), "id": range(N)}))
    kept = {s.name: s for s in keep_columns(suggestions, ["zqx"])}
    assert not kept["zqx"].left_out
    with pytest.raises(ParameterError, match="'id' is taken as identifier"):
        keep_columns(suggestions, ["id"])
    with pytest.raises(UnknownName, match="zqy"):
        keep_columns(suggestions, ["zqy"])


@pytest.fixture
def survey(rng, tmp_path):
    """A file with a column twice, damaged text and marks for missing values."""
    lines = [b"sex;age;town;trust;trust"]
    for i in range(N):
        town = "León".encode("cp1252") if i == 7 else ["Vic", "Reus", "Cádiz"][i % 3].encode()
        age = b"none" if i == 5 else str(18 + rng.integers(0, 60)).encode()
        lines.append(b";".join([b"FM"[i % 2 : i % 2 + 1], age, town, str(i % 5).encode(), str(i % 4).encode()]))
    path = tmp_path / "survey.csv"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_init_reads_what_it_can_and_says_what_it_did(survey, tmp_path, capsys):
    policy = tmp_path / "p.toml"
    options = ["--missing", "none,NA", "--keep", "trust", "--purpose", "a test", "--undecided", "sensitive", "--json"]
    assert command(["init", str(survey), "--out", str(policy), *options]) == 0
    told = json.loads(capsys.readouterr().out)
    assert any("renamed trust_2" in note for note in told["notes"])
    assert any("1 cells are not valid UTF-8 (town: 1)" in note for note in told["notes"])
    parsed = tomllib.loads(policy.read_text("utf-8"))
    assert parsed["input"]["damaged"] == "cp1252"
    assert parsed["input"]["missing"] == ["none", "NA"]
    assert parsed["schema"]["kinds"]["age"] == "numeric"
    assert parsed["purpose"] == {"keep": ["trust"]}
    assert parsed["about"] == {"purpose": "a test"}
    assert command(["run", str(policy), "--json"]) == 0


def test_init_takes_a_code_book(tmp_path, capsys, rng):
    frame = pl.DataFrame({"p3": rng.integers(1, 3, N), "p4": rng.integers(1, 40, N)})
    frame.write_csv(tmp_path / "poll.csv")
    rows = ["variable,label,value,value label", "p3,Marital status,1,Married", ",,2,Single", "p4,Trust in parliament,,"]
    (tmp_path / "book.csv").write_text("\n".join(rows), encoding="utf-8")
    given = ["--codebook", str(tmp_path / "book.csv"), "--out", str(tmp_path / "p.toml"), "--json"]
    assert command(["init", str(tmp_path / "poll.csv"), *given]) == 0
    columns = {c["column"]: c for c in json.loads(capsys.readouterr().out)["columns"]}
    assert (columns["p3"]["role"], columns["p4"]["role"]) == ("quasi", "sensitive")


def test_labels_of_no_answer_are_missing(tmp_path, capsys, rng):
    pyreadstat = pytest.importorskip("pyreadstat")
    answers = rng.choice([1, 2, 3, 8, 9], N)
    frame = pl.DataFrame({"trust": answers, "age": rng.integers(18, 80, N)})
    labels = {1: "A lot", 2: "Some", 3: "None", 8: "Don't know", 9: "Refused"}
    pyreadstat.write_sav(frame, tmp_path / "s.sav", variable_value_labels={"trust": labels})
    assert command(["init", str(tmp_path / "s.sav"), "--out", str(tmp_path / "p.toml")]) == 0
    capsys.readouterr()
    parsed = tomllib.loads((tmp_path / "p.toml").read_text("utf-8"))
    assert sorted(parsed["input"]["clean"]["missing"]["trust"]) == [8, 9]
    table = celosia.Policy.load(tmp_path / "p.toml").table()
    assert table.polars()["trust"].null_count() == int(np.isin(answers, [8, 9]).sum())


def test_row_numbers_of_pandas_are_not_read(tmp_path, rng):
    frame = pl.DataFrame({"age": rng.integers(18, 80, N), "__index_level_0__": range(N)})
    frame.write_parquet(tmp_path / "t.parquet")
    table = celosia.read(tmp_path / "t.parquet")
    assert table.names == ("age",) or list(table.names) == ["age"]
    assert "row numbers" in table.origin.facts.notes[0]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_suppressed_cells_are_declared_missing(ending, tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}[ending]
    source, target = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    write(pl.DataFrame({"sex": [1, 2, 1]}), source, variable_value_labels={"sex": {1: "male", 2: "female"}})
    opened = cio.scan(source)
    cio.write(opened.frame.with_columns(pl.Series("sex", ["1", "*", "*"])), target, opened.facts)
    read = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta}[ending]
    assert read(target, output_format="polars")[0]["sex"].to_list() == [1, None, None]
    assert cio.scan(target).frame.collect()["sex"].to_list() == ["1", "*", "*"]


def test_init_writes_policies_that_run(shared, tmp_path, capsys):
    """Every table of the corpus with up to 40 columns that is read without options."""
    refused = {}
    for file in sorted(shared("real/data").iterdir()):
        if file.stat().st_size > 150_000:
            continue
        policy, copy = tmp_path / f"{file.stem}.toml", tmp_path / file.name
        copy.write_bytes(file.read_bytes())  # a run writes beside its input
        if command(["init", str(copy), "--out", str(policy)]) == 0:
            refused[file.name] = command(["run", str(policy)])
        capsys.readouterr()
    assert len(refused) > 5
    assert {name: code for name, code in refused.items() if code} == {}


def test_what_a_rarely_repeated_place_determines_is_left_out(rng):
    """Ten pairs of 300 people live in the same census tract; its income is the same for both, and of nobody else."""
    tract = np.r_[np.arange(290), np.arange(10)]
    income = rng.permutation(290) * 37 + 20_000
    table = {
        "sex": rng.choice(["F", "M"], 300).tolist(),
        "census_tract": [f"{17_031_000_000 + 100 * number}" for number in tract],
        "h_income": income[tract].tolist(),
        "own_income": (rng.permutation(300) * 41 + 9_000).tolist(),
    }
    found = by_name(table)
    assert found["h_income"].left_out
    assert found["h_income"].derived_from == ("census_tract",)
    assert not found["own_income"].left_out
