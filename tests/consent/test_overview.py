"""The administrator's pages: inferences, rules, coverage and counts, and nothing that tells a choice."""

from __future__ import annotations

import re
from collections import defaultdict

import polars as pl

from celosia.consent.owners.questionnaire import answer, questions
from celosia.consent.publication.edition import FEWEST
from celosia.consent.rules.rules import read_toml
from celosia.consent.site.overview import Overview, count_range
from celosia.consent.site.pages import words


def cells(page):
    """The rows of the tables of a page."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL)
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def test_inferences_with_their_counts_and_coverage(store, students):
    store.add_owners([f"X{i}" for i in range(58)])
    chosen = [True] * 21 + [False] * 8 + [True] * 2
    store.load(
        pl.DataFrame({"owner": [f"X{i}" for i in range(31)], "inference": "residence", "block": chosen}), ["residence"]
    )
    store.load(pl.DataFrame({"owner": ["X1", "X40"], "inference": "timetable", "block": [True, False]}), ["timetable"])
    page = Overview(read_toml(students.CATALOGUE), store).inferences("f", "en")
    rows = {row[0]: row[1:] for row in cells(page)}
    # 23 block, 8 allow, 27 have not answered, of 58: 31 answered, 30/55 = 54 %
    few = "&lt; 5"
    assert rows["Find out where I live"] == ["Geographic", "10", "20–24", "5–9", "25–29", "30–34 (≈ 54 %)"]
    assert rows["Find out my timetable"] == ["Class timetable", "20", few, few, "55–59", few]
    assert rows["Find out that I have a grant"] == ["Socio-economic", "5", few, few, "55–59", few]
    assert "<dd>55–59</dd>" in page
    assert "<dd>30–34 (≈ 54 %)</dd>" in page, "32 owners have answered something"
    assert not re.search(r"\bX\d", page), "nobody is named"
    assert "Geogràfica" in Overview(read_toml(students.CATALOGUE), store).inferences("f", "ca")


def test_rules_with_their_elements(store):
    catalogue = read_toml("""
[taxonomy]
health = "Gesundheit"
[[inference]]
id = "hiv"
description = {en = "Know that I am ill", es = "Saber que estoy enfermo"}
category = "health"
extra = 7
[[inference.rule]]
tables = {patient = ["town", "<b>"]}
values = [{field = "hiv", literal = "positive", scope = "data"}, {table = "patient", field = "year", literal = 2019}]
threshold = 0.5
note = "from the registry"
[[inference.rule]]
tables = {visit = ["ward"]}
active = false
minimum = 2
[[inference]]
id = "idle"
description = {en = "a", es = "b", ca = "c"}
""")
    page = Overview(catalogue, store).inferences("f", "en")
    assert "Rule 1: active, from 50 % of its 5 elements on" in page
    assert "<code>patient</code>: <code>town</code>, <code>&lt;b&gt;</code>" in page
    assert "<code>hiv = positive</code> (looked for in the data), <code>patient.year = 2019</code>" in page
    assert "from the registry" in page
    assert "Rule 2: switched off, from 2 of its 2 elements on" in page
    assert page.count(words("en")["no_rule"]) == 1, "the second inference has no rule"
    assert "Not written in: Català" in page
    assert "Gesundheit" in Overview(catalogue, store).inferences("f", "es"), "a class that the catalogue has named"


def test_counts_cannot_be_worked_out_from_each_other():
    """Of block, allow, unanswered, answered and their total, whoever sees all ranges has two values for each left."""
    most, possible = 32, defaultdict(set)
    for block in range(most):
        for allow in range(most - block):
            for rest in range(most - block - allow):
                seen = (block, allow, rest, block + allow, block + allow + rest)
                possible[tuple(map(count_range, seen))].add(seen)
    cut = count_range(most)
    for shown, all_of in possible.items():
        if shown[-1] != cut:  # the last range is not whole
            assert all(len({one[i] for one in all_of}) > 1 for i in range(5)), shown
    assert {count_range(n) for n in range(FEWEST)} == {"< 5"}


def test_the_trail_in_words_and_without_small_counts(store, students):
    overview = Overview(read_toml(students.CATALOGUE), store)
    assert words("es")["trail_none"] in overview.inferences("f", "es")
    store.load(pl.DataFrame({"owner": ["X1"], "inference": "residence", "block": [True]}), ["residence"])
    store.note("publication", "publisher", "2 inferences, 3 rows marked")
    store.note("publication", "publisher", "12 inferences, a few rows marked")
    store.note("publication", "publisher", "1 inferences, 1234 rows marked")
    store.set_default(block=True)
    store.forget("X1")
    store.note("else", "somebody", "3 people came")
    rows = [row[1:] for row in cells(overview.inferences("f", "es")) if "2026" in row[0] or "UTC" in row[0]]
    assert rows == [
        ["else", "somebody", "&lt; 5 people came"],
        ["Registro borrado", "titular", ""],
        ["Cambio del valor predeterminado", "publicador", "lo no contestado cuenta como bloqueado"],
        ["Publicación", "publicador", "inferencias: 1"],
        ["Publicación", "publicador", "inferencias: 12"],
        ["Publicación", "publicador", "inferencias: 2"],
        ["Importación de elecciones", "importación", "elecciones: &lt; 5"],
    ]


def test_answers_by_group_without_small_groups(store, students):
    overview = Overview(read_toml(students.CATALOGUE), store)
    assert words("ca")["answers_none"] in overview.answers("f", "ca")
    for i in range(6):  # means 1 and 1.5
        answer(store, {"item:geographic:0": i % 3, "trust:2": 1 + i % 2}, "A", owner=f"X{i}")
    answer(store, {"item:grades:0": 4}, "A", owner="X6")  # one of seven answered this
    for i in range(4):
        answer(store, {"item:geographic:0": 4}, "small", owner=f"Y{i}")
    page = overview.answers("f", "es")
    rows = {row[0]: row[1:] for row in cells(page)}
    assert rows["Geográfica: Provincia"] == ["1.0"]
    assert rows["Calificaciones: Siglas de cursos"] == ["oculto"]
    assert rows[questions()["trust:2"].sentence("es")] == ["1.5"]
    assert "small" not in page
    assert "<dd>5–9</dd>" in page
    drawn = re.search(r"<svg.*</svg>", page, flags=re.DOTALL).group()
    assert "Geográfica, A: 25 %" in drawn
    assert "Calificaciones, A: …" in drawn
