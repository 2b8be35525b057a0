"""The guard and the suggestion of roles recognise identifiers by the same forms, in the values as they are released."""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

import celosia
from celosia import Schema
from celosia.cli.main import run as cli
from celosia.errors import GuardError, OutputError
from celosia.proposals import suggest
from celosia.release.output.columns import select_output
from celosia.table.derive import with_record_ids

P, N = 100, 300
RNG = np.random.default_rng(2)
GIVEN = ["Maria", "Jose", "Juan", "Ana", "Pedro", "Luis", "Carmen", "Laura", "Pablo", "Marta"]
FAMILY = ["Garcia", "Lopez", "Martinez", "Sanchez", "Perez", "Gomez", "Ruiz", "Diaz", "Moreno", "Romero"]


def pairs(first: str, second: str) -> list[str]:
    return [f"{a} {b}" for a in first.split() for b in second.split()]


def several(make: Callable[[int], str]) -> list[str]:
    return [make(i) for i in range(P)]


def digits(count: int) -> str:
    return str(int(RNG.integers(10 ** (count - 1), 10**count - 1)))


FORMS: dict[str, list[Any]] = {
    "Cyrillic names": pairs(
        "Иван Мария Пётр Анна Ольга Сергей Дмитрий Елена Наталья Алексей",
        "Иванов Петрова Сидоров Кузнецова Смирнов Попова Волков Соколова Лебедев Козлова",
    ),
    "Chinese names": [
        a + b + c
        for a in "王李张刘陈杨赵黄周吴"
        for b, c in zip("伟芳娜敏静丽强磊军洋", "芳娜敏静丽强磊军洋伟", strict=True)
    ],
    "Arabic names": pairs("محمد أحمد فاطمة علي مريم حسن زينب عمر خالد ليلى", "العلي الحسن المصري الشامي القرشي"),
    "Greek names": pairs("Γιώργος Μαρία Νίκος Ελένη Κώστας Άννα", "Παπαδόπουλος Νικολάου Γεωργίου Ιωάννου Πέτρου"),
    "name_name": [f"{a}_{b}".lower() for a in GIVEN for b in FAMILY],
    "NameName": [f"{a}{b}" for a in GIVEN for b in FAMILY],
    "Spanish streets": several(lambda i: f"Calle Mayor {i + 1}, 2º B"),
    "American streets": several(lambda i: f"{100 + i} Main Street, Springfield"),
    "profiles": several(lambda i: f"https://www.example.com/in/maria-{i}"),
    "user names": several(lambda i: f"@user_{i}"),
    "places": several(lambda i: f"{41.3 + i / 997:.6f}, {2.1 + i / 991:.6f}"),
    "IPv6": several(lambda i: f"2001:db8:85a3::8a2e:370:{i:04x}"),
    "lower-case IBAN": several(lambda i: f"es{i:02d}21000418450200051332"),
    "codice fiscale": several(lambda i: f"RSSMRA{80 + i % 20:02d}A{10 + i % 20:02d}H{500 + i}X"),
    "passports": several(lambda _: f"PAA{digits(6)}"),
    "plates": several(lambda i: f"{1000 + i * 37 % 9000} BCD"),
    "device numbers": several(lambda _: f"35{digits(13)}"),
    "Arabic-Indic telephones": several(lambda _: "".join(chr(0x660 + int(c)) for c in f"6{digits(8)}")),
    "bare long numbers": several(lambda _: digits(11)),
    "French telephones": several(lambda _: f"06 {digits(2)} {digits(2)} {digits(2)} {digits(2)}"),
    "German telephones": several(lambda _: f"0151 {digits(8)}"),
    "telephones with 00": several(lambda _: f"00346{digits(8)}"),
    "record numbers": several(lambda _: f"HC-{digits(7)}"),
    "dates with initials": several(lambda i: f"{1950 + i % 50}-0{1 + i % 9}-{10 + i % 18} M.G."),
    "milliseconds": [int(digits(13)) for _ in range(P)],
    "telephones as whole numbers": [int(f"6{digits(8)}") for _ in range(P)],
    "IDN e-mail": several(lambda i: f"user{i}@пример.рф"),
    "reversed e-mail": several(lambda i: f"user{i}@example.org"[::-1]),
    "hexadecimal e-mail": several(lambda i: f"user{i}@example.org".encode().hex()),
    "base64 e-mail": several(lambda i: base64.b64encode(f"user{i}@example.org".encode()).decode()),
    "full-width e-mail": several(lambda i: f"user{i}＠example.org"),
    "invisible e-mail": several(lambda i: f"user{i}\u200b@exam\u200bple.org"),
    "written-out e-mail": several(lambda i: f"user{i} (at) example (dot) org"),
    "spaced DNI": several(lambda _: "1 2 3 4 5 6 7 8 Z"),
}


def table_of(values: Any, **more: Any) -> Any:
    n = len(values)
    frame = pl.DataFrame({"sex": ["F", "M"] * (n // 2), "x": values})
    return celosia.read(frame, Schema.of(quasi=["sex"], **({"insensitive": ["x"]} | more)))


def stops(values: Any, *steps: Any) -> str:
    table = table_of(values)
    made = celosia.protect(table, *steps, seed=1) if steps else with_record_ids(table)
    with pytest.raises(GuardError) as caught:
        select_output(table, made, [secret["method"] for secret in made.private_history])
    return str(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_identifier_stops_the_release(form):
    values = FORMS[form]
    assert "column 'x'" in stops((values * N)[:N])


TEXT_FORMS = [form for form, values in FORMS.items() if isinstance(values[0], str)]


@pytest.mark.parametrize("form", TEXT_FORMS)
def test_every_form_of_identifier_stops_the_release_of_categories(form):
    values = pl.Series((FORMS[form] * N)[:N])
    assert "column 'x'" in stops(values.cast(pl.Categorical))


@pytest.mark.parametrize("step", [(), ("suppress-cells(columns=x, where=\"sex = 'zz'\")",)], ids=["no step", "a step"])
@pytest.mark.parametrize("form", ["Spanish streets", "Cyrillic names", "hexadecimal e-mail"])
def test_listed_categories_stop_the_release_whatever_a_step_declares(form, step):
    values = pl.Series((FORMS[form] * N)[:N])
    assert "column 'x'" in stops(values.cast(pl.Enum(values.unique())), *step)


def test_categories_stop_writing_running_and_applying(tmp_path, capsys):
    frame = table_of((FORMS["Spanish streets"] * N)[:N]).polars().with_columns(pl.col("x").cast(pl.Categorical))
    frame.write_parquet(tmp_path / "in.parquet")
    table = celosia.read(tmp_path / "in.parquet", Schema.of(quasi=["sex"], insensitive=["x"]))
    with pytest.raises(GuardError, match="street and number"):
        celosia.write(celosia.protect(table, "permute(columns=sex)", seed=1), tmp_path / "out.csv")
    schema = {"quasi": ["sex"], "insensitive": ["x"]}
    policy = {"input": {"path": str(tmp_path / "in.parquet")}, "schema": schema}
    policy |= {"step": [{"use": "recode", "column": "sex", "mapping": {"F": "f", "M": "m"}}]}
    output = {"path": str(tmp_path / "out.parquet")}
    with pytest.raises(GuardError, match="street and number"):
        celosia.run(celosia.Policy.of(policy | {"output": output}))
    frame.with_columns(x=pl.lit("a").cast(pl.Categorical)).write_parquet(tmp_path / "in.parquet")
    celosia.run(celosia.Policy.of(policy | {"output": output}))
    frame.write_parquet(tmp_path / "new.parquet")
    new = [str(tmp_path / name) for name in ("out.private.json", "new.parquet", "more.parquet")]
    assert cli(["apply", *new[:2], "--out", new[2]]) == 3
    assert "street and number" in capsys.readouterr().err


@pytest.mark.parametrize(
    "values",
    [
        [f"cat{i}" for i in range(P)],
        [f"{c}{i:02d}.{i % 9}" for i in range(50) for c in "CF"],  # diagnoses
        [f"[{10 * i}-{10 * i + 10})" for i in range(P)],
        [20_000 + 500 * i for i in range(P)],
        [f"Saint {word}" for word in ("Hill", "Lake", "Town", "Bridge")] * 25,
        ["Москва", "Казань", "Самара", "Омск", "Тверь"] * 20,
    ],
)
def test_categories_and_amounts_do_not_stop_the_release(values):
    table = table_of(values * 3)
    select_output(table, with_record_ids(table), ())


def card(body: str) -> int:
    total = sum(int(d) if i % 2 else sum(divmod(2 * int(d), 10)) for i, d in enumerate(reversed(body)))
    return int(body + str(-total % 10))


CARDS = [card("4" + "".join(map(str, RNG.integers(0, 10, 14)))) for _ in range(P)]


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64, pl.Decimal(20, 0), pl.String], ids=str)
def test_card_numbers_stop_the_release_in_every_type(dtype):
    assert "payment card" in stops(pl.Series(CARDS * 3).cast(dtype))


def test_card_numbers_behind_smaller_numbers_stop_the_release():
    assert "payment card" in stops(list(range(3000)) * 3 + CARDS * 30)


@pytest.mark.parametrize(
    "step",
    [
        "suppress-cells(columns=x, where=sex = 'zz')",
        "rank-swap(columns=x, window=0.1)",
        "random-perturbation(shuffle=[x])",
        "microaggregate(columns=x, k=2)",
        "individual-ranking(columns=x, k=2)",
        "top-code(columns=x, value=9000000000000000)",
    ],
)
def test_a_step_that_leaves_card_numbers_protects_nobody(step):
    given = {"use": "suppress-cells", "columns": ["x"], "where": "sex = 'zz'"} if "where" in step else step
    assert "300 of 300 cells hold" in stops(CARDS * 3, given)


@pytest.mark.parametrize("step", ["microaggregate(columns=x, k=2)", "individual-ranking(columns=x, k=2)"])
@pytest.mark.parametrize("role", ["identifiers", "person"])
def test_means_of_identifiers_are_not_released(step, role):
    table = table_of(
        [1000 + 7 * i for i in range(N)], insensitive=[], **{role: ["x"] if role == "identifiers" else "x"}
    )
    made = celosia.protect(table, step, seed=1)
    methods = [secret["method"] for secret in made.private_history]
    with pytest.raises(OutputError, match="a step computes numbers from its numbers"):
        select_output(table, made, methods)
    assert "x" in select_output(table, made, methods, ["x"]).table.names, "kept on purpose"


@pytest.mark.parametrize(
    "form", ["Spanish streets", "passports", "Greek names", "written-out e-mail", "record numbers"]
)
def test_the_same_forms_are_identifiers_in_a_suggestion(form):
    (suggestion,) = [each for each in suggest(pl.DataFrame({"x": (FORMS[form] * N)[:N]})) if each.name == "x"]
    assert str(suggestion.role) == "identifier"


def test_a_decimal_column_of_amounts_leaves():
    table = table_of([Decimal(i % 50) / 4 for i in range(N)])
    select_output(table, with_record_ids(table), ())


def seen_in(cells: list[str]) -> tuple[Any, ...]:
    table = celosia.read(pl.DataFrame({"x": cells}), Schema.of(insensitive=["x"]))
    return select_output(table, with_record_ids(table), ()).sightings


MIXED = {
    "documents": [f"PAA{100_000 + 7919 * i}" for i in range(92)],
    "plates": [f"{1000 + 37 * i} BCD" for i in range(92)],
    "places": [f"{41.3 + i / 997:.6f}, {2.1 + i / 991:.6f}" for i in range(92)],
    "streets": [f"Calle Mayor {i + 1}, 2 B" for i in range(92)],
}


@pytest.mark.parametrize("form", MIXED)
def test_a_form_is_recognised_beside_other_content(form):
    """A public name, or values without any form, do not hide what most values are."""
    cells = MIXED[form] * 3
    others = (["Maria Garcia"] * 24, [f"bike {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(40)] * 3)
    for other in others:
        with pytest.raises(GuardError, match=r"276 of \d+ cells hold what looks like"):
            seen_in([*cells, *other])


@pytest.mark.parametrize(
    "cell",
    [
        "vive en Calle Mayor 15, 2B",
        "Tel.: 0151/23456789",
        "appelez 06 12 34 56 12 svp",
        "host 2001:db8:85a3::8a2e:370:4 up",
        "user12 at example.org",
        "contact user.one at example dot org",
    ],
)
def test_a_form_inside_a_text_stops_the_release(cell):
    with pytest.raises(GuardError, match="10 of 310 cells hold what looks like"):
        seen_in([cell] * 10 + ["yes", "no", "maybe"] * 100)


@pytest.mark.parametrize("cell", ["12:30:45", "bought at amazon.com", "Avenida Diagonal", "0151 code", "a::b::c"])
def test_what_only_resembles_a_form_is_seen_in(cell):
    assert seen_in([cell] * 10 + ["yes", "no", "maybe"] * 100) == ()
