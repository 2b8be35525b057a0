"""Chapter 7 from end to end: catalogue, rule of figure 7.4, query of figure 7.5, request, release, check.

The database is generated: the students of the case in the tables that the query names. The query is the printed one, in
Oracle's dialect; it is translated and run in DuckDB. It is published through the same request as any other, with a
certificate and a private record, and checked by anybody and by its publisher.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia_reproduce.consent.worked import DIALECT, Texts
from celosia_reproduce.statements import Section, Statement, derived, printed

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

PLACE = ("PROVINCIA", "CANTON", "DISTRITO")
UNUSED = ("EDAD", "ADECUACION_EN_SECUNDARIA", "NACIONALIDAD")
"""Columns of the query that Table 7.4 leaves out."""
SHOWS_PLACE = "COLEGIO"
"""The rule fires by the school too. Table 7.4 publishes it as it is, which shows the district: it is left out here."""
OWNER = "IDENTIFICACION_ESTUDIANTE"


def section(texts: Texts, people: pl.DataFrame, blocked: NDArray[np.bool_], k: int, seed: int) -> Section:
    """Publish the students and describe each step."""
    from celosia import verify
    from celosia.consent.owners.store import Preferences
    from celosia.consent.protection.protection import Design
    from celosia.consent.publication.replay import repetition
    from celosia.consent.publication.request import Request, publish, write
    from celosia.consent.rules.exchange import read_xml

    catalogue = read_xml(texts["rule_7_4"])
    inference = catalogue.inferences[0]
    request = Request(
        sql=texts["query_7_5"],
        owner=OWNER,
        design=Design(k=k, rule="class", tree=PLACE),
        quasi=PLACE,
        identifiers=(*UNUSED, SHOWS_PLACE),
        sensitive=("PROMEDIO_ADMISION",),
        dialect=DIALECT,
    )
    with tempfile.TemporaryDirectory() as place:
        url = _database(Path(place) / "admission.duckdb", people)
        store = Preferences.create(Path(place) / "choices.db")
        owners = _names(len(people))
        store.add_owners(owners)
        store.load(_choices(owners, blocked, inference.id), catalogue.ids())
        publication = publish(request, url, catalogue, store, seed=seed)
        files = write(publication, Path(place) / "publication")
        checks = verify(Path(place) / "publication", repeat=repetition(url, catalogue, store))
        store.close()
        written = sorted(path.name for path in files.values())
    report = publication.report
    facts = {
        "inference": inference.sentence("es"),
        "what fired": report["rules"][0]["sentence"],
        "rows": report["rows"],
        "owners who block": report["owners who block"],
        "k, and X for those who block": f"{k}, {inference.extra}",
        "smallest class": report["facts"]["smallest class"],
        "altered rows": f"{report['measured']['class']['losses']['all']['altered']:.1%}",
        "an intruder who knows 10 % predicts": f"{report['measured']['class']['p_reid']['all']['value']:.1%}",
        "seen by the guard": "; ".join(
            f"{seen['column']}: {seen['cells']} of {seen['of']} cells hold {seen['what']}" for seen in report["guard"]
        ),
        "files": ", ".join(written),
        "checks that hold": f"{sum(check.passed is True for check in checks)} of {len(checks)}",
    }
    return Section(
        "Chapter 7 from end to end",
        story=__doc__.partition("\n\n")[2] if __doc__ else "",
        facts=facts,
        statements=tuple(_statements(publication, people, blocked, checks)),
    )


def _statements(publication: Any, people: pl.DataFrame, blocked: NDArray[np.bool_], checks: Any) -> list[Statement]:
    report, where = publication.report, "Sections 7.4 to 7.6"
    place = {name.casefold() for name in publication.marks.columns[next(iter(publication.marks.columns))]}
    return [
        printed(where, "the query to publish activates the block", True, bool(report["blocks"])),
        printed(where, "columns that the block concerns are the place", True, {p.casefold() for p in PLACE} <= place),
        derived(where, "columns of Table 7.4 without the school", 5, len(publication.table.names)),
        derived(where, "rows marked are those of the owners who block", int(blocked.sum()), report["rows marked"]),
        derived(where, "nobody is lost on the way", len(people), report["rows"]),
        derived(where, "every class is as large as its owners ask for", True, publication.holds),
        derived(
            where, "certificate, private record and repetition agree", True, all(c.passed is not False for c in checks)
        ),
    ]


def _names(n: int) -> list[str]:
    return [f"B{number:05d}" for number in range(n)]


def _choices(owners: list[str], blocked: NDArray[np.bool_], inference: str) -> pl.DataFrame:
    import polars as pl

    mine = [owner for owner, blocks in zip(owners, blocked, strict=True) if blocks]
    return pl.DataFrame({"owner": mine, "inference": inference, "block": True})


def _database(path: Path, people: pl.DataFrame) -> str:
    """Return the tables that the query names, filled with the students; codes where the query looks names up."""
    import duckdb
    import polars as pl

    from celosia.data.io.database import write

    duckdb.connect(str(path)).close()
    url = f"duckdb:///{path}"
    codes = {name: pl.col(name).rank("dense").cast(pl.Int64) for name in ("province", "canton", "district", "school")}
    coded = people.with_columns(**{f"{name}_code": code for name, code in codes.items()})
    names = {"PROVINCIA": "province_code", "CANTON": "canton_code", "DISTRITO": "district_code"}
    tables = {
        "ADM_INSCRIPCION": coded.select(
            pl.Series(OWNER, _names(len(people))),
            COLEGIO="school_code",
            **names,
            FECHA_NACIMIENTO=pl.date(1997, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 700),
            ADECUACION_EN_SECUNDARIA=pl.int_range(pl.len()) % 2,
            SEXO=pl.when(pl.col("sex") == "F").then(2).otherwise(1),
            CODIGONACION=pl.lit(1),
            PUNTAJE_500="score",
            ANNO=pl.lit(2015),
        ),
        "COLEGIO": coded.select(COLEGIO="school_code", NOMBRE_COLEGIO="school").unique(),
        "NACION": pl.DataFrame({"CODIGONACION": [1], "GENTILICIO": ["costarricense"]}),
    }
    keys: dict[str, str] = {}
    for name, column in names.items():
        keys[name] = column
        own = column.removesuffix("_code")
        tables[name] = coded.select(**keys, DESCRIPCION=own).unique()
    for name, frame in tables.items():
        write(frame.lazy(), url, table=name)
    return url
