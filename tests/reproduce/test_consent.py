"""The experiment on preferences: the generated case, the analysis of variance, and a quick run."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

from celosia.consent.protection.protection import Design, honour
from celosia.errors import ParameterError
from celosia.streams import Stream
from celosia_reproduce.consent import reproduce
from celosia_reproduce.consent.adult import statements as adult_statements
from celosia_reproduce.consent.adult import study
from celosia_reproduce.consent.anova import anova, assumptions, residuals
from celosia_reproduce.consent.case import PLACE, SHARE, STUDENTS, drawn, students, table
from celosia_reproduce.consent.chain import attack, candidates, generated, protected
from celosia_reproduce.consent.experiment import Plan, altered_rows, paired
from celosia_reproduce.consent.worked import printed_texts, statements


def test_the_case_has_its_shape():
    frame = students(np.random.default_rng(3))
    assert len(frame) == STUDENTS
    assert {name: frame.n_unique(name) for name in frame.columns} == {
        "sex": 2, "score": 531, "province": 7, "canton": 81, "district": 467, "school": 980,
    }  # fmt: skip
    assert frame.select("province", "canton", "district").unique().height == 467, "a place has one parent"
    assert frame.equals(students(np.random.default_rng(3)))


def test_a_one_way_analysis_by_hand():
    """Three levels, four blocks: equal to scipy's F when the blocks do not matter, and to the textbook otherwise."""
    y = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 5.0], [1.5, 2.5, 4.0], [2.5, 2.0, 5.5]])
    block, rule, rest = anova(y, ["rule"])
    # means of the levels 1.75, 2.375, 4.625, of all 2.91667: SS = 4 Σ(m − M)²
    level = y.mean(axis=0)
    assert rule.squares == pytest.approx(4 * ((level - y.mean()) ** 2).sum())
    assert block.squares == pytest.approx(3 * ((y.mean(axis=1) - y.mean()) ** 2).sum())
    assert (rule.freedom, block.freedom, rest.freedom) == (2, 3, 6)
    assert rule.squares + block.squares + rest.squares == pytest.approx(((y - y.mean()) ** 2).sum())
    assert rule.p == pytest.approx(stats.f.sf(rule.squares / 2 / (rest.squares / 6), 2, 6))
    assert rest.squares == pytest.approx((residuals(y) ** 2).sum())


def test_an_interaction_is_found_and_noise_is_not():
    rng = np.random.default_rng(8)
    y = rng.normal(0, 1, (30, 4, 2, 3))
    p = {effect.name: effect.p for effect in anova(y, ["k", "external", "rule"])}
    assert min(v for v in p.values() if v is not None) > 0.001
    y[:, 0, 1] += 1.0
    p = {effect.name: effect.p for effect in anova(y, ["k", "external", "rule"])}
    assert p["k × external"] < 0.001
    assert p["k × rule"] > 0.001
    checks = assumptions(y, rng.permutation(y.size))
    assert min(checks["normality p"], checks["equal variance p"], checks["independence p"]) > 0.001
    skewed = rng.exponential(1, y.shape) * np.array([1, 5, 1])
    assert assumptions(skewed, rng.permutation(y.size))["equal variance p"] < 0.001
    assert assumptions(skewed, rng.permutation(y.size))["normality p"] < 0.001


def test_paired_differences_equal_scipys():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 1, 30), rng.normal(0.5, 1, 30)
    found, other = paired(a, b), stats.ttest_rel(a, b)
    assert found["p"] == pytest.approx(other.pvalue)
    interval = other.confidence_interval(0.99)
    assert (found["low"], found["high"]) == pytest.approx((interval.low, interval.high))


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Three small blocks, two k and one share."""
    place = tmp_path_factory.mktemp("quick")
    found = reproduce(place, blocks=3, rows=2500, k=(15, 35), external=(0.1,), extra=(10, 30))
    return found, (place / "consent.html").read_text()


def test_a_quick_run(quick):
    """The class rule is the control; the other rules protect blocking owners and cost others less."""
    found, page = quick
    assert found["labels equal to the control (class rule)"] >= 0.99
    lower = [d["mean"] for d in found["differences"] if d["rule"] == "coarser" and d["group"] == "blocking"]
    assert min(lower) > 0
    assert found["coarser: rise of the others' GCP, of the control's, at most"] < 1
    assert int(found["coarser: smallest class"].split()[0]) >= 15, "equal places: k in the strict sense"
    assert found["class, control and coarser: every class is as large as asked for"]
    for name in ("8.1", "8.2", "8.3", "8.4"):
        assert f"<figcaption>Figure {name}" in page
    assert "99 % interval" in page
    assert "Table 8.2" in page
    assert "We chose these numbers" in page
    assert "No rule of true places can lie below standard(k)" in page
    assert "(1 − β) / β = 28 " in page  # 10 · 0.74 / 0.26
    assert found["exchange: blocks in which it alters fewer rows than the control (by k)"] == "100.0%, 100.0%"
    drawn = set(re.findall(r'class="swatch (s\d)"', page))
    assert len(drawn) == 5
    assert all(f"--{colour}:" in page for colour in drawn), "every rule has a colour"
    assert "<script" not in page
    assert len(found["questions"]) == 7


@pytest.mark.long
def test_the_whole_experiment(shared, tmp_path, as_documented):
    """30 blocks: the better part of an hour."""
    as_documented("consent", reproduce(tmp_path, shared("data/adult.data")))


def test_x_is_varied(quick):
    rows = {(row["X"], row["k"]): row for row in quick[0]["sensitivity"]}
    assert set(rows) == {(10, 15), (10, 35), (30, 15), (30, 35)}
    for k in (15, 35):
        assert rows[10, k]["altered, standard"] == rows[30, k]["altered, standard"], "the same blocks"
        assert rows[10, k]["altered, control"] < rows[30, k]["altered, control"]
    assert rows[30, 15]["altered, coarser"] < rows[30, 15]["altered, control"]


def test_every_statement_is_counted_and_explained(quick):
    found, page = quick
    counts = found["counts"]
    assert counts["printed"]["checked"] == found["printed statements"] >= 30
    assert counts["derived"]["checked"] >= 10
    assert all(row["why"] for row in found["statements"] if not row["agrees"])
    assert {"Figure 1.3", "Figure 4.4", "Figure 5.1", "Question 7", "Sections 7.4 to 7.6", "Table 8.2"} <= {
        row["where"] for row in found["statements"]
    }
    assert "What does not come out, and why" in page


def test_altered_rows_move_with_k():
    """The clustered case: from below 40 % to above 80 %, whatever the seed; scattered districts change all rows."""
    for seed, k in ((2019, (60, 90, 120, 150)), (7, (60, 150))):
        people, blocked = drawn(seed)
        plan = Plan(1, 10_634, k, (0.1,), 30)
        rows = altered_rows(people, blocked, plan, seed)
        standard = [row["standard"] for row in rows]
        assert standard == sorted(standard)
        assert standard[0] < 0.4
        assert standard[-1] > 0.8
        for row in rows:
            assert row["standard"] <= row["exchange"] < row["control"]
            assert row["standard"] <= row["coarser"]
            if row["k"] * SHARE / (1 - SHARE) < plan.extra:  # those who do not block can stay behind
                assert row["coarser"] < row["control"]
    uneven = altered_rows(*drawn(2019, "uneven"), Plan(1, 10_634, (60,), (0.1,), 30), 2019)
    assert min(row["standard"] for row in uneven) > 0.9
    with pytest.raises(ParameterError, match="clustered, uneven"):
        drawn(1, "round")


def test_what_standard_alters_every_rule_of_true_places_alters():
    """Row by row, on small blocks: a block asks for more company, never for less."""
    for seed in (1, 2, 3):
        people, blocked = drawn(seed)
        rows = np.sort(np.random.default_rng(seed).choice(len(people), 2500, replace=False))
        students_, mine = table(people[rows]), blocked[rows]
        true = students_.polars().select(PLACE)

        def changed(rule, students_=students_, mine=mine, true=true):
            design = Design(k=20, rule=rule, tree=PLACE)
            shown = honour(students_, np.where(mine, 10, 0), design, Stream(1)).table.polars().select(PLACE)
            return ~np.all([(shown[name] == true[name]).to_numpy() for name in PLACE], axis=0)

        standard = changed("standard")
        assert 0 < standard.mean() < 1
        for rule in ("class", "coarser", "control"):
            assert changed(rule)[standard].all(), rule


def by_what(statements):
    return {(row.where, row.what): row for row in statements}


def test_other_texts_give_other_statements():
    """Nothing is known beforehand: a changed rule, query or tree of the thesis changes what comes out."""
    texts = printed_texts()
    before = by_what(statements(texts))
    assert before["Section 4.3", "share of the rule's elements"].agrees
    changed = {**texts, "rule_4_4": texts["rule_4_4"].replace("SIGLA", "OTHER")}
    assert not by_what(statements(changed))["Section 4.3", "share of the rule's elements"].agrees
    changed = {**texts, "query_4_3": texts["query_4_3"].replace("HORA_FIN", "HORA_FINAL")}
    assert by_what(statements(changed))["Section 4.2", "attributes that the query uses"].agrees
    changed = {**texts, "query_7_5": texts["query_7_5"].replace("INS.COLEGIO", "INS.OTHER")}
    assert not by_what(statements(changed))["Section 7.5", "share of the rule's elements"].agrees


def test_the_chain_leads_to_the_rooms_and_a_protected_roll_ends_it():
    registers = generated(np.random.default_rng(4), 3000, 600)
    steps = attack(registers, "Vladimir", "Aguilar", (17, 27))
    assert (steps.candidates, steps.cards) == ((3, 1), ("B50120",))
    assert len(steps.rooms) == len(steps.courses) == 3
    assert attack(registers, "Vladimir", "Aguilar", (17, 19)).candidates == (0, 0)
    # by hand: whoever of the roll has the names of somebody near in age
    plain, hidden = candidates(registers, registers.roll), candidates(registers, protected(registers.roll))
    assert (plain[:, 1] >= 1).all()
    assert (hidden[:, 1] >= 5).all()
    people, roll = registers.electoral.rows(named=True), registers.roll.rows(named=True)
    full = {(p["surname"], p["second"], p["first"]): p["age"] for p in people}
    for number, student in list(enumerate(roll))[::97]:
        age = full[student["surname"], student["second"], student["first"]]
        named = [
            p for p in people
            if (p["first"], p["surname"]) == (student["first"], student["surname"]) and abs(p["age"] - age) <= 5
        ]  # fmt: skip
        enrolled = {(s["surname"], s["second"], s["first"]) for s in roll}
        both = [p for p in named if (p["surname"], p["second"], p["first"]) in enrolled]
        assert tuple(plain[number]) == (len(named), len(both))


def test_the_adult_study(shared):
    """Golden: classes and GCP of Mondrian at k = 400; race never beats the most frequent value."""
    rows = study(shared("data/adult.data"), lambda *_: None, counts=(1, 6), sizes=(400,), learners=("decision-tree",))
    assert [(r["classes"], round(100 * r["gcp"], 2)) for r in rows] == [(35, 1.56), (57, 57.60)]
    for row in rows:
        assert 0.7 < row["race decision-tree"] <= row["race baseline"]
        assert row["age decision-tree"] > row["age baseline"]
    assert rows[0]["age decision-tree"] > rows[1]["age decision-tree"]
    said = {row.what: row for row in adult_statements(rows)}
    assert said["complete records of the file"].agrees
    assert said["race is predicted above 70 % by every learner"].agrees
    assert not said["GCP reaches 60 %"].agrees, "it takes twelve quasi-identifiers"
