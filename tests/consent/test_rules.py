"""Elements of queries, rules, their files, and partial matches."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.consent.rules.exchange import load, read_xml, write_thesis_xml, write_xml
from celosia.consent.rules.matches import Activations, active, marked_columns, match, matches
from celosia.consent.rules.rules import (
    Catalogue,
    Inference,
    Rule,
    Value,
    catalogue_of,
    derive_rule,
    read_toml,
    write_toml,
)
from celosia.consent.sql.elements import ANY, plain_literal
from celosia.consent.sql.lineage import elements
from celosia.errors import DataError, InputError, UnknownName


def test_a_star_with_a_catalogue_is_spread():
    found = elements("SELECT * FROM t JOIN u ON t.i = u.i", columns={"T": ["I", "A"], "U": ["I", "B"]})
    assert {o.name for o in found.outputs} == {"i", "a", "b"}
    assert found.fields == {("t", "i"), ("t", "a"), ("u", "i"), ("u", "b")}
    assert elements("SELECT * FROM t").fields == {("t", ANY)}


def test_a_bare_column_belongs_to_the_table_that_has_it():
    sql = "SELECT a FROM t, u"
    assert elements(sql).fields == {("t", "a"), ("u", "a")}
    assert elements(sql, columns={"t": ["a"], "u": ["b"]}).fields == {("t", "a")}


def test_the_origin_of_a_result_column(thesis):
    outputs = {o.name: o for o in elements(thesis.ENROLMENT, "oracle").outputs}
    assert outputs["PROVINCIA"].direct == {("provincia", "descripcion")}
    assert ("informacion_personal", "provincia") in outputs["PROVINCIA"].linked
    scores = {o.name: o for o in elements(thesis.ADMISSION, "oracle").outputs}
    assert ("adm_inscripcion", "distrito") in scores["DISTRITO"].direct
    assert scores["PROMEDIO_ADMISION"].direct == {("adm_inscripcion", "puntaje_500")}
    assert scores["EDAD"].direct == {("adm_inscripcion", "fecha_nacimiento")}


def test_the_timetable_query_is_a_rule(thesis):
    rule = derive_rule(thesis.TIMETABLE_QUERY, "oracle")
    assert set(rule.tables) == {"ma_matricula", "ho_horarios", "ma_condicion_curso"}
    assert set(rule.tables["ho_horarios"]) == {
        *("anno", "periodo", "recinto", "sigla", "grupo", "dia", "hora_inicio", "hora_fin", "edificio", "aula")
    }
    assert {(v.field, v.literal) for v in rule.values} == {
        *(("modalidad_estudio", "1"), ("indicador_asignado", "A"), ("anno", "2019"), ("periodo", "1"))
    }
    edited = rule.without(
        tables=["MA_CONDICION_CURSO"], fields=["CARNE", "ho_horarios.AULA"], values=["indicador_asignado"]
    )
    assert "carne" not in edited.tables["ma_matricula"]
    assert "aula" not in edited.tables["ho_horarios"]
    assert len(edited.values) == 3


def _rules(thesis):
    timetable, residence = read_xml(thesis.TIMETABLE_XML), read_xml(thesis.RESIDENCE_XML)
    return catalogue_of({"inferences": [i.model_dump() for c in (timetable, residence) for i in c.inferences]})


def test_the_printed_rules_are_read(thesis):
    catalogue = _rules(thesis)
    rule = catalogue["deducir_horario"].rules[0]
    assert sum(map(len, rule.tables.values())) == 13
    assert {(v.field, v.literal) for v in rule.values} == {("PERIODO", "1"), ("ANNO", "2019")}
    assert rule.size() == 17
    assert catalogue["deducir_residencia"].rules[0].size() == 10
    for one in catalogue.inferences:
        assert one.description["es"] == "Deducir el lugar de residencia de un estudiante"
        assert one.rules[0].active


def test_golden_matches(thesis):
    """Spec 003 §2.5: 7/17 (1/2 tables, 4/13 fields, 2/2 values), 5/10, 2/10."""
    catalogue = _rules(thesis)
    enrolment, admission = elements(thesis.ENROLMENT, "oracle"), elements(thesis.ADMISSION, "oracle")
    one = match(catalogue["deducir_horario"].rules[0], enrolment)
    assert (len(one.tables), len(one.fields), len(one.values)) == (1, 4, 2)
    assert set(one.fields) == {("MA_MATRICULA", f) for f in ("ANNO", "PERIODO", "SIGLA", "GRUPO")}
    assert one.score == Fraction(7, 17)
    assert one.active
    residence = catalogue["deducir_residencia"].rules[0]
    assert match(residence, admission).score == Fraction(5, 10)
    assert (len(match(residence, admission).tables), len(match(residence, admission).fields)) == (1, 4)
    assert match(residence, enrolment).score == Fraction(2, 10)


def test_marked_columns_of_table_4_2(thesis):
    catalogue = _rules(thesis)
    query = elements(thesis.ENROLMENT, "oracle")
    fired = active(matches(catalogue, query))
    assert marked_columns(query, fired["deducir_horario"], ["CARNE"]) == ("ANNO", "PERIODO", "SIGLA", "GRUPO")
    # the province name is looked up by the province code of the personal record
    assert marked_columns(query, fired["deducir_residencia"], ["CARNE"]) == ("PROVINCIA",)
    admission = elements(thesis.ADMISSION, "oracle")
    fired = active(matches(catalogue, admission))
    assert marked_columns(admission, fired["deducir_residencia"]) == ("COLEGIO", "PROVINCIA", "CANTON", "DISTRITO")


def test_thresholds():
    rule = Rule(tables={"t": ["a", "b", "c", "d"]})  # five elements
    query = elements("SELECT a, b FROM t")  # three of them
    assert match(rule, query).active
    assert match(rule.model_copy(update={"threshold": 0.6}), query).active
    assert not match(rule.model_copy(update={"threshold": 0.61}), query).active
    assert match(rule.model_copy(update={"minimum": 3}), query).active
    assert not match(rule.model_copy(update={"minimum": 4}), query).active
    assert not match(rule.model_copy(update={"active": False}), query).active
    assert not match(rule, elements("SELECT a FROM u")).active


def test_a_star_matches_every_field():
    assert match(Rule(tables={"t": ["a", "b"]}), elements("SELECT * FROM t")).score == 1


def test_values_of_data_wait_for_the_result():
    rule = Rule(tables={"lab": ["hiv"]}, values=[Value(field="hiv", literal="positive", scope="data")], threshold=1.0)
    query = elements("SELECT hiv FROM lab")
    assert not match(rule, query, "x", 0).active
    assert match(rule, query, "x", 0).waiting == (0,)
    assert match(rule, query, "x", 0, {("x", 0, 0): True}).active
    assert match(rule, query, "x", 0, {("x", 0, 0): False}).waiting == ()
    assert match(rule, elements("SELECT other FROM lab"), "x", 0).waiting == ()


@pytest.mark.parametrize(
    ("op", "literal", "accepted"),
    [("=", "1", ["1", "1.0", "'no'"]), ("<", "10", ["9"]), (">=", "10", ["10", "11"]), ("!=", "A", ["B"])],
)
def test_operators(op, literal, accepted):
    value = Value(field="f", literal=literal, op=op)
    assert value.accepts(accepted[0])
    assert not value.accepts({"=": "2", "<": "10", ">=": "9.9", "!=": "A"}[op])


def test_activations_are_remembered_by_the_normalised_query(thesis):
    cache = Activations(_rules(thesis))
    first = cache.of(thesis.ENROLMENT, "oracle")
    again = cache.of(thesis.ENROLMENT.replace("SELECT", "select").replace("MA.", "ma.").replace("\n", "  "), "oracle")
    assert cache.hits == 1
    assert again is first
    cache.of(thesis.ENROLMENT.replace("2019", "2018"), "oracle")
    assert cache.hits == 1


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda s: s.strip() == s and s
)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
VALUES = st.builds(
    Value,
    field=NAMES,
    literal=TEXTS,
    table=st.none() | NAMES,
    op=st.sampled_from(["=", "<", ">="]),
    scope=st.sampled_from(["predicate", "data"]),
)
RULES = st.builds(
    Rule,
    tables=st.dictionaries(
        NAMES, st.lists(NAMES, max_size=3, unique_by=str.casefold).map(tuple), min_size=1, max_size=3
    ),
    values=st.lists(VALUES, max_size=2).map(tuple),
    active=st.booleans(),
    threshold=st.none() | st.sampled_from([0.25, 0.5, 1.0]),
    note=st.just("") | TEXTS,
)
INFERENCES = st.builds(
    Inference,
    id=NAMES,
    description=st.dictionaries(st.sampled_from(["en", "es", "ca"]), TEXTS, min_size=1),
    example=st.dictionaries(st.sampled_from(["en", "es"]), TEXTS),
    category=st.none() | st.just("grades"),
    rules=st.lists(RULES, max_size=2).map(tuple),
)


@given(st.lists(INFERENCES, min_size=1, max_size=3, unique_by=lambda i: i.id.casefold()))
def test_files_round_trip(found):
    catalogue = Catalogue(inferences=tuple(found))
    assert read_toml(write_toml(catalogue)) == catalogue
    assert read_xml(write_xml(catalogue)) == catalogue


def test_the_printed_figures_round_trip(thesis, tmp_path):
    catalogue = _rules(thesis)
    again = read_xml(write_thesis_xml(catalogue))
    for name in ("deducir_horario", "deducir_residencia"):
        assert again[name].rules == catalogue[name].rules
        assert again[name].description == catalogue[name].description
    (tmp_path / "c.toml").write_text(write_toml(catalogue))
    (tmp_path / "c.xml").write_text(write_xml(catalogue))
    assert load(tmp_path / "c.toml") == load(tmp_path / "c.xml") == catalogue


def test_an_xml_bomb_does_nothing():
    text = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><inference id="x"><description>&b;</description></inference>'
    assert read_xml(text)["x"].description == {"es": "&b;"}
    with pytest.raises(DataError, match="64 levels"):
        read_xml("<a>" * 100)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "not TOML"),
        ('[[inference]]\nid = "a"\ndescription = "x"\n[[inference]]\nid = "A"\ndescription = "y"', "twice"),
        ('[[inference]]\nid = "a"\ndescription = "x"\ncategory = "nowhere"', "taxonomy lacks"),
        ('[[inference]]\nid = "a b"\ndescription = "x"', "inferences.0.id"),
        ('[[inference]]\nid = "a"\ndescription = ""', "a sentence"),
        ('[[inference]]\nid = "a"\ndescription = "x"\n[[inference.rule]]\ntables = {}', "at least one table"),
        ('[[inference]]\nid = "a"\ndescription = "x"\nnonsense = 1', "nonsense"),
    ],
)
def test_a_bad_catalogue_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        read_toml(text)


def test_an_unknown_inference_has_a_hint():
    catalogue = read_toml('[[inference]]\nid = "residence"\ndescription = "x"')
    with pytest.raises(UnknownName, match="Did you mean 'residence'"):
        catalogue["residense"]


def test_merging_keeps_each_element_once():
    one = Rule(tables={"T": ["A", "b"]}, values=[Value(field="x", literal=1)])
    other = Rule(tables={"t": ["a", "c"], "u": ["d"]}, values=[Value(field="x", literal="1")])
    merged = one.union(other)
    assert merged.tables == {"T": ("A", "b", "c"), "u": ("d",)}
    assert len(merged.values) == 1


def test_literals_are_compared_leniently():
    assert plain_literal("1") == plain_literal(1) == plain_literal("01") == plain_literal("1.00")
    assert plain_literal("1E400") != ""
    assert plain_literal("nan") == "nan"


def test_an_extra_size_of_0_is_refused():
    """A record with X = 0 counts as one without a block: exclude and exchange would leave it as it is."""
    with pytest.raises(InputError, match=r"extra.*greater than or equal to 1"):
        read_toml('[[inference]]\nid = "age"\ndescription = "Find out my age"\nextra = 0\n')
