"""Redacting notes: what is missed, on generated notes in three languages; half of them were never looked at in tuning."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError
from celosia.methods import RedactText

TUNED = {
    "es": [
        "Acude con su hija {name}, refiere dolor desde el {date}.",
        "Paciente remitido por la Dra. {family}; tel. de contacto {phone}.",
        "{name} no se presenta a la cita del {date}. Vive en {place}.",
        "Se avisa a la familia ({name}, {phone}) y se deriva a {place}.",
        "DNI {id}. Pide copia del informe a {mail}.",
        "Refiere que su vecino {name} le trae la compra; domicilio en calle {street}.",
        "Comenta {name} que duerme mal desde que se mudó a {place}.",
    ],
    "ca": [
        "Ve amb la seva filla {name}, refereix dolor des del {date}.",
        "Derivat per la Dra. {family}; telèfon {phone}.",
        "{name} no es presenta a la visita del {date}. Viu a {place}.",
        "Avisem la família ({name}, {phone}) i es trasllada a {place}.",
        "DNI {id}. Demana còpia de l'informe a {mail}.",
        "Explica que el veí {name} li porta la compra; viu al carrer {street}.",
        "Comenta {name} que dorm malament des que es va mudar a {place}.",
    ],
    "en": [
        "Came with her daughter {name}, in pain since {date}.",
        "Referred by Dr {family}; telephone {phone}.",
        "{name} missed the appointment of {date}. Lives in {place}.",
        "We told the family ({name}, {phone}) and moved her to {place}.",
        "ID {id}. Wants a copy of the letter at {mail}.",
        "Says that her neighbour {name} does the shopping; lives at {street}.",
        "{name} mentions poor sleep since moving to {place}.",
    ],
}
# Written after the rules, with other names, places and notations; the rules were not changed to fit them.
HELD_APART = {
    "es": [
        "visto hoy junto a {lower}, mejor que el {date}",
        "Trae informes de {place}. Los firma {name} (col. {id}).",
        "{family}: sin fiebre desde el {date}. Llamar al {phone}.",
        "Ha discutido con {given} y no quiere volver a {place}.",
        "CONTACTO: {capitals}, {phone}, {mail}",
        "Tía materna ({name}) con el mismo cuadro; NHC {id}.",
        "Dice {given}, la del {street}, que ya no fuma.",
    ],
    "ca": [
        "vista avui amb {lower}, millor que el {date}",
        "Porta informes de {place}. Els signa {name} (col. {id}).",
        "{family}: sense febre des del {date}. Trucar al {phone}.",
        "S'ha barallat amb {given} i no vol tornar a {place}.",
        "CONTACTE: {capitals}, {phone}, {mail}",
        "Tieta materna ({name}) amb el mateix quadre; NHC {id}.",
        "Diu {given}, la del {street}, que ja no fuma.",
    ],
    "en": [
        "seen today with {lower}, better than on {date}",
        "Brings letters from {place}. {name} has signed them (no. {id}).",
        "{family}: no fever since {date}. Ring {phone}.",
        "Fell out with {given} and will not go back to {place}.",
        "CONTACT: {capitals}, {phone}, {mail}",
        "Maternal aunt ({name}) had the same; record {id}.",
        "{given} from {street} says that she has stopped smoking.",
    ],
}
NOTES = (TUNED, HELD_APART)
# In each list one name in two is in no dictionary.
GIVEN = (
    {"es": "María Nerea José Zuleika", "ca": "Núria Arola Jordi Blau", "en": "James Tamsin Mary Ignatius"},
    {"es": "Carmen Yeray Lucía Eulogio", "ca": "Laia Guifré Pau Elna", "en": "Emma Piers Thomas Saoirse"},
)
FAMILY = (
    {"es": "García Arrabal López Zurita", "ca": "Puig Bassegoda Vidal Xampeny", "en": "Smith Attwater Taylor Peverell"},
    {"es": "Romero Berrocal Ortega Ugarte", "ca": "Serra Tubau Bosch Oromí", "en": "Wilson Pym Davies Birtwhistle"},
)
PLACES = (
    {
        "es": "Zaragoza Calatayud Sevilla Benavente",
        "ca": "Vic Arbúcies Reus Bellpuig",
        "en": "Leeds Ludlow Bristol Totnes",
    },
    {
        "es": "Burgos Almendralejo Toledo Jaca",
        "ca": "Girona Ulldecona Olot Llavorsí",
        "en": "Glasgow Alnwick York Bude",
    },
)
STREETS = (
    {"es": ["Mayor 14", "de Alcalá 3"], "ca": ["Major 14", "de Balmes 3"], "en": ["14 Mill Lane", "3 Church Road"]},
    {
        "es": ["paseo de Gracia 8", "c/ Luna, 2"],
        "ca": ["passeig de Gràcia 8", "c/ Lluna, 2"],
        "en": ["8 Elm Close", "22 Park Avenue"],
    },
)
DATES = (
    {
        "es": ["3 de mayo de 2021", "14/02/2020"],
        "ca": ["3 de maig de 2021", "14-02-2020"],
        "en": ["3 May 2021", "2020-02-14"],
    },
    {"es": ["1 de agosto", "2019-11-30"], "ca": ["1 d'agost", "30.11.2019"], "en": ["November 30th, 2019", "30/11/19"]},
)
PHONES = ("6{a} {b} {c}", "93 {b} {a} {a}")


SORTS = {"given": "name", "family": "name", "lower": "name", "capitals": "name", "street": "place"}


def drawn(language: str, half: int, n: int, seed: int) -> tuple[list[str], list[list[tuple[str, str]]]]:
    """Notes, and what each of them holds: the kind and the words that must be gone."""
    rng = np.random.default_rng(seed)

    def pick(options: Any) -> str:
        values = options[half][language]
        return str(rng.choice(values.split() if isinstance(values, str) else values))

    notes, secrets = [], []
    for _ in range(n):
        given, family = pick(GIVEN), pick(FAMILY)
        a, b, c = rng.integers(10, 99), rng.integers(100, 999), rng.integers(100, 999)
        values = {
            "name": f"{given} {family}",
            "given": given,
            "family": family,
            "lower": f"{given} {family}".lower(),
            "capitals": f"{given} {family}".upper(),
            "place": pick(PLACES),
            "street": pick(STREETS),
            "date": pick(DATES),
            "phone": PHONES[half].format(a=a, b=b, c=c),
            "id": f"{rng.integers(10**7, 10**8)}{rng.choice(list('TRWAGMYF'))}",
            "mail": f"{family.lower()}{rng.integers(1, 99)}@example.org",
        }
        template = pick(NOTES)
        notes.append(template.format(**values))
        secrets.append([(SORTS.get(kind, kind), value) for kind, value in values.items() if f"{{{kind}}}" in template])
    return notes, secrets


def missed(language: str, half: int, n: int = 400, seed: int = 1) -> dict[str, float]:
    """The share of each kind of which any word is left."""
    notes, secrets = drawn(language, half, n, seed)
    table = celosia.read(pl.DataFrame({"note": notes}), celosia.Schema.of(insensitive=["note"], kinds={"note": "text"}))
    made = celosia.protect(table, RedactText(columns=["note"])).polars()["note"].to_list()
    left: dict[str, list[bool]] = defaultdict(list)
    for text, held in zip(made, secrets, strict=True):
        for sort, value in held:
            left[sort].append(any(word in text for word in value.split() if len(word) > 2))
    return {kind: float(np.mean(each)) for kind, each in left.items()}


#: What the docs state.
BOUNDS = ({}, {"name": 0.35})


@pytest.mark.parametrize("language", TUNED)
@pytest.mark.parametrize("half", [0, 1], ids=["tuned", "held apart"])
def test_what_is_missed(language, half):
    for sort, share in missed(language, half).items():
        assert share <= BOUNDS[half].get(sort, 0.0), sort


def test_what_is_medicine_stays():
    notes = [
        "Dolor abdominal de tres días, TA 120/80, paracetamol 500 mg cada 8 horas.",
        "Fever of 38.5, no cough. HbA1c 7.1 %.",
    ]
    table = celosia.read(pl.DataFrame({"note": notes}), celosia.Schema.of(insensitive=["note"], kinds={"note": "text"}))
    assert celosia.protect(table, RedactText(columns=["note"])).polars()["note"].to_list() == notes


def test_missing_cells_stay_and_numbers_are_refused():
    frame = pl.DataFrame({"note": ["Ana García", None], "x": [1, 2]})
    table = celosia.read(frame, celosia.Schema.of(insensitive=["note", "x"]))
    assert celosia.protect(table, RedactText(columns=["note"])).polars()["note"].to_list() == ["[name]", None]
    with pytest.raises(DataError, match="holds no text"):
        celosia.protect(table, RedactText(columns=["x"]))


def test_redacted_text_leaves_and_the_guard_looks_at_it(tmp_path):
    notes, _ = drawn("es", 0, 200, 3)
    frame = pl.DataFrame({"age": [30, 40] * 100, "note": notes})
    table = celosia.read(frame, celosia.Schema.of(quasi=["age"], insensitive=["note"], kinds={"note": "text"}))
    written = celosia.write(celosia.protect(table, RedactText(columns=["note"])), tmp_path / "safe.csv")
    assert written.table.names == ("age", "note")
    assert not any(sighting.certain for sighting in written.leaving.sightings)
