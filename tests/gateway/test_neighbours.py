"""Questions made at random, asked of neighbouring databases: no difference but the noise, whatever the person's row holds.

Each question goes to DuckDB, SQLite and PostgreSQL, each time without a person, with them, and with a row of theirs that
fits nothing. Status, words, columns, groups and types must be the same; what lies below the noise may differ by the stated
sensitivity; and how long an answer takes may not tell which database it was.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from contextlib import ExitStack, closing

import pytest
from tests.gateway.neighbours.clinics import KINDS, VARIANTS, clinic
from tests.gateway.neighbours.compare import Watched, ask, differences
from tests.gateway.neighbours.questions import Questions
from tests.gateway.neighbours.work import excess, work
from tests.trust.tried import Tried, tried

from celosia.gateway.gateway import GRID
from celosia.gateway.ledger import Ledger


def opened(where, databases, variants, *, single=False):
    """A gateway for each kind of database and each variant of the data; nothing waits for the time grid."""
    with ExitStack() as stack:
        yield {
            (kind, variant): stack.enter_context(
                closing(
                    Watched(
                        clinic(kind, variant, where, databases() if kind == "postgresql" else "", single=single),
                        Ledger.create(where / f"{kind}-{variant}-ledger.db"),
                        grid=0,
                    )
                )
            )
            for kind, variant in itertools.product(KINDS, variants)
        }


@pytest.fixture(scope="module")
def gateways(tmp_path_factory, databases):
    yield from opened(tmp_path_factory.mktemp("clinics"), databases, VARIANTS)


@pytest.fixture(scope="module")
def single(tmp_path_factory, databases):
    """Everybody but the person has at most one row in each table."""
    yield from opened(tmp_path_factory.mktemp("single"), databases, VARIANTS, single=True)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory, databases):
    """The person is absent, is present with many rows, and all others are four times as many."""
    yield from opened(tmp_path_factory.mktemp("sizes"), databases, ("absent", "present", "larger"))


def share_plans(*opened):
    """Let all gateways over one kind of database use one planner: it reads the declaration, never the data."""
    for kind in KINDS:
        first, *others = (gateway for some in opened for (where, _), gateway in some.items() if where == kind)
        for gateway in others:
            gateway.plan = first.plan


def compared(gateways, questions, count, sizes=None):
    """Ask so many questions everywhere; returns the tally and what differed. ``sizes`` are compared by their work."""
    tally, found, beyond = Counter(), [], []
    dirty = itertools.cycle(VARIANTS[2:])
    for _ in range(count):
        sql, variants = questions.question(), ("absent", "present", next(dirty))
        tally["generated"] += 1
        for kind in KINDS:
            asked = {variant: ask(gateways[kind, variant], sql) for variant in variants}
            accepted = asked["absent"].status == 200
            tally[f"{kind} {'accepted' if accepted else 'refused'}"] += 1
            for one, other in itertools.combinations(variants, 2):
                neighbours = "add-remove" if one == "absent" else "change-one"
                told = differences(gateways[kind, other], sql, asked[one], asked[other], neighbours)
                found += [(kind, one, other, sql, what) for what in told]
                tally[f"{kind} compared"] += 1
            if sizes is not None and accepted:
                amounts = [work(sizes[kind, variant], sql) for variant in ("absent", "present", "larger")]
                beyond += [(kind, sql, what) for what in excess(kind, sql, *amounts)]
                tally[f"{kind} plans"] += 1
    print(dict(tally), "differences:", len(found), "plans beyond linear:", len(beyond))
    return tally, found, beyond


def kept(tally, found):
    """Write down how often answers of neighbouring databases were compared, and how often they differed."""
    for kind in KINDS:
        differing = len({(one, other, sql) for where, one, other, sql, _ in found if where == kind})
        what = f"generated questions to neighbouring databases of {kind}, compared"
        tried(f"neighbours-{kind}", [Tried(what, tally[f"{kind} compared"], differing, "a difference but the noise")])


def test_no_difference_but_noise(gateways):
    tally, found, _ = compared(gateways, Questions(2026), 90)
    assert found == []
    assert all(tally[f"{kind} {what}"] >= 25 for kind in KINDS for what in ("accepted", "refused"))


@pytest.mark.long
def test_no_difference_but_noise_in_many_questions(gateways):
    tally, found, _ = compared(gateways, Questions(7731), 10_000)
    kept(tally, found)
    assert found == []
    assert all(tally[f"{kind} {what}"] >= 3_000 for kind in KINDS for what in ("accepted", "refused"))


def test_joins_make_no_difference_and_stay_linear(single, sizes):
    tally, found, beyond = compared(single, Questions(31, joins=True), 60, sizes)
    assert (found, beyond) == ([], [])
    assert all(tally[f"{kind} {what}"] >= 12 for kind in KINDS for what in ("accepted", "refused"))


@pytest.fixture(scope="module")
def joined():
    """The tally of all chunks, the differences and the plans beyond linear."""
    return Counter(), [], []


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_many_joins_make_no_difference_and_stay_linear(chunk, single, sizes, joined):
    """10 chunks of 2 000 generated queries; each writes down the counts of all that were run so far."""
    tally, found, beyond = compared(single, Questions(20_000 + chunk, joins=True), 2_000, sizes)
    for total, new in zip(joined, (tally, found, beyond), strict=True):
        total += new
    for kind in KINDS:
        differing = len({(one, other, sql) for where, one, other, sql, _ in joined[1] if where == kind})
        what = f"generated queries with joins to neighbouring databases of {kind}, compared"
        rows = [Tried(what, joined[0][f"{kind} compared"], differing, "a difference but the noise")]
        what = f"plans of generated joins on {kind}, rows of all operators (instructions of SQLite) counted"
        superlinear = len({sql for where, sql, _ in joined[2] if where == kind})
        rows += [Tried(what, joined[0][f"{kind} plans"], superlinear, "more than linear in the rows of the input")]
        tried(f"joins-{kind}", rows)
    assert (found, beyond) == ([], [])
    assert all(tally[f"{kind} {what}"] >= 450 for kind in KINDS for what in ("accepted", "refused"))


WORDS = ["fever", "e" * 40 + "x", "cough", "ñ", "since", "e", "Target", "zz"]
SEARCHES = " OR ".join(f"LOWER(UPPER(note)) LIKE '%{word}%'" for word in WORDS)
SUMS = "CASE " + " ".join(f"WHEN age = {i} THEN income / {i + 1} + wealth / 7" for i in range(60)) + " END"
SLOW = [
    f"SELECT COUNT(*) FROM patient WHERE CASE WHEN id = 17 AND age = 41 THEN {SEARCHES} ELSE FALSE END",
    f"SELECT COUNT(*) FROM patient WHERE {SEARCHES}",
    f"SELECT SUM(CASE WHEN name = 'Target' THEN {SUMS} ELSE 0 END) FROM patient",
    "SELECT COUNT(DISTINCT note), COUNT(DISTINCT region), COUNT(DISTINCT name) FROM patient",
    "SELECT note, COUNT(*) FROM patient GROUP BY note",
    "SELECT region, SUM(cost) FROM visit JOIN patient ON visit.patient = patient.id GROUP BY region",
    "SELECT COUNT(*) FROM visit WHERE LOWER(ward) = 'a'",
    "SELECT COUNT(*) FROM event WHERE word LIKE '%wordwordx%' OR UPPER(word) LIKE '%WORDX'",
]


def quickest(gateways, kind, sql):
    """The quickest of many turns on each variant; more turns while they differ, because other work may have come between."""
    best = dict.fromkeys(VARIANTS, math.inf)
    for turn in range(200):
        for variant in VARIANTS:
            best[variant] = min(best[variant], ask(gateways[kind, variant], sql).seconds)
        if turn >= 4 and max(best.values()) < 2 * min(best.values()) + GRID / 5:
            break
    return best


@pytest.mark.long
def test_time_tells_nothing(gateways):
    """Without a grid, a row takes no longer than all the others together and a fifth of a step of it."""
    questions, worst = Questions(1234), []
    assert all(ask(gateways[kind, "absent"], sql).status == 200 for sql in SLOW for kind in KINDS)
    for sql in [*SLOW, *(questions.question() for _ in range(200))]:
        for kind in KINDS:
            if ask(gateways[kind, "absent"], sql).status == 200:
                best = quickest(gateways, kind, sql)
                worst.append((max(best.values()) - min(best.values()), kind, sql[:100], best))
                assert max(best.values()) < 2 * min(best.values()) + GRID / 5, worst[-1]
    print(len(worst), "timed; largest differences in seconds:", sorted(worst, key=lambda one: -one[0])[:3])
