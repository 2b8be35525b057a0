"""Help for the expert: logs of queries, associations between columns, the questionnaire."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.consent.owners.questionnaire import answer, class_names, questions, tabulate
from celosia.consent.owners.store import Preferences
from celosia.consent.rules.association import associations
from celosia.consent.sql.query_log import log_facts, split_log
from celosia.errors import DataError


def test_a_log_is_counted(thesis):
    facts = log_facts([thesis.ENROLMENT, thesis.ADMISSION, thesis.TIMETABLE_QUERY, "nonsense ("], "oracle")
    assert (facts.queries, facts.unread) == (4, 1)
    assert dict(facts.tables)["ma_matricula"] == 2
    assert dict(facts.tables)["provincia"] == 2
    assert dict(facts.fields)["ma_matricula.anno"] == 2
    assert facts.tables[0][1] == max(n for _, n in facts.tables)
    assert ("ma_matricula.anno", "ma_matricula.carne", 2) in facts.together


def test_a_log_is_split():
    assert split_log("SELECT 1;\nSELECT ';' AS a;\n\nSELECT 2\n\nSELECT 3") == [
        "SELECT 1",
        "SELECT ';' AS a",
        "SELECT 2",
        "SELECT 3",
    ]


def _slow_lambda(known, target, half):
    """The same number by dictionaries."""
    from collections import Counter, defaultdict

    seen = defaultdict(Counter)
    for k, t, h in zip(known, target, half, strict=True):
        if h:
            seen[k][t] += 1
    overall = Counter(t for t, h in zip(target, half, strict=True) if h)
    top = max(overall.values())
    most = min(t for t, n in overall.items() if n == top)
    rest = [(k, t) for k, t, h in zip(known, target, half, strict=True) if not h]
    base = sum(t == most for _, t in rest) / len(rest)
    possible = []
    for k, t in rest:
        best = {x for x, n in seen[k].items() if n == max(seen[k].values())} if k in seen else {most}
        possible.append((t in best, len(best) == 1))
    return base, possible


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_strength_by_a_slow_second_way(seed):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({"a": rng.integers(0, 4, 80), "b": rng.integers(0, 3, 80)})
    half = np.random.default_rng(0).permutation(80) < 40
    found = {(x.known, x.target): x for x in associations(frame, pairs=False)}
    base, possible = _slow_lambda(frame["a"].to_list(), frame["b"].to_list(), half)
    strength = found[("a",), "b"].strength
    # ties between targets may be broken either way
    low = sum(hit and sure for hit, sure in possible) / len(possible)
    high = sum(hit for hit, _ in possible) / len(possible)
    if base < 1 and not found[("a",), "b"].determines:
        assert max(0, (low - base) / (1 - base)) - 1e-9 <= strength <= max(0, (high - base) / (1 - base)) + 1e-9


def test_dependencies_are_found_and_ids_are_not():
    rng = np.random.default_rng(2)
    district = rng.integers(0, 30, 900)
    frame = pl.DataFrame({
        "id": np.arange(900),
        "district": district,
        "canton": district // 5,
        "school": district * 2 + rng.integers(0, 2, 900),
        "noise": rng.integers(0, 5, 900),
    })  # fmt: skip
    found = {(x.known, x.target): x for x in associations(frame)}
    assert found[("district",), "canton"].determines
    assert found[("school",), "district"].determines
    assert not found[("id",), "canton"].determines, "as many values as rows tell nothing"
    assert found[("noise",), "canton"].strength < 0.1
    assert associations(frame, ["school"], pairs=False)[0].known != ("canton",)


def test_the_questionnaire_has_its_items():
    asked = questions()
    items = [q.category for q in asked.values() if q.category]
    assert [items.count(c) for c in class_names()] == [4, 2, 6, 4, 6, 5, 6, 2, 4, 5]
    assert sum("trust" in key for key in asked) == 5
    assert {tuple(q.scale) for q in asked.values() if q.category} == {(0, 1, 2, 3, 4)}
    assert {tuple(q.scale) for q in asked.values() if not q.category} == {(1, 2, 3, 4)}


def test_the_names_of_stored_answers_never_move():
    """Stored answers hold these names: what stands under one must not become something else."""
    held = {
        "item:timetable:3": "Horarios de cursos",
        "item:secondary-school:1": "Dirección de colegio de procedencia",
        "item:admission:5": "Contraseña de matrícula web",
        "item:geographic:0": "Provincia",
        "item:degree:2": "Recinto",
        "item:socio-economic:4": "Ingreso mensual familiar",
        "item:grades:3": "Calificaciones de los cursos",
        "item:titles:1": "Años de obtención",
        "item:financial:2": "Tipo de cobro (nacional o extranjero)",
        "item:personal:4": "Correo electrónico",
        "trust:0": "Amigos y familia",
        "trust:4": "Redes sociales (p. ej. Facebook)",
    }
    assert {key: questions()[key].sentence("es") for key in held} == held


def test_answers_are_tabulated_by_group(tmp_path):
    store = Preferences.create(tmp_path / "c.db")
    for owner, group, value in (("x", "A", 4), ("y", "A", 2), ("z", "B", 0)):
        given = {"item:geographic:0": value, "trust:2": 1 + value // 2}
        answer(store, given, group, text="private matters", owner=owner)
    table = tabulate(store)
    assert table.respondents == {"A": 2, "B": 1}
    rows = {(r["question"], r["group"]): r for r in table.frame.to_dicts()}
    assert rows["item:geographic:0", "A"]["mean"] == 3.0
    assert rows["item:geographic:0", "A"]["answers 4"] == 1
    assert table.classes().filter(pl.col("group") == "B")["mean"].to_list() == [0.0]
    assert "Geographic, A: 75 %" in table.chart()
    assert "Geogràfica, A: 75 %" in table.chart("ca")
    assert table.without_few(2).respondents == {"A": 2}
    assert set(table.without_few(2).frame["group"]) == {"A"}
    for bad in ({"item:geographic:9": 1}, {"item:geographic:0": 5}, {"trust:0": 0}, {}):
        with pytest.raises(DataError):
            answer(store, bad)
    with pytest.raises(DataError):
        answer(store, {"trust:0": 1}, text="x" * 2001)
    store.close()
