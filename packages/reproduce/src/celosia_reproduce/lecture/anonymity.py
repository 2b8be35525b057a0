"""k-anonymity, diversity and the attacks on them: the small tables of the lecture, and ``person`` by SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import celosia
from celosia.methods import Mask, Recode
from celosia.models import KAnonymity, LDiversity
from celosia.risk import AttackerKnows, JoinAttack
from celosia_reproduce.statements import Statement, derived, printed

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table
    from celosia_reproduce.lecture.people import People

KEYS = ["zip", "age", "nationality"]


def statements(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Return the sections about small tables."""
    return [*five_people(tables), *linkage(tables), *patients(tables), *diversity(tables), *workers(tables)]


def _table(frame: pl.DataFrame, quasi: list[str], **given: Any) -> Table:
    return celosia.read(frame, celosia.Schema.of(quasi=quasi, **given))


def _k(table: Table) -> int:
    return int(KAnonymity(k=2).value(table))


def _l(table: Table) -> int:
    return int(LDiversity(l=2, column="disease").value(table))


def five_people(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Questions that five people answer, with and without names."""
    import polars as pl

    where, people = "Five people", tables["people"]
    table = celosia.read(people, celosia.Schema.of(identifiers=["Nombre"], quasi=["Fecha Nac.", "Sexo"]))
    masked = celosia.protect(table, Mask(columns=("Nombre",), width=5)).polars()
    year = people["Fecha Nac."].str.slice(-4)

    def called_ford(frame: pl.DataFrame) -> int:
        return frame.filter(pl.col("Nombre").str.ends_with("Ford")).height

    def k(*columns: str) -> int:
        return _k(celosia.read(people, celosia.Schema.of(identifiers=["Nombre"], quasi=columns)))

    answerable = masked["Nombre"].n_unique() == people["Nombre"].n_unique()
    postal = people.columns[-1]
    return [
        printed(where, "born in 2018", 4, int((year == "2018").sum())),
        printed(where, "men and women", [2, 3], [int((people["Sexo"] == sex).sum()) for sex in ("M", "F")]),
        printed(where, "born in 2018 and 2019", [4, 1], [int((year == y).sum()) for y in ("2018", "2019")]),
        printed(
            where,
            "people called Ford, from masked names",
            "impossible",
            "possible" if answerable else "impossible",
            why="the masked column has one value: 0 matches would be a wrong answer, not an answer",
        ),
        derived(where, "people called Ford", 1, called_ford(people)),
        derived(where, "matches in the masked table", 0, called_ford(masked)),
        derived(
            where,
            "k on birth date, postal code, sex, all three",
            [1, 1, 2, 1],
            [k("Fecha Nac."), k(postal), k("Sexo"), k("Fecha Nac.", postal, "Sexo")],
        ),
    ]


def linkage(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Check the re-identification of Rashad by a birth date that is not his."""
    import polars as pl

    where, ill = "Linkage of Rashad", tables["people_illness"]
    names = tables["people"]["Nombre"]
    truth = ill.with_columns(names)
    roles: dict[str, Any] = {"quasi": ["Fecha Nac."], "sensitive": ["Enfermedad"]}
    original = celosia.read(truth, celosia.Schema.of(identifiers=["Nombre"], **roles))
    release = celosia.read(truth.drop("Nombre"), celosia.Schema.of(**roles))
    register = pl.DataFrame({"Nombre": ["Rashad Arnold"], "Fecha Nac.": ["08/05/2018"]})
    join = register.join(truth.drop("Nombre"), on="Fecha Nac.").select("Fecha Nac.", "Sexo", "Coding", "Enfermedad")
    attack = JoinAttack(external=register, on=("Fecha Nac.",), key="Nombre").evidence(original, release)
    own = truth.filter(pl.col("Nombre") == "Rashad Arnold")
    return [
        printed(where, "the joined record", ["08/05/2018", "M", "14890", "Hepatitis"], list(join.row(0))),
        printed(
            where,
            "people found rightly",
            1,
            attack["right"],
            why="the birth date that the lecture gives Rashad is Alyssa Cherry's: the link is unique and false",
        ),
        derived(where, "unique joins", 1, attack["claimed"]),
        derived(where, "illness of Rashad in the table of the roles", "Resfrío", own["Enfermedad"][0]),
    ]


def _generalised_patients(raw: pl.DataFrame) -> pl.DataFrame:
    """Return the lecture's recoding: postal codes at two levels, ages in three parts, nationality to the root."""
    table = _table(
        raw,
        KEYS,
        sensitive=["disease"],
        hierarchies={
            "zip": {"*": {"130**": ["13053", "13068"], "1485*": ["14850", "14853"]}},
            "age": {"*": {"<30": [str(a) for a in range(30)], "30-40": [str(a) for a in range(30, 41)],
                          ">40": [str(a) for a in range(41, 120)]}},
            "nationality": {"*": sorted(raw["nationality"].unique())},
        },
    )  # fmt: skip
    return celosia.protect(table, *(Recode(column=name, level=1) for name in KEYS)).polars()


def patients(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Twelve patients, raw and generalised, and two intruders."""
    import polars as pl

    where, raw, safe = "Twelve patients", tables["patients"], tables["patients_generalised"]
    table = _table(safe, KEYS, sensitive=["disease"])
    bob = AttackerKnows(known={"zip": "13053", "age": 35}).remaining_values(table)["disease"]
    who = {"zip": "13068", "age": 24}
    umeko = AttackerKnows(known=who, excluded={"disease": ["Heart"]}).remaining_values(table)["disease"]

    def masked(hidden: int) -> int:
        cut = raw.with_columns(
            zip=pl.col("zip").str.slice(0, 5 - hidden), age=safe["age"], nationality=safe["nationality"]
        )
        return _k(_table(cut, KEYS))

    there = raw.filter(
        ((pl.col("zip") == "13053") & (pl.col("age") == "35")) | ((pl.col("zip") == "13068") & (pl.col("age") == "24"))
    )
    return [
        printed(where, "k of the raw table", 1, _k(_table(raw, KEYS))),
        printed(where, "k of the generalised table", 4, _k(table)),
        printed(where, "values in its poorest class", 1, _l(table)),
        derived(where, "the generalised table, from the raw one", safe.rows(), _generalised_patients(raw).rows()),
        printed(where, "what Bob (13053, 35) has", ["Cáncer"], list(bob)),
        printed(where, "what Umeko (13068, 24, no heart disease) has", ["Flu"], list(umeko)),
        derived(where, "Bob's and Umeko's records in the raw table", 0, there.height, why="the attacks presuppose it"),
        derived(where, "k when two or one digits of every postal code are hidden", [4, 2], [masked(2), masked(1)]),
    ]


def diversity(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Check the 3-diverse table against background knowledge that reduces its diversity."""
    where, safe = "l-diversity", _table(tables["patients_diverse"], KEYS, sensitive=["disease"])
    attacked = _table(tables["patients_attacked"], KEYS, sensitive=["disease"])
    who = {"zip": "13068", "age": 24}

    def left(*facts: str) -> list[str]:
        return sorted(AttackerKnows(known=who, excluded={"disease": list(facts)}).remaining_values(attacked)["disease"])

    after = AttackerKnows(known=who, excluded={"disease": ["Heart"]}).remaining_values(safe)["disease"]
    bob = AttackerKnows(known={"zip": "13053", "age": 35}).remaining_values(safe)["disease"]
    facts = ["Cáncer", "Heart", "Diabetes"]
    return [
        printed(where, "values in the poorest class", 3, _l(safe)),
        derived(where, "k", 4, _k(safe)),
        derived(where, "Bob: patients by disease", {"Cáncer": 4, "Flu": 2, "Heart": 2}, dict(sorted(bob.items()))),
        derived(where, "Umeko: patients by disease", {"Cáncer": 4, "Flu": 2}, dict(sorted(after.items()))),
        printed("Attack on l-diversity", "left after two facts", ["Diabetes", "Flu"], left(*facts[:2])),
        printed("Attack on l-diversity", "left after three", ["Flu"], left(*facts)),
        derived(
            "Attack on l-diversity", "left after 0, 1, 2, 3", [4, 3, 2, 1], [len(left(*facts[:n])) for n in range(4)]
        ),
        derived(
            "Attack on l-diversity",
            "values in the poorest class",
            1,
            _l(attacked),
            why="the table is shown as diverse; only Umeko's class is",
        ),
    ]


def workers(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Generalisation by a taxonomy and by intervals, suppression of names."""
    import polars as pl

    where, raw, safe = "Generalisation and suppression", tables["workers"], tables["workers_generalised"]
    jobs = {"*": {"Artist": ["Writer", "Dancer"], "Professional": ["Engineer", "Lawyer"]}}
    schema = celosia.Schema.of(
        identifiers=["Name"], quasi=["Job", "Sex", "Age"], hierarchies={"Job": jobs, "Age": "intervals(width=5)"}
    )
    table = celosia.read(raw.with_columns(pl.col("Age").cast(pl.Int64)), schema)
    recoded = celosia.protect(table, Recode(column="Job", level=1), Recode(column="Age", level=1))
    hidden = celosia.protect(recoded, Mask(columns=("Name",), width=4)).polars()
    ks = [_k(_table(safe, quasi)) for quasi in (["Job", "Sex", "Age"], ["Job"], ["Sex", "Age"])]
    return [
        printed(where, "the generalised table", safe.rows(), recoded.polars().rows()),
        printed(where, "names after suppression", ["****"], hidden["Name"].unique().to_list()),
        derived(where, "k on all three, on job, on sex and age", [1, 4, 1], ks, why="generalised is not yet anonymous"),
    ]


QUERIES = {
    "k_raw": ("age", "education_num", 32_561),
    "k_decades": ("(age // 10) * 10", "(education_num // 10) * 10", 1000),
    "k_capped": ("LEAST((age // 10) * 10, 60)", "(education_num // 10) * 10", 1000),
    "k_more_data": ("LEAST((age // 10) * 10, 60)", "(education_num // 10) * 10", 32_561),
}
STATED_K = {"k_raw": 1, "k_decades": 1, "k_capped": 12, "k_more_data": 455}


def by_sql(tables: Mapping[str, pl.DataFrame], person: People) -> list[Statement]:
    """Check the four queries that measure k on ``person``: every printed count, and k."""
    checked = []
    for name, (age, education, rows) in QUERIES.items():
        where = "k-anonymity by SQL"
        first = f"(SELECT * FROM person LIMIT {rows})"  # noqa: S608
        sql = f"SELECT {age} AS a, {education} AS e, COUNT(*) AS c FROM {first} GROUP BY 1, 2"  # noqa: S608
        counts = {(int(a), int(e)): int(c) for a, e, c in person.sql(sql)}
        shown = [tuple(int(cell) for cell in row) for row in tables[name].rows() if row[0] != "..."]
        checked += [printed(where, f"{name}: rows at ({a}, {e})", c, counts.get((a, e), 0)) for a, e, c in shown]
        why = "the lecture counts the first 1 000 rows here; all rows give 21" if name == "k_decades" else ""
        checked.append(printed(where, f"{name}: k", STATED_K[name], min(counts.values()), why=why))
    return checked
