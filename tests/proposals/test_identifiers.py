"""Identifiers by name and by form: every Safe Harbor type, three languages, check digits."""

from __future__ import annotations

import random
from functools import partial
from operator import add

import numpy as np
import polars as pl
import pytest

from celosia.data.schema import Role
from celosia.proposals import suggest
from celosia.proposals.code_book import CodeBook
from celosia.proposals.meanings import meanings
from celosia.proposals.recognition.checksums import card, cpf, dni, iban, luhn, nhs, nss, rut, vin
from celosia.proposals.recognition.patterns import recognise
from celosia.proposals.vocabulary import meaning_of, words_of

RNG = random.Random(7)
DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def with_check(make, alphabet, test):
    """Find the check sign by trying all: a second way to the same number."""
    fits = [make(sign) for sign in alphabet if test(make(sign))]
    assert len(fits) == 1
    return fits[0]


def digits(n):
    return "".join(RNG.choice("0123456789") for _ in range(n))


def dnis(n):
    return [with_check(partial(add, digits(8)), DNI_LETTERS, dni) for _ in range(n)]


def cards(n):
    return [with_check(partial(add, "4" + digits(14)), "0123456789", card) for _ in range(n)]


def test_check_digits_by_hand():
    # 12345678 = 23 * 536768 + 14, the letter at 14 is Z. 0012: X -> 0, 1234567 % 23 = 19 -> L.
    assert dni("12345678Z")
    assert dni("X1234567L")
    assert not dni("12345678Y")
    # 1*... weights 2..7 from the right over 12345678: 8*2+7*3+6*4+5*5+4*6+3*7+2*2+1*3 = 138; 11 - 138 % 11 = 5.
    assert rut("12345678-5")
    assert not rut("12345678-4")
    assert rut("11.111.111-1")
    assert luhn("79927398713")
    assert not luhn("79927398710")
    assert iban("GB82 WEST 1234 5698 7654 32")
    assert not iban("GB82 WEST 1234 5698 7654 33")
    assert not iban("ES82 WEST 1234 5698 7654 32")
    assert nhs("9434765919")
    assert cpf("529.982.247-25")
    assert not cpf("111.111.111-11")
    assert vin("1M8GDM9AXKP042788")
    # 2812345678 % 97 = 40
    assert 2812345678 % 97 == 40
    assert nss("281234567840")


@pytest.mark.parametrize("test", [dni, rut, luhn, iban, nhs, cpf, vin, nss])
def test_one_changed_digit_is_noticed(test):
    good = {
        dni: "12345678Z",
        rut: "123456785",
        luhn: "4111111111111111",
        iban: "ES9121000418450200051332",
        nhs: "9434765919",
        cpf: "52998224725",
        vin: "1M8GDM9AXKP042788",
        nss: "281234567840",
    }[test]
    assert test(good)
    for i, sign in enumerate(good):
        if sign.isdigit():
            changed = good[:i] + str((int(sign) + 1) % 10) + good[i + 1 :]
            assert not test(changed), i


FORMS = {
    "e-mail address": ["ana@uab.cat", "pep.x@gmail.com", "o+1@a-b.org"],
    "web address": ["https://x.org/a", "http://y.cat", "www.z.com"],
    "IP address": ["10.0.0.1", "192.168.7.9", "2001:db8::7"],
    "Spanish DNI or NIE": dnis(20),
    "IBAN": ["ES91 2100 0418 4502 0005 1332", "GB82WEST12345698765432", "DE89370400440532013000"],
    "United States social security number": ["123-45-6789", "512-05-1120", "219-09-9998"],
    "payment card": cards(20),
    "licence plate": ["1234 BCD", "0001-FGH", "B-1234-XY"],
    "telephone number": ["+34 612 345 678", "612 34 56 78", "(212) 555-0187", "931234567"],
    "device address (MAC)": ["00:1a:2b:3c:4d:5e", "00:1A:2B:3C:4D:5F", "01-1a-2b-3c-4d-5e"],
    "picture file": ["a.jpg", "b/c.PNG", "scan.dcm"],
    "person's name": ["Smith, John", "Puig, Núria M.", "O'Hara, Ann"],
    "Catalan health card (CIP)": ["PUSO 1 850203 004", "ABCD0990101001", "QWER1000101002"],
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    values = FORMS[name]
    found = recognise(values, len(values))
    assert found is not None
    assert found[0].name == name
    suggestion = suggest(pl.DataFrame({"x": values * 2}))[0]
    assert suggestion.role in (Role.IDENTIFIER, Role.PERSON)
    assert not any(value in suggestion.reason for value in values)


def test_random_numbers_are_no_identity_numbers():
    # One DNI letter in 23 fits by chance, one Luhn digit in 10: far from the 80 % that is asked for.
    letters = [digits(8) + RNG.choice(DNI_LETTERS) for _ in range(500)]
    found = recognise(letters, 500)
    assert found is None
    found = recognise(["4" + digits(15) for _ in range(500)], 500)
    assert found is not None
    assert found[0].name == "number of a record or document", "long numbers of no known kind"


def test_few_values_decide_nothing():
    assert recognise(["a@b.org", "c@d.org"], 2) is None


NAMES = {
    1: ["name", "FirstName", "last_name", "nombre", "Primer Apellido", "cognoms", "patient_name"],
    2: ["address", "street", "dirección", "adreça", "latitude", "zip_code", "códigoPostal", "codi postal", "municipi"],
    3: ["date_of_birth", "DOB", "fecha_nacimiento", "data_naixement", "age", "edad", "admission date", "fecha de alta"],
    4: ["phone", "teléfono", "telefon_mobil", "cell_phone"],
    5: ["fax", "fax_number"],
    6: ["email", "e-mail", "correo_electrónico", "correu"],
    7: ["ssn", "social_security_number", "nss"],
    8: ["mrn", "medical_record_number", "historia_clínica", "NHC"],
    9: ["health_plan_number", "tarjeta sanitaria", "targeta_sanitaria", "CIP"],
    10: ["account_number", "iban", "numero_cuenta", "compte_bancari", "credit_card"],
    11: ["driver_license", "certificate_number", "permiso_de_conducir"],
    12: ["vin", "license_plate", "matrícula", "bastidor"],
    13: ["device_id", "serial_number", "imei", "mac_address"],
    14: ["url", "web_page", "sitio web"],
    15: ["ip_address", "direccion_ip"],
    16: ["fingerprint", "huella_dactilar", "empremta", "dna"],
    17: ["photo", "fotografía", "imatge"],
    18: ["dni", "NIF", "passport_number", "cédula", "patient_id", "username"],
}


@pytest.mark.parametrize("kind", NAMES)
def test_names_of_all_eighteen_types(kind):
    for name in NAMES[kind]:
        meaning = meaning_of(name)
        assert meaning is not None, name
        assert meaning.hipaa == kind, name


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("diagnóstico", "sensitive"),
        ("malaltia", "sensitive"),
        ("HIV_status", "sensitive"),
        ("ingresos_mensuales", "sensitive"),
        ("religió", "sensitive"),
        ("sexe", "quasi"),
        ("estado_civil", "quasi"),
        ("nivell_estudis", "quasi"),
        ("city_name", "quasi"),
        ("pes_mostral", "weight"),
        ("id_llar", "household"),
        ("sexe_alumne", "quasi"),
        ("data_nac", "quasi"),
        ("apellido_paterno", "identifier"),
        ("Wohnort", "quasi"),
        ("Numéro de sécurité sociale", "identifier"),
        ("Stan cywilny", "quasi"),
        ("estrato", "stratum"),
    ],
)
def test_names_in_three_languages(name, role):
    meaning = meaning_of(name)
    assert meaning is not None
    assert meaning.role == role


@pytest.mark.parametrize(
    "name", ["filename", "paid_up", "wagen", "agent", "sexton", "x1", "tellurium", "emailed", "racecar"]
)
def test_parts_of_words_mean_nothing(name):
    assert meaning_of(name) is None


def test_words():
    assert words_of("ZIPCode") == ("zip", "code")
    assert words_of("Año_Nacimiento") == ("ano", "nacimiento")


def test_all_eighteen_types_are_covered():
    assert {m.hipaa for m in meanings() if m.hipaa} == set(range(1, 19))


@pytest.mark.parametrize(
    "name",
    [
        "birth month", "birth day", "day of birth", "mes de nacimiento", "jour de naissance", "geb_monat", "Geburtstag",
        "dob_d", "birth quarter", "week of birth", "hour of birth", "age_months",
    ],
)  # fmt: skip
@pytest.mark.parametrize("described", [False, True])
def test_parts_of_a_birth_date_are_quasi_identifiers(name, described):
    highest = {"age_months": 900, "birth quarter": 4}.get(name, 12 if "mo" in name or "mes" in name else 24)
    cells = np.random.default_rng(1).integers(200 if "age" in name else 1, highest + 1, 400)
    book = CodeBook(descriptions={"V1": name}) if described else None
    suggestion = suggest(pl.DataFrame({"V1" if described else name: cells, "x": range(400)}), book)[0]
    assert suggestion.role == Role.QUASI, suggestion.reason
