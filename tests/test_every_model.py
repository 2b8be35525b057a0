"""Every model of the catalogue: all the ways to a verdict agree with each other and with a slow second way.

The slow way is in ``tests/reference``: loops over plain rows that share no line with the package. A new model needs a
function in ``src/celosia/checker/models.py``, and declares ``examples`` of its parameters without the bound.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.reference.examples import COUNTED, EXAMPLES, Example, bounds, population_of
from tests.reference.tables import Situation, drawn, frame_of, plain_of, random_table
from tests.reference.verdicts import (
    COMPARING,
    FUZZY,
    LOGARITHMIC,
    ON_DUCKDB,
    SEARCHED,
    SITUATIONS,
    cases,
    near,
)

import celosia
from celosia.checker.models import _LARGER_IS_SAFER as LARGER_IS_SAFER
from celosia.checker.models import MODELS
from celosia.checker.rows import Plain
from celosia.errors import ParameterError, RequirementError, SchemaError
from celosia.parts import build, describe, find, meets, parts, protects, search_hints
from celosia.release.policy.policy import Output, Policy, Step
from celosia.release.run import run
from celosia.release.verify.verify import verify


def test_every_model_has_a_slow_second_way_and_an_example():
    for name in parts("model"):
        assert name in MODELS, f"write {name} a second time in src/celosia/checker/models.py and add it to MODELS"
        assert any(e.model == name for e in EXAMPLES), f"declare `examples` of {name}"
        larger = find("model", name).direction == "at least"
        assert (name in LARGER_IS_SAFER) == larger, (
            f"{name}: celosia.checker.models._LARGER_IS_SAFER contradicts `direction`"
        )
    for name in MODELS:
        assert name in parts("model"), f"there is no model {name} any more: delete it from tests/reference"


def test_every_verdict_is_seen_from_both_sides():
    """No model is only ever tried where it holds, or only where it fails."""
    seen = {(case.example.model, case.holds) for name in SITUATIONS for case in cases(name)}
    assert seen == {(name, verdict) for name in MODELS for verdict in (True, False)}


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_moves_do_to_a_table_what_they_do_to_plain_rows(name):
    situation = SITUATIONS[name]
    table, plain = situation.read(), situation.plain()
    texts = [{k: None if v is None else str(v) for k, v in row.items()} for row in table.polars().to_dicts()]
    assert texts == [{k: None if v is None else str(v) for k, v in row.items()} for row in plain.rows]
    assert set(np.flatnonzero(table.counts.suppressed_mask)) == set(plain.suppressed)


@pytest.mark.parametrize(
    ("engine", "name"), [*(("polars", name) for name in SITUATIONS), *(("duckdb", name) for name in ON_DUCKDB)]
)
@pytest.mark.filterwarnings("ignore:.* columns have no role")
@pytest.mark.sampled(16)
def test_value_holds_and_assess_agree_with_the_slow_way(engine, name):
    table = SITUATIONS[name].read(engine)
    wrong = []
    for case in cases(name):
        model = build("model", case.part)
        value, holds = model.value(table), model.holds(table)
        if not near(value, case.value) or holds != case.holds:
            wrong.append(f"{case}; value {value:g}, holds {holds}")
    for case in cases(name):
        (finding,) = celosia.assess(table, [case.part], []).models
        if not near(finding.value, case.value) or finding.holds != case.holds:
            wrong.append(f"{case}; assess {finding.value:g}, {finding.holds}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_every_verdict_agrees_on_tables_of_any_sort_after_any_steps(engine):
    """Also without records, with one, without a value in a column, with persons and weights and missing values at once."""
    for situation, table in drawn(range(300, 316) if engine == "polars" else range(324, 328), engine):
        plain, people = situation.plain(), population_of(situation.table)
        for example in EXAMPLES:
            if not example.suits(plain) or (example.model in FUZZY and situation.moves):
                continue  # sets of numbers have no meaning for a column that became text
            for bound in bounds(example, plain, people)[:1]:
                value, holds = example.measured(plain, people, bound)
                found = build("model", example.part(people, bound)).verdict(table)
                assert near(found.value, value), f"{example} on {situation}, {situation.moves}"
                assert found.holds == holds, f"{example} on {situation}, {situation.moves}"


@pytest.mark.parametrize("name", SITUATIONS)
def test_class_counts_give_the_same_verdict(name):
    """What a search sees: ``judge`` and ``accepts`` on the classes as arrays of counts."""
    table, plain = SITUATIONS[name].read(), SITUATIONS[name].plain()
    wrong = []
    for case in cases(name):
        model = build("model", case.part)
        if case.example.model in FUZZY or case.example.people or case.example.parameters.get("others") == "quasi":
            continue  # no function of class counts alone
        counted = [reading.class_counts(model.counted_columns()) for reading in table.readings()]
        if all(model.measure(counts).holds for counts in counted) != case.holds:
            wrong.append(f"{case}; accepts {[model.measure(counts).holds for counts in counted]}")
        if model.scope == "file" or plain.missing_semantics != "category":
            continue
        if all(model.judge(counts).all() for counts in counted) != case.holds:
            wrong.append(f"{case}; judge {[model.judge(counts).tolist() for counts in counted]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_list_of_classes_has_the_value_as_its_worst_entry(name):
    table, plain = SITUATIONS[name].read(), SITUATIONS[name].plain()
    for case in cases(name):
        model = build("model", case.part)
        if case.example.model in FUZZY:
            continue
        listed = model.classes(table)
        scores = listed[model.symbol].to_list() if len(listed) else []
        worst = min(scores, default=math.inf) if model.direction == "at least" else max(scores, default=0.0)
        if plain.missing_semantics == "category":
            assert near(worst, case.value), str(case)
            if case.example.parameters.get("others") != "quasi":
                sizes = [sorted(p.persons(rows) for rows in p.classes().values()) for p in plain.readings()]
                assert sorted(listed["size"]) in sizes


@pytest.mark.parametrize("name", [n for n, s in SITUATIONS.items() if s.plain().missing_semantics != "category"])
def test_values_are_not_counted_in_classes_that_do_not_exist(name):
    table = SITUATIONS[name].read()
    for example in EXAMPLES:
        if example.model in COUNTED:
            with pytest.raises(SchemaError, match="category"):
                build("model", example.part([], 1)).value(table)


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.sampled(12)
def test_certificate_and_verification_agree_with_the_slow_way(name, tmp_path):
    claimed = [case for case in cases(name) if protects(build("model", case.part))]  # a policy refuses the others
    made = _run(SITUATIONS[name], claimed, tmp_path)
    wrong = []
    checks = verify(made.paths["certificate"])
    wrong += [f"{check.claim}: {check.verdict}, found {check.found}" for check in checks if check.passed is False]
    told = {check.claim for check in checks if check.passed}
    blanked = situation_blanked(SITUATIONS[name])
    findings = zip(made.assessment.models, made.certificate["requirements"], strict=True)
    for case, (finding, claim) in zip(claimed, findings, strict=True):
        if blanked is not None:  # one of these requirements fails: suppressed records show no sensitive value
            people = population_of(SITUATIONS[name].table)
            value, holds = case.example.measured(blanked, people, case.part[case.example.bound])
            case = replace(case, value=value, holds=holds)
        stated = claim["value"]
        if stated is None and case.example.model in (*FUZZY, *COMPARING):  # it would show what suppressed records held
            stated = finding.value
        if stated is None or not near(float(stated), case.value) or claim["holds"] != case.holds:
            wrong.append(f"{case}; certificate {claim['value']}, {claim['holds']}")
        unseen = case.example.people or case.example.model in (*FUZZY, *COMPARING)
        if claim["part"] not in told and not unseen:
            wrong.append(f"{claim['part']} was not checked")
    assert made.holds == all(case.holds for case in claimed)
    assert not wrong, "\n".join(wrong)


def situation_blanked(situation):
    """The rows with the sensitive cells of suppressed ones emptied; None where that changes nothing."""
    plain = situation.plain()
    if not plain.suppressed or not plain.unsuppressed:
        return None
    empty = dict.fromkeys(plain.sensitive)
    rows = tuple({**row, **empty} if i in plain.suppressed else row for i, row in enumerate(plain.rows))
    return replace(plain, rows=rows)


def _run(situation, claimed, place):
    """The release of a situation with these requirements; the person column is released, so that all can be checked."""
    situation.frame().write_csv(place / "input.csv")
    people = place / "people.csv"
    frame_of(Plain(tuple(population_of(situation.table)), ("q", "r"))).write_csv(people)
    policy = Policy(
        input={"path": place / "input.csv"},
        schema=situation.schema(),
        require=tuple(
            build("model", {**case.part, **({"population": str(people)} if case.example.people else {})})
            for case in claimed
        ),
        step=tuple(Step(str(i), build("method", step)) for i, step in enumerate(situation.steps())),
        output=Output(
            path=place / "safe.csv", report=False, columns=(situation.table.person,) if situation.table.person else ()
        ),
        run={"seed": 1 << 70},
    )
    return run(policy, overwrite=True)


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_table_whose_value_is_the_bound_meets_it(name):
    """A share of 2/3 is at most 2/3, whatever the last bit; the bound of delta-disclosure is exclusive."""
    table, plain = SITUATIONS[name].read(), SITUATIONS[name].plain()
    people = population_of(SITUATIONS[name].table)
    seen = set()
    for case in cases(name):
        limit = case.example.part(people, 1.0)
        if build("model", limit).direction == "at least" or case.example.model in LOGARITHMIC:
            continue
        if str(case.example) in seen or not 0 < case.value < math.inf:
            continue
        seen.add(str(case.example))
        if case.value < float(case.example.parameters.get("lowest", 0)):
            continue  # two bounds that exclude each other
        part = case.example.part(people, case.value)
        expected = case.example.measured(plain, people, case.value)[1]
        assert build("model", part).holds(table) == expected, f"{case.example} at its own value {case.value!r}"


@pytest.mark.parametrize(("engine", "name"), [*(("polars", n) for n in SEARCHED), ("duckdb", "persons-missing")])
def test_the_search_says_of_given_levels_what_the_model_says(engine, name):
    """Generalise at levels that are fixed either gives the table back or says that the requirement cannot be met."""
    table, plain = SITUATIONS[name].read(engine), SITUATIONS[name].plain()
    coarse = _coarser(plain)
    people = population_of(SITUATIONS[name].table)
    wrong = []
    every = 4 if engine == "duckdb" else 1
    for number, case in enumerate(cases(name)[::every]):
        if case.example.model in FUZZY or case.example.parameters.get("others") == "quasi":
            continue  # refused, see below
        for levels, seen in (({"q": 0, "r": 0}, plain), ({"q": 1, "r": 1}, coarse))[: 1 + number % 2]:
            bound = case.part[case.example.bound]
            value, expected = case.example.measured(seen, people, bound)
            try:
                made = celosia.protect(table, {"use": "generalise", "require": [case.part], "levels": levels})
            except RequirementError:
                made = None
            if (made is not None) != expected:
                wrong.append(f"{case} at {levels}: {value:g}, the search says {made is not None}")
            if made is not None:
                held = case.example.measured(plain_of(made, plain), people, bound)[1]
                wrong += [] if held else [f"{case} at {levels}: what the search made does not hold"]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", SEARCHED)
def test_what_the_search_leaves_after_suppression_holds(name):
    """Where it says that nothing can be kept, no class of any allowed level holds alone."""
    table, plain = SITUATIONS[name].read(), SITUATIONS[name].plain()
    people = population_of(SITUATIONS[name].table)
    wrong = []
    for case in cases(name):
        bound = case.part[case.example.bound]
        if case.holds or case.example.model in FUZZY or case.example.parameters.get("others") == "quasi":
            continue
        step = {"use": "generalise", "require": [case.part], "levels": {"q": (0, 1), "r": (0, 1)}, "suppress": 1.0}
        try:
            made = celosia.protect(table, step)
        except RequirementError:
            for levels in itertools.product((0, 1), repeat=2):
                seen = _coarser(plain, levels)
                if any(_class_verdicts(case.example, seen, people, bound, seen.classes().values())):
                    wrong.append(f"{case}: some class at {levels} holds, the search says that none does")
            continue
        if not case.example.measured(plain_of(made, plain), people, bound)[1]:
            wrong.append(f"{case}: {made.history[-1]['levels']}, {made.suppressed()} suppressed")
    assert not wrong, "\n".join(wrong)


def _coarser(plain: Plain, levels=(1, 1)) -> Plain:
    """The quasi-identifiers at other levels."""

    def label(row):
        return {**row, **{name: plain.path(name, row[name])[at] for name, at in zip(plain.quasi, levels, strict=True)}}

    rows = tuple(row if i in plain.suppressed else label(row) for i, row in enumerate(plain.rows))
    return replace(plain, rows=rows, before=plain.before or plain.rows)


def test_a_search_refuses_what_no_class_tells():
    table = SITUATIONS["plain"].read()
    for example in EXAMPLES:
        if example.model in FUZZY or (
            example.parameters.get("others") == "quasi" and "column" not in example.parameters
        ):
            with pytest.raises(ParameterError, match=example.model):
                celosia.protect(table, {"use": "generalise", "require": [example.part([], 2)]})


# What a model declares, so that a search may prune.


def _class_verdicts(example: Example, table: Plain, people, bound, classes) -> list[bool]:
    """The verdict about each class alone, in the table that it belongs to."""
    found = []
    for rows in classes:
        others = frozenset(range(len(table.rows))) - frozenset(rows)
        found.append(example.measured(replace(table, suppressed=others), people, bound)[1])
    return found


def _merged(table: Plain, a, b) -> Plain:
    """Two classes joined under the key of the first."""
    rows = list(table.rows)
    for i in b:
        rows[i] = {**rows[i], **{name: rows[a[0]][name] for name in table.quasi}}
    return replace(table, rows=tuple(rows), before=table.before or table.rows)


@pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if e.model not in FUZZY and not e.people and "others" not in e.parameters], ids=str
)
def test_what_a_model_declares_about_merging_is_true(example):
    for seed in range(5):
        table = random_table(seed, 14, gaps=bool(seed % 2))
        classes = list(table.classes().values())
        alone = [replace(table, suppressed=frozenset(range(14)) - frozenset(rows)) for rows in classes]
        values = {example.measured(one, [], 1.0)[0] for one in alone} - {math.inf, 0.0}
        for bound in sorted(values)[:3]:
            bound = int(bound) if example.bound == "k" else bound
            model = build("model", example.part([], bound))
            held = _class_verdicts(example, table, [], bound, classes)
            for a, b in itertools.islice(itertools.combinations(range(len(classes)), 2), 8):
                joined = _merged(table, classes[a], classes[b])
                (now,) = _class_verdicts(example, joined, [], bound, [[*classes[a], *classes[b]]])
                whole = example.measured(table, [], bound)[1], example.measured(joined, [], bound)[1]
                if model.scope == "file" and search_hints(model).monotone_generalisation:
                    assert whole != (True, False), f"{example} at {bound}: merging breaks a file that holds"
                elif search_hints(model).monotone_suppression and (held[a] or held[b]):
                    assert now, f"{example} at {bound}: records that join a class break it"
                elif model.scope == "class" and search_hints(model).monotone_generalisation and held[a] and held[b]:
                    assert now, f"{example} at {bound}: the union of two classes that hold does not"


@pytest.mark.parametrize("persons", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if e.model not in FUZZY and "others" not in e.parameters], ids=str
)
def test_a_search_finds_levels_exactly_when_there_are_some(example, persons):
    """Every node of the lattice looked at, one by one."""
    for seed in range(2):
        situation = Situation("lattice", random_table(seed, 12, persons=persons, gaps=seed == 1))
        plain, people = situation.plain(), population_of(situation.table)
        nodes = {levels: _coarser(plain, levels) for levels in itertools.product(range(3), repeat=2)}
        values = {example.measured(seen, people, 1.0)[0] for seen in nodes.values()} - {math.inf, 0.0}
        for value in sorted(values)[:: max(1, len(values) // 2)]:
            bound = max(1.0, value - 1e-6) if example.least else min(value + 1e-6, 1.0 if value <= 1 else math.inf)
            bound = int(value) if example.whole else bound
            possible = [at for at, seen in nodes.items() if example.measured(seen, people, bound)[1]]
            step = {"use": "generalise", "require": [example.part(people, bound)]}
            try:
                made = celosia.protect(situation.read(), step).history[-1]["levels"]
            except RequirementError:
                made = {}
            assert tuple(made.values()) in (possible or [()]), f"{example} at {bound}, seed {seed}"


@pytest.mark.parametrize("name", SEARCHED)
def test_what_a_model_declares_about_sizes_is_true(name):
    table = SITUATIONS[name].read()
    for case in cases(name):
        model = build("model", case.part)
        if case.example.model in FUZZY or case.example.people or model.scope == "file":
            continue
        if case.example.parameters.get("others") == "quasi":
            continue
        counts = table.class_counts(model.counted_columns())
        held, least = model.judge(counts), search_hints(model).smallest_size_in(counts)
        assert (counts.size[held] >= least).all(), f"{case}: a class of fewer than {least} holds"
        if search_hints(model).is_size_only():
            assert held.tolist() == (counts.size >= least).tolist(), str(case)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_bound_is_the_parameter_and_the_direction_tells_its_side(example):
    people = population_of(SITUATIONS["plain"].table)
    bound = 2 if example.least else 0.5
    model = build("model", example.part(people, bound))
    assert model.bound() == bound
    assert meets(model, bound) == (example.model != "delta-disclosure")
    assert meets(model, bound + 1e-6) == (model.direction == "at least")
    assert meets(model, bound - 1e-6) == (model.direction == "at most")
    assert f"{bound:g}" in describe(model)
