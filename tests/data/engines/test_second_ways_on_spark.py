"""Models, risks and losses on Spark against loops over plain rows: a table of persons, before and after steps.

The same second ways stand behind the other engines in ``tests/test_every_*.py``, on many more tables.
"""

import pytest
from tests.reference.losses import CLASS_LOSSES
from tests.reference.risks import REFERENCE
from tests.reference.tables import Situation, random_table
from tests.reference.verdicts import EXAMPLES, FUZZY, bounds, near, population_of

from celosia.parts import build, find

pytestmark = pytest.mark.xdist_group("spark")

TABLE = random_table(3, 16, persons=True, missing="category", gaps=True)
MOVED = Situation("moved", TABLE, (("recode", "q", 1), ("suppress", 2)))
RISKS = ("prosecutor", "marketer", "uniqueness", "homogeneity")


@pytest.fixture(scope="module")
def tables(spark):
    """The input and what was made of it, on Spark."""
    return MOVED.input("spark"), MOVED.read("spark")


@pytest.mark.long
def test_models_agree_with_the_slow_way(tables):
    plain, people = MOVED.plain(), population_of(TABLE)
    judged = set()
    for example in EXAMPLES:
        if example.model in {*FUZZY, *judged} or example.people or not example.suits(plain):
            continue
        bound = bounds(example, plain, people)[0]
        value, holds = example.measured(plain, people, bound)
        found = build("model", example.part(people, bound)).verdict(tables[1])
        assert near(found.value, value), str(example)
        assert found.holds == holds, str(example)
        judged.add(example.model)
    assert len(judged) > 6


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.long
def test_risks_agree_with_the_slow_way(tables, moved):
    plain = MOVED.plain() if moved else TABLE
    for name in RISKS:
        assert build("risk", name).value(tables[moved]) == pytest.approx(REFERENCE[name](plain).value, abs=1e-12), name


def test_losses_agree_with_the_slow_way(tables):
    for name, second_way in CLASS_LOSSES.items():
        given = find("loss", name).examples[0]
        loss = build("loss", {"use": name, **given})
        expected = second_way(TABLE, MOVED.plain(), **given)
        assert loss.value(*tables) == pytest.approx(expected, abs=1e-9), name
