"""The Safe Harbor preset from a fresh file to a release: eighteen identifiers, dates, ages, ZIP codes."""

from __future__ import annotations

import datetime as dt
import random

import polars as pl
import pytest
from tests.proposals.registers import HELD, SEEN, register
from tests.proposals.registers.cells import CELLS, Draw

import celosia
from celosia.cli.main import run as command
from celosia.proposals.safe_harbor import SMALL_AREAS

pytestmark = pytest.mark.filterwarnings("ignore:identifier")
#: One column of each of the eighteen kinds; the dates, the ages and the ZIP code stay in part.
EIGHTEEN = {
    "patient_name": "full.en",
    "street_address": "street.en",
    "phone": "usphone",
    "fax": "usphone",
    "email": "mail",
    "ssn": "ssn",
    "mrn": "record8",
    "health_plan_number": "prefixed",
    "account_number": "iban",
    "license_number": "passport",
    "license_plate": "plate",
    "device_id": "hashed",
    "url": "url",
    "ip_address": "ip",
    "fingerprint": "hashed",
    "photo": "picture",
    "case_id": "uuid",
    "city": "place.en",
}


@pytest.fixture
def american(tmp_path):
    rng = random.Random(11)
    draw = Draw(rng, 400)
    columns = {name: CELLS[cells](draw) for name, cells in EIGHTEEN.items()}
    columns |= {
        "birth_date": [
            (dt.date(1925, 1, 1) + dt.timedelta(days=rng.randrange(34_000))).strftime("%m/%d/%Y") for _ in range(400)
        ],
        "age": [str(rng.choice([40, 41, 89, 90, 91, 95, 102])) for _ in range(400)],
        "admission_date": CELLS["day.iso"](draw),
        "discharge_date": CELLS["day.us"](draw),
        "zip": [rng.choice(["02139", "02140", "10001", "03601", "82101", "89301"]) for _ in range(400)],
        "state": CELLS["state"](draw),
        "gender": CELLS["MF"](draw),
        "diagnosis": CELLS["disease.en"](draw),
    }
    path = tmp_path / "discharges.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


def released(path, tmp_path, capsys):
    policy = tmp_path / "harbour.toml"
    assert command(["init", str(path), "--out", str(policy), "--safe-harbor"]) == 0
    capsys.readouterr()
    return celosia.run(policy).table.polars(), policy.read_text(encoding="utf-8")


def test_the_eighteen_identifiers(american, tmp_path, capsys):
    frame, text = released(american, tmp_path, capsys)
    assert not set(EIGHTEEN) & set(frame.columns)
    assert {"birth_date", "age", "admission_date", "zip", "state", "gender", "diagnosis"} <= set(frame.columns)
    # dates: the year only; birth years that tell an age over 89 are one
    for name in ("admission_date", "discharge_date"):
        assert set(frame[name]) <= {"2023", "2024", "2025", "2026"}
    oldest = dt.date.today().year - 90
    assert frame["birth_date"].cast(pl.Int64).min() == oldest
    # ages: 90 stands for all over 89; 89 stays
    assert set(frame["age"]) == {40, 41, 89, 90}
    # ZIP codes: three digits, and 000 where 20 000 people or fewer live
    assert set(frame["zip"]) == {"021**", "100**", "000**"}
    assert {"036", "821", "893"} <= set(SMALL_AREAS)
    assert "20 000 people or fewer" in text
    assert "Census 2000" in text


@pytest.mark.parametrize("name", ["hospital_2026", "cmbd", "pmsi", "hes", "urgencies", "discharges"])
def test_a_fresh_hospital_file_runs(name, tmp_path, capsys):
    description = {**SEEN, **HELD}[name]
    known = register(name, description, rows=400)
    frame, _ = released(known.write(tmp_path), tmp_path, capsys)
    naming = {column for column, roles in known.roles.items() if roles <= {"identifier", "person", "household"}}
    assert not naming & set(frame.columns)
    texts = [frame[name] for name in frame.columns if frame[name].dtype == pl.String]
    assert not any(cells.str.contains(r"^\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?(?: |$)").any() for cells in texts)
    assert not any(dtype.is_temporal() for dtype in frame.dtypes)


def test_a_postcode_of_another_form_goes(tmp_path, capsys):
    frame = pl.DataFrame({"postcode": ["LS1 4AB", "LS11 9XY", "BD1 1AA"] * 30, "sex": ["F", "M", "M"] * 30})
    frame.write_csv(tmp_path / "uk.csv")
    safe, text = released(tmp_path / "uk.csv", tmp_path, capsys)
    assert safe.columns == ["sex"]
    assert "no ZIP code" in text
