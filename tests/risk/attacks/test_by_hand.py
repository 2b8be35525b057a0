"""Attacks on tables of a few rows, their options, and what they refuse."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable, UnknownName
from celosia.risk import (
    AttackerKnows,
    AttributeDisclosure,
    Averaging,
    BlankedCells,
    ClassicalDisclosureRisk,
    CodingBounds,
    Composition,
    CopiedUniques,
    Definetti,
    Differencing,
    JoinAttack,
    NearestOriginal,
)
from celosia.risk.attacks.transparency.definetti import _bin_column


def table(columns, **schema):
    return celosia.read(pl.DataFrame(columns), celosia.Schema.of(**schema))


def blanked(columns, **cells):
    """An original and its release by hand: some cells of some columns are gone."""
    original = table(columns, quasi=list(columns))
    gone = {
        name: pl.Series(name, [None if i in rows else x for i, x in enumerate(columns[name])])
        for name, rows in cells.items()
    }
    return original, original.replace(gone)


def test_one_blanked_column_has_no_company():
    # shown: x twice, y twice; with k = 2 neither would have been blanked, so both blanks are z, which one of them is
    original, release = blanked({"a": ["x", "x", "y", "y", "x", "z"]}, a=[0, 5])
    found = BlankedCells(method="local-suppress(k=2)").evidence(original, release)
    assert (found["cells"], found["share"], found["share_control"]) == (2, 0.5, 0.5)
    assert found["value"] == pytest.approx(1 / 6)
    # with k = 4 nothing is ruled out: the most frequent one, x, which the first of them is
    loose = BlankedCells(method="local-suppress(k=4)").records(original, release)["risk"].to_list()
    assert loose == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_the_company_rules_values_out():
    columns = {"sex": ["f", "f", "f", "m", "m", "m"], "zip": ["a", "a", "b", "a", "a", "a"]}
    original, release = blanked(columns, zip=[2])
    # two women show a: with k = 3 a third would have stayed, so hers is b
    informed = BlankedCells(method="local-suppress(k=3)")
    assert informed.records(original, release)["risk"].to_list() == [0, 0, 1, 0, 0, 0]
    assert informed.evidence(original, release)["share_control"] == 0.0  # the control says a
    assert BlankedCells(method="local-suppress(k=4)").value(original, release) == 0.0
    assert BlankedCells(method="local-suppress(k=3)", columns=["sex"]).evidence(original, release)["cells"] == 0
    with pytest.raises(NotApplicable, match="blanked-cells: column 'pay' is no quasi-identifier of both tables"):
        BlankedCells(method="local-suppress(k=3)", columns=["pay"]).value(original, release)


def test_nobody_to_attack():
    nothing = table({"a": pl.Series([], dtype=pl.String)}, quasi=["a"])
    with pytest.raises(NotApplicable, match="blanked-cells: there is no record that could be attacked"):
        BlankedCells(method="local-suppress(k=2)").value(nothing, nothing)


AGES = {"age": [0.0, 10.0, 20.0, 30.0], "pay": [1.0, 2.0, 3.0, 4.0], "job": ["u", "u", "v", "v"]}
SHOWN = {**AGES, "pay": [1.0, 2.0, 3.0, 9.0]}


@pytest.mark.parametrize(
    ("options", "rate", "baseline"),
    [
        # the sd of 1 2 3 9 is 3.112; the mean 3.75 is 0.25 from the nearest
        ({"target": ["pay"]}, 0.75, 0.0),
        ({"target": ["pay"], "tolerance": 0.1}, 0.75, 0.25),
        ({"target": ["pay"], "tolerance": 2.0}, 1.0, 1.0),
        ({"target": ["job"]}, 1.0, 0.5),
        ({"target": ["pay", "job"]}, 0.875, 0.25),
    ],
)
def test_values_of_the_nearest_record(options, rate, baseline):
    attack = AttributeDisclosure(known=["age"], **options)
    found = attack.evidence(table(AGES), table(SHOWN))
    assert found["value"] == found["rate"] == pytest.approx(rate)
    assert found["baseline"] == pytest.approx(baseline)
    assert (found["known"], found["attacks"]) == (["age"], 4)


def test_a_control_takes_off_what_anybody_could_say():
    # of the two others one is right: (0.75 - 0.5) / (1 - 0.5)
    others = pl.DataFrame({"age": [0.0, 10.0], "pay": [1.0, 7.0], "job": ["u", "u"]})
    attack = AttributeDisclosure(known=["age"], target=["pay"], control=others)
    assert attack.value(table(AGES), table(SHOWN)) == pytest.approx(0.5)
    assert attack.records(table(AGES), table(SHOWN))["risk"].to_list() == [1.0, 1.0, 1.0, 0.0]


def test_a_line_through_the_release_predicts():
    line = {"age": [0.0, 10.0, 20.0, 30.0], "pay": [0.0, 1.0, 2.0, 3.0]}
    people = {"age": [5.0, 15.0, 25.0], "pay": [0.5, 1.5, 9.0]}
    attack = AttributeDisclosure(known=["age"], target=["pay"], learner="regression")
    assert attack.records(table(people), table(line))["risk"].to_list() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("known", "release", "told"),
    [
        (["pay"], SHOWN, "name the columns that are known and those that are wanted"),
        (["age"], {**SHOWN, "pay": pl.Series([None] * 4, dtype=pl.Float64)}, "the release shows no value of a column"),
        (["age"], {name: values[:0] for name, values in SHOWN.items()}, "one of the tables has no records"),
    ],
)
def test_nothing_to_disclose(known, release, told):
    release = {name: pl.Series(values, dtype=pl.DataFrame(AGES)[name].dtype) for name, values in release.items()}
    with pytest.raises(NotApplicable, match=f"attribute-disclosure: {told}"):
        AttributeDisclosure(known=known, target=["pay"]).value(table(AGES), table(release))


PAID = {"job": ["a", "b", "c", "d"], "pay": [10.0, 20.0, 30.0, 40.0]}


def moved(by, job=None):
    return pl.DataFrame({**PAID, **({} if job is None else {"job": job})}).with_columns(pl.col("pay") + by)


def averaging(*earlier, **options):
    attack = Averaging(earlier=list(earlier), known=[], columns=["job"], **options)
    return attack.evidence(table(PAID), celosia.read(moved(6)))


def test_noise_is_averaged_over_all_releases():
    # sd 11.18: 0.05 of it is 0.559, 0.2 of it 2.236. 6, -3 and -3 leave 0; 6 and -3 leave 1.5
    assert averaging(moved(-3), moved(-3))["value"] == 1.0
    assert averaging(moved(-3))["value"] == 0.0
    near = averaging(moved(-3), tolerance=0.2)
    assert (near["value"], near["control"], near["releases"]) == (1.0, 0.0, 2)
    # two records with one name cannot be told apart: these keep the new value
    assert averaging(moved(-6, ["a", "a", "c", "d"]))["value"] == 0.5
    # half of 16 is 8, near 10 within 0.2 sd: whoever is in one release only keeps that one's number
    assert averaging(moved(-6, ["q", "r", "s", "t"]), tolerance=0.2)["value"] == 0.0


def test_what_averaging_gives_away_is_told_in_shares():
    facts = {"value": 0.75, "control": 0.25, "better_than_control": True}
    attack = Averaging(earlier=[moved(0)])
    told = attack.blocking_reasons(facts)
    assert told == ["the mean over the releases comes near to 75.0% of the values, this release alone to 25.0%"]
    assert attack.blocking_reasons({**facts, "better_than_control": False}) == []
    with pytest.raises(NotApplicable, match="no number was changed in this release"):
        attack.value(table(PAID, quasi=["job"]), table(PAID, quasi=["job"]))


CELLS = {"age": ["30-40"] * 5, "ill": ["flu", "no", "no", "rash", "cough"]}


def differencing(*earlier, **options):
    release = table(CELLS, quasi=["age"], sensitive=["ill"])
    attack = Differencing(earlier=list(earlier), **options)
    return attack, attack.evidence(release, release), attack.records(release, release)


def test_who_came_stands_out_among_fewer_than_k():
    now = pl.DataFrame(CELLS)
    attack, found, records = differencing(now.head(3), k=3)  # rash and cough are new: two, fewer than three
    assert records["risk"].to_list() == [0, 0, 0, 1, 1]
    assert records["surplus"].to_list() == [0, 0, 0, 2, 2]
    assert attack.blocking_reasons(found) == [
        "2 of 5 stand out among fewer than 3 records that the earlier release lacks"
    ]
    assert differencing(now.head(3))[1]["value"] == 0.0  # with k = 2 they hide each other
    # one of two who said no is new: each of them with a chance of one half
    assert differencing(now[[0, 1, 3, 4]])[2]["risk"].to_list() == [0, 0.5, 0.5, 0, 0]
    # of two earlier releases the more telling one counts
    assert differencing(now[[0, 1, 3, 4]], now.head(4))[2]["risk"].to_list() == [0, 0.5, 0.5, 0, 1]


def test_who_left_stands_out_too():
    before = pl.concat([pl.DataFrame(CELLS), pl.DataFrame({"age": ["30-40"], "ill": ["gone"]})])
    attack, found, _ = differencing(before)
    assert (found["value"], found["removed"], found["rows"]) == (0.0, 1, [[6, 5]])
    assert attack.blocking_reasons(found) == ["1 stand out by having left since the earlier release"]


def composed(k):
    people = pl.DataFrame({"age": [30, 34, 38, 42], "ill": ["flu", "no", "cough", "rash"]})
    schema = celosia.Schema.of(quasi=["age"], sensitive=["ill"])
    first = people.with_columns(age=pl.Series(["30-34", "30-34", "38-42", "38-42"]))
    second = people.with_columns(age=pl.Series(["30-38", "30-38", "30-38", "42"]))
    attack = Composition(earlier=[first], k=k)
    return attack, attack.evidence(celosia.read(people, schema), celosia.read(second, schema))


def test_two_releases_leave_fewer_than_each():
    # 38: cough and rash in the first, flu, no and cough in the second; 42 is alone in the second already
    attack, found = composed(2)
    assert (found["value"], found["control"]) == (0.5, 0.25)
    assert (found["smallest"], found["smallest_alone"], found["singled_out"]) == (1, 1, 2.0)
    told = attack.blocking_reasons(found)
    assert told[0].startswith("together the releases leave fewer than 2 records for 1 of 4")
    assert told[1] == "a sensitive value is left as the only one for 1 more"
    # below three is everybody, by the first release alone as well
    attack, found = composed(3)
    assert (found["value"], found["control"]) == (1.0, 1.0)
    assert attack.exceeds(found) is False


def test_what_is_learnt_of_whom_and_who_fits_no_cell_of_a_release():
    """Ages 30 and 34 share a cell and an illness, 38 and 42 a cell only; nobody earlier is 50, in none is 99."""
    people = pl.DataFrame(
        {"age": [30, 34, 38, 42, 50, 99], "ill": ["flu", "flu", "no", "rash", "no", "no"], "job": list("abcdef")}
    )
    original = celosia.read(people, celosia.Schema.of(quasi=["age"], sensitive=["ill", "job"]))
    shown = people.head(5).with_columns(age=pl.Series(["30-34", "30-34", "38-42", "38-42", "50"]))
    release = celosia.read(shown, celosia.Schema.of(quasi=["age"], sensitive=["ill", "job"]))
    attack = Composition(earlier=[shown.head(4)], k=2)
    records = attack.records(original, release)
    assert records["learnt"].to_list() == [True, True, False, False, True, False]
    assert records["candidates"].to_list() == [2, 2, 2, 2, 1, 0]
    found = attack.evidence(original, release)
    assert (found["learnt"], found["learnt_alone"]) == (3.0, 3.0)
    assert found["unmatched"] == 2  # 50 has a cell in one of the two releases, 99 in none


@pytest.mark.parametrize("attack", [Composition, Averaging, Differencing])
def test_a_linking_column_is_in_every_release(attack):
    release = table(CELLS, quasi=["age"], sensitive=["ill"])
    with pytest.raises(UnknownName, match=rf"no column named 'ill'. .*\({attack.name}: columns\)"):
        attack(earlier=[pl.DataFrame({"age": ["30-40"]})], columns=["ill"]).value(release, release)


def test_nearer_to_those_who_were_used():
    # to 0 and 10: 1, 1, 5; to the others at 4 and 6: 3, 3, 1. Two of three are nearer: 2 * 2/3 - 1
    attack = NearestOriginal(control=pl.DataFrame({"pay": [4.0, 6.0]}))
    original, release = table({"pay": [0.0, 10.0]}), table({"pay": [1.0, 9.0, 5.0]})
    found = attack.evidence(original, release)
    assert found["value"] == pytest.approx(1 / 3)
    assert (found["median distance"], found["median distance to control"]) == pytest.approx((0.1, 0.3))
    assert attack.records(original, release)["distance"].to_list() == pytest.approx([0.1, 0.1, 0.5])
    with pytest.raises(NotApplicable, match="at least two records are needed in each table"):
        NearestOriginal(control=pl.DataFrame({"pay": [4.0]})).value(original, release)


def test_what_one_person_alone_has_is_unique():
    frame = {"p": [1, 1, 2, 3], "v": ["a", "a", "b", "b"], "n": [None, None, 1.0, 2.0]}
    data = table(frame, person="p")
    assert CopiedUniques(columns=["v"]).records(data, data)["copied"].to_list() == [True, True, False, False]
    rows = table(frame)
    assert CopiedUniques(columns=["v"]).value(rows, rows) == 0.0
    assert CopiedUniques(columns=["v", "n"]).value(rows, rows) == 0.5  # a missing number is as good as any
    # two of four copied, one of the two others: (0.5 - 0.5) / 0.5
    others = pl.DataFrame({"v": ["b", "z"], "n": [1.0, 1.0]})
    assert CopiedUniques(columns=["v", "n"], control=others).value(rows, rows) == 0.0


def test_numbers_are_learnt_from_in_ten_parts():
    few, many = _bin_column(table({"n": [5, 7, None, 5]}), "n"), _bin_column(table({"n": [*range(40), None]}), "n")
    assert len(set(few.tolist())) == 3
    assert (few[0] == few[3], few[0] != few[2]) == (True, True)
    assert np.bincount(many).max() <= 5
    assert len(set(many.tolist())) == 11
    assert (np.diff(many[:40]) >= 0).all()


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"group": "nope"}, UnknownName, "no column named 'nope'"),
        ({"columns": ["nope"]}, NotApplicable, "definetti: the release has no column to learn from"),
    ],
)
def test_an_anatomy_needs_groups_and_columns(options, kind, told):
    data = table({"a": ["x", "x", "y", "y"], "s": ["1", "2", "1", "2"]}, quasi=["a"], sensitive=["s"])
    release = celosia.protect(data, "anatomise(l=2)", seed=1)
    with pytest.raises(kind, match=told):
        Definetti(**options).value(data, release)


def test_an_interval_of_the_advantage_ends_at_nothing():
    # two of three are nearer; Wilson's interval of 2/3 is 0.573 ± 0.365, its ends 2 p - 1 are -0.58 and 0.877
    attack = NearestOriginal(control=pl.DataFrame({"pay": [4.0, 6.0]}))
    found = attack.evidence(table({"pay": [0.0, 10.0]}), table({"pay": [1.0, 9.0, 5.0]}))
    assert found["interval"] == pytest.approx([0.0, 0.8770], abs=1e-4)


def test_who_joins_by_chance():
    """One of three released persons, though one of them has two rows."""
    original = table({"p": [1, 1, 2, 3], "zip": ["a", "a", "b", "c"]}, quasi=["zip"], person="p")
    found = JoinAttack(external=pl.DataFrame({"zip": ["b"]})).evidence(original, original)
    assert found["baseline"] == pytest.approx(1 / 3)


def test_the_roles_of_the_original_say_what_is_averaged():
    """A release that was read without roles shows a weight as a number like others."""
    numbers = {"id": [1, 2, 3], "x": [1.0, 5.0, 9.0], "w": [1.0, 2.0, 3.0]}
    original = table(numbers, weight="w")
    release = table({**numbers, "x": [1.5, 5.5, 8.0], "w": [1.1, 2.2, 3.3]})
    found = Averaging(earlier=[release.polars()], columns=["id"]).evidence(original, release)
    assert found["columns"] == ["x"]


def test_the_parts_of_the_classical_risk_make_its_interval():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 2))
    tables = [table({"x": a[:, 0], "y": a[:, 1]}) for a in (x, x + rng.normal(scale=0.5, size=x.shape))]
    found = ClassicalDisclosureRisk().evidence(*tables)
    for end in (0, 1):
        linked, likely, inside = (found["parts"][name]["interval"][end] for name in ("dbrl", "prl", "id"))
        assert found["interval"][end] == pytest.approx(0.25 * linked + 0.25 * likely + 0.5 * inside)
    assert found["interval"][0] < found["value"] < found["interval"][1]


@pytest.mark.parametrize("step", ["quantile=0.5", "quantile=0.5, replacement=100"])
def test_a_limit_that_nobody_told_is_the_last_value_that_is_left(step):
    # cut at 3, the highest value that stays: 4 is guessed within 0.6 standard deviations (1.02), 5 and 6 are not
    original = table({"x": [1, 2, 3, 4, 5, 6]})
    found = CodingBounds(within=0.6).evidence(original, celosia.protect(original, f"top-code(columns=[x], {step})"))
    assert found["value"] == pytest.approx(4 / 6)


def test_what_is_known_narrows_the_range_of_a_number():
    people = table({"sex": ["F", "F", "M", "M"], "pay": [10.0, 20.0, 40.0, 50.0]}, quasi=["sex"])
    assert AttackerKnows(known={"sex": "M"}).evidence(people)["narrowed"] == {"pay": pytest.approx(10 / 40)}
