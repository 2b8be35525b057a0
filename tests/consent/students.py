"""A small registry of students in a database, written once for the tests of requests and pages."""

from __future__ import annotations

import numpy as np
import polars as pl

CATALOGUE = """
[[inference]]
id = "residence"
description = {en = "Find out where I live", es = "Deducir dónde vivo", ca = "Deduir on visc"}
example = {en = "Somebody sees your school and your score and finds your district."}
category = "geographic"
extra = 10
[[inference.rule]]
tables = {personal = ["province", "canton", "district", "street"], enrolment = ["route"]}
threshold = 0.5

[[inference]]
id = "timetable"
description = {en = "Find out my timetable", es = "Deducir mi horario", ca = "Deduir el meu horari"}
category = "timetable"
extra = 20
[[inference.rule]]
tables = {enrolment = ["course", "room"]}

[[inference]]
id = "grant"
description = {en = "Find out that I have a grant", es = "Saber que tengo beca", ca = "Saber que tinc beca"}
category = "socio-economic"
extra = 5
[[inference.rule]]
tables = {personal = ["benefit"]}
values = [{field = "benefit", literal = "11", scope = "data"}]
threshold = 1.0
"""

SQL = """SELECT s.name, p.province, p.canton, p.district, e.school, e.score
FROM student s JOIN personal p ON p.card = s.card JOIN enrolment e ON e.card = s.card WHERE e.year = 2015"""


def frames(n=1200, seed=5):
    rng = np.random.default_rng(seed)
    p, c = rng.integers(0, 3, n), rng.integers(0, 3, n)
    d = np.minimum(rng.geometric(0.4, n), 5)
    card = [f"B{i:05d}" for i in range(n)]
    student = pl.DataFrame(
        {"card": card, "name": [f"Name{i}" for i in range(n)], "national_id": [f"1-{i:04d}" for i in range(n)]}
    )
    personal = pl.DataFrame(
        {
            "card": card,
            "province": [f"P{a}" for a in p],
            "canton": [f"C{a}{b}" for a, b in zip(p, c, strict=True)],
            "district": [f"D{a}{b}{e}" for a, b, e in zip(p, c, d, strict=True)],
            "benefit": rng.integers(0, 12, n),
        }
    )
    school = [f"S{a}{b}{rng.integers(0, 2)}" for a, b in zip(p, c, strict=True)]
    enrolment = pl.DataFrame({"card": card, "school": school, "score": rng.integers(400, 800, n), "year": 2015})
    return {"student": student, "personal": personal, "enrolment": enrolment}


def fill(url, n=1200):
    from celosia.data.io.database import write

    if url.startswith("sqlite:///"):
        from pathlib import Path

        Path(url.removeprefix("sqlite:///")).touch()
    elif url.startswith("duckdb:///"):
        import duckdb

        duckdb.connect(url.removeprefix("duckdb:///")).close()
    for name, frame in frames(n).items():
        write(frame.lazy(), url, table=name)
    return url
