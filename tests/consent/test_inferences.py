"""The rule ``inference``: the numeric promise, attacked in the written file by code that shares nothing with it."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from math import log

import numpy as np
import polars as pl
import pytest

from celosia.consent.owners.store import Preferences
from celosia.consent.protection.intruder import block_advantage
from celosia.consent.protection.protection import Design
from celosia.consent.protection.remedies import groups
from celosia.consent.publication.replay import repetition
from celosia.consent.publication.request import Request, publish, write
from celosia.consent.rules.rules import read_toml
from celosia.errors import ParameterError, RequirementError
from celosia.release.verify.verify import verify

PLACE = ("province", "canton", "district")
CATALOGUE = read_toml(
    "\n".join(
        f'[[inference]]\nid = "{name}"\ndescription = "Deduce {name}"\nextra = {extra}\n[[inference.rule]]\n{rule}\n'
        for name, extra, rule in (
            ("residence", 10, 'tables = {person = ["province", "canton", "district"]}\nthreshold = 0.5'),
            ("illness", 10, 'tables = {person = ["diagnosis"]}'),
            ("timetable", 10, 'tables = {person = ["course", "room"]}\nthreshold = 0.5'),
            ("poor", 10, 'tables = {}\nvalues = [{field = "scholarship", literal = "full", scope = "data"}]'),
            ("income", 10, 'tables = {person = ["income"]}'),
        )
    )
)
COLUMNS = {
    "residence": PLACE,
    "illness": ("diagnosis",),
    "timetable": ("course", "room"),
    "poor": ("scholarship",),
    "income": ("income",),
}
MORE = {"residence": "school", "illness": "drug", "timetable": "semester", "poor": "meals", "income": "rent"}
"""A column that no rule names, and that predicts those of the inference."""


def people(n, seed):
    """Persons whose every blocked column is predicted by another one."""
    rng = np.random.default_rng(seed)
    district = np.minimum(rng.geometric(0.15, n) - 1, 17)
    diagnosis = rng.choice(["none", "flu", "HIV", "cancer"], n, p=[0.55, 0.25, 0.1, 0.1])
    course = rng.integers(0, 8, n)
    scholarship = rng.choice(["none", "half", "full"], n, p=[0.7, 0.2, 0.1])
    income = rng.lognormal(7, 0.5, n).round(-1).astype(int)
    noisy = rng.random((5, n)) < 0.9
    return pl.DataFrame(
        {
            "card": [f"B{i:05d}" for i in range(n)],
            "age": rng.integers(18, 40, n),
            "sex": rng.choice(["f", "m"], n),
            "province": [f"P{d // 9}" for d in district],
            "canton": [f"C{d // 3}" for d in district],
            "district": [f"D{d}" for d in district],
            "diagnosis": diagnosis,
            "course": [f"course {c}" for c in course],
            "room": [f"room {(c * 3 + r) % 12}" for c, r in zip(course, rng.integers(0, 2, n), strict=True)],
            "scholarship": scholarship,
            "income": income,
            "school": np.where(noisy[0], [f"S{d // 2}" for d in district], "S0"),
            "drug": np.where(noisy[1], [f"drug {d}" for d in diagnosis], "other"),
            "semester": np.where(noisy[2], course // 2, 0),
            "meals": np.where(noisy[3], [f"meals {s}" for s in scholarship], "meals"),
            "rent": np.where(noisy[4], income // 400, 0),
        }
    )


def publish_people(tmp_path, frame, inference, blocking, design, *, seed=1):
    """Publish, and return the rows of the written file in the order of the people, with the publication."""
    store = Preferences.create(tmp_path / f"choices{len(list(tmp_path.iterdir()))}.db")
    store.add_owners(frame["card"])
    owners = frame["card"].gather(blocking)
    store.load(pl.DataFrame({"owner": owners, "inference": inference, "block": True}), CATALOGUE.ids())
    names = ["age", "sex", *COLUMNS[inference], MORE[inference]]
    quasi = (*PLACE, "sex") if inference == "residence" else ("age", "sex")
    request = Request(
        sql=f"SELECT card, {', '.join(names)} FROM person",
        owner="card",
        quasi=design.tree or quasi,
        design=design,
        measure=False,
        acknowledge=dict.fromkeys(names, "a test"),
    )
    try:
        publication = publish(request, frame.select("card", *names), CATALOGUE, store, seed=seed)
    finally:
        store.close()
    paths = write(publication, tmp_path / f"out{len(list(tmp_path.iterdir()))}")
    with paths["data"].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ordered = [{}] * len(frame)
    cards = publication.original.polars()["celosia_owner"].to_list()
    place = {card: i for i, card in enumerate(frame["card"])}
    for row, at in zip(rows, publication.origin.rows.tolist(), strict=True):
        ordered[place[cards[at]]] = row
    return ordered, publication, paths


def ranges(values):
    """Numbers as ten ranges, other values as they are."""
    numbers = [float(v) for v in values] if all(isinstance(v, int) for v in values) else None
    if numbers is None or len(set(numbers)) <= 20:
        return [str(v) for v in values], None
    edges = sorted(set(np.quantile(numbers, np.arange(0.1, 1, 0.1)).tolist()))
    return [str(int(np.searchsorted(edges, v, side="right"))) for v in numbers], edges


def naive_bayes(rows, truth, known, wanted):
    """Predict by the frequencies of cells among the known; a plain second intruder."""
    prior = Counter(truth[i] for i in known)
    cells = {name: defaultdict(Counter) for name in rows[0]}
    for i in known:
        for name, cell in rows[i].items():
            cells[name][cell][truth[i]] += 1
    out = {}
    for i in wanted:
        score = {
            value: log(count)
            + sum(log((cells[name][cell][value] + 0.5) / (count + 5)) for name, cell in rows[i].items())
            for value, count in prior.items()
        }
        out[i] = max(score, key=score.get)
    return out


def lift_of(rows, frame, inference, blocking):
    """Largest success beyond guessing, over the columns of the inference and two intruders."""
    best = -1.0
    half = np.random.default_rng(7).permutation(len(frame))
    for column in COLUMNS[inference]:
        truth, edges = ranges(frame[column].to_list())
        share = {value: count / len(truth) for value, count in Counter(truth).items()}
        most = max(share, key=share.get)

        def read(i, column=column, edges=edges, most=most, share=share):
            cell = rows[i].get(column, "*")
            if edges is not None and cell != "*":
                cell = str(int(np.searchsorted(edges, float(cell), side="right")))
            return cell if cell in share else most

        predictions = [{i: read(i) for i in blocking}]
        for known, wanted in ((half[::2], set(half[1::2])), (half[1::2], set(half[::2]))):
            predictions.append(naive_bayes(rows, truth, known, [i for i in blocking if i in wanted]))
        predictions = [predictions[0], {**predictions[1], **predictions[2]}]
        for predicted in predictions:
            right = {i: predicted[i] == truth[i] for i in blocking}
            rare = [i for i in blocking if truth[i] != most]
            for group in (blocking, rare) if len(rare) >= 30 else (blocking,):
                guess = max(np.mean([truth[i] == most for i in group]), np.mean([share[truth[i]] for i in group]))
                best = max(best, np.mean([right[i] for i in group]) - guess)
    return float(best)


def advantage_of(rows, blocking):
    """How much more often the blocking are named than the others, by naive Bayes over cells and pairs of cells."""
    names = sorted(rows[0])
    wide = [{**row, **{f"{a}|{b}": row[a] + "|" + row[b] for a in names for b in names if a < b}} for row in rows]
    n, blocking = len(rows), set(blocking)
    truth = [i in blocking for i in range(n)]
    half = np.random.default_rng(8).permutation(n)
    named = {}
    for known, wanted in ((half[::2], half[1::2]), (half[1::2], half[::2])):
        few = min(sum(truth[i] for i in known), sum(not truth[i] for i in known))
        balanced = [i for i in known if truth[i]][:few] + [i for i in known if not truth[i]][:few]
        named |= naive_bayes(wide, truth, balanced, wanted)
    hit = np.mean([named[i] for i in blocking])
    return float(hit - np.mean([named[i] for i in range(n) if i not in blocking]))


def draw(n, share, seed):
    return np.sort(np.random.default_rng(seed).choice(n, round(share * n), replace=False)).tolist()


def draw_concerned(frame, inference, share, seed):
    """People who block, five times as often where their value is not the most frequent one."""
    last = frame[COLUMNS[inference][-1]]
    weight = np.where(last == last.mode().sort()[0], 1.0, 5.0)
    chosen = np.random.default_rng(seed).choice(
        len(frame), round(share * len(frame)), replace=False, p=weight / weight.sum()
    )
    return np.sort(chosen).tolist()


CASES = [
    (inference, who, share) for inference in COLUMNS for who in ("random", "concerned") for share in (0.05, 0.26, 0.5)
]


@pytest.mark.parametrize(("inference", "blocks"), [("illness", 300), ("timetable", 152)])
def test_an_independent_attack_stays_within_the_promise(tmp_path, inference, blocks):
    frame = people(1200, 3)
    blocking = draw(1200, blocks / 1200, 4)
    raw = [{k: str(v) for k, v in row.items()} for row in frame.drop("card").to_dicts()]
    assert lift_of(raw, frame, inference, blocking) > 0.4, "the attack works on the unprotected rows"
    rows, publication, paths = publish_people(tmp_path, frame, inference, blocking, Design(k=5, rule="inference"))
    assert lift_of(rows, frame, inference, blocking) <= 0.1
    assert advantage_of(rows, blocking) <= 0.1
    kept = publication.protected.remedies[inference]
    assert {*COLUMNS[inference], MORE[inference]} <= set(kept.remedy.columns), "what predicts it is protected too"
    assert kept.holds
    public = paths["report"].read_text()
    assert '"promise"' in public
    assert '"kept"' not in public, "measured numbers are for the publisher"
    assert '"kept"' in paths["record"].read_text()


@pytest.mark.long
@pytest.mark.parametrize(("inference", "who", "share"), CASES)
def test_generated_cases_stay_within_the_promise(tmp_path, inference, who, share):
    n, seed = 4000 if share < 0.1 else 2000, 100 + CASES.index((inference, who, share))
    frame = people(n, seed)
    blocking = (
        draw_concerned(frame, inference, share, seed + 5000) if who == "concerned" else draw(n, share, seed + 5000)
    )
    tree = PLACE if inference == "residence" and who == "concerned" else ()
    design = Design(k=5, rule="inference", tree=tree)
    rows, publication, _ = publish_people(tmp_path, frame, inference, blocking, design)
    assert lift_of(rows, frame, inference, blocking) <= 0.1
    assert advantage_of(rows, blocking) <= 0.1
    kept = publication.protected.remedies[inference]
    others = np.setdiff1d(np.arange(n), blocking).tolist()
    cells = [rows[i].get(c, "*") != str(frame[c][i]) for i in others for c in kept.remedy.columns]
    assert np.mean(cells) <= kept.remedy.camouflage + 0.05, "the others lose no more than the camouflage states"


def test_a_rule_made_of_a_value_protects_its_column(tmp_path):
    """300 people block, 10 % of all have the value: it is not published for those of them who have it."""
    frame = people(1200, 5)
    blocking = draw(1200, 0.25, 6)
    rows, publication, _ = publish_people(tmp_path, frame, "poor", blocking, Design(k=5, rule="inference"))
    full = [i for i in blocking if frame["scholarship"][i] == "full"]
    shown = np.mean([rows[i].get("scholarship") == "full" for i in full])
    assert len(full) > 20
    assert shown <= 0.1 + 0.1 + 0.1, "the share of the value, the promise, and three standard errors"
    assert publication.report["blocks"][0]["X"] == 0, "a larger class protects no column but quasi-identifiers"


def test_a_single_person_is_not_alone_with_a_remedy(tmp_path):
    frame = people(400, 7)
    _, publication, _ = publish_people(tmp_path, frame, "illness", [17], Design(k=5, rule="inference"))
    kept = publication.protected.remedies["illness"]
    assert kept.treated.sum() >= 30
    assert kept.treated[publication.marks.rows["illness"]].all()


def test_the_columns_of_a_remedy_do_not_depend_on_who_blocks(tmp_path):
    frame = people(600, 8)
    columns = set()
    for seed in (1, 2):
        _, publication, _ = publish_people(
            tmp_path, frame, "illness", draw(600, 0.2, seed), Design(k=5, rule="inference")
        )
        columns.add(publication.protected.remedies["illness"].remedy.columns)
    assert columns == {("diagnosis", "drug")}


def test_an_unreachable_promise_is_refused_with_the_nearest_value(tmp_path):
    frame = people(300, 9)
    design = Design(k=5, rule="inference", lift=1e-9)
    with pytest.raises(RequirementError, match=r"at most 0% is allowed. Leave its columns out .* a lift of 0\.\d"):
        publish_people(tmp_path, frame, "timetable", draw(300, 0.3, 1), design)


@pytest.mark.parametrize(
    "wrong", [{"lift": 0.0}, {"advantage": 1.5}, {"strengthen": ("exclude",)}, {"camouflage": 0.5}]
)
def test_wrong_designs_are_refused(wrong):
    with pytest.raises(ParameterError, match=r"is a share above 0|chooses its remedies"):
        Design(k=5, rule="inference", **wrong)


def test_the_attack_on_who_blocks_finds_marked_cells():
    """The attack on who blocks finds cells that mark, and nothing in random cells."""
    rng = np.random.default_rng(1)
    blocked = rng.random(1000) < 0.3
    cells = pl.DataFrame({"a": rng.integers(0, 5, 1000), "b": rng.integers(0, 3, 1000)})
    assert block_advantage(cells, blocked, ["b"])[0] < 0.1
    marked = cells.with_columns(b=pl.when(pl.Series(blocked)).then(pl.lit("*")).otherwise(pl.col("b").cast(pl.String)))
    assert block_advantage(marked, blocked, ["b"])[0] == 1.0


def test_inferences_that_share_columns_are_one_group():
    rows = {name: np.array([name == "a", name == "b", False]) for name in "abc"}
    found = groups({"a": ["x", "y"], "b": ["y"], "c": ["z"]}, rows, ())
    assert [(g.inferences, g.columns, g.rows.tolist()) for g in found] == [
        (("a", "b"), ("x", "y"), [True, True, False]),
        (("c",), ("z",), [False, False, False]),
    ]
    assert len(groups({"a": ["x"], "c": ["z"]}, rows, ("x", "z"))) == 1, "the columns of a tree are one place"


def test_a_publication_under_the_rule_is_repeated(tmp_path, students, catalogue, store):
    store.load(
        pl.DataFrame({"owner": [f"B{i:05d}" for i in range(200)], "inference": "residence", "block": True}),
        ["residence"],
    )
    database = students.fill(f"sqlite:///{tmp_path / 'u.db'}", 800)
    request = Request(
        sql=students.SQL,
        owner="student.card",
        design=Design(k=10, rule="inference", tree=PLACE),
        quasi=PLACE,
        identifiers=("name",),
        sensitive=("score",),
    )
    publication = publish(request, database, catalogue, store, seed=1)
    assert publication.protected.remedies["residence"].remedy.columns == (*PLACE, "school"), "the school predicts it"
    write(publication, tmp_path / "out")
    checks = verify(tmp_path / "out", repeat=repetition(database, catalogue, store))
    assert [check for check in checks if check.passed is False] == []
    assert "points better than by guessing" in (tmp_path / "out" / "report.html").read_text()
