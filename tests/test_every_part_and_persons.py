"""What each part does where a person owns several rows is what it declares: counts persons, refuses, or looks at rows.

Each is tried on the same cells with the person column declared and without. A new part is found by the example that its
own every-part test asks for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests import test_every_attack as attacks
from tests import test_every_risk as risks
from tests.reference import people as methods
from tests.reference.examples import EXAMPLES as MODELS
from tests.reference.examples import population_of
from tests.reference.losses import CLASS_LOSSES
from tests.reference.tables import Situation, random_table
from tests.test_every_loss import MOVES, frames

import celosia
from celosia.checker.rows import Plain
from celosia.errors import CelosiaError
from celosia.parts import CountsRows, Formal, build, parts
from celosia.streams import Stream
from celosia.table.derive import with_record_ids

SEEDS = range(4)
Pair = tuple[Any, Any]
"""What a part gives with the person column declared, and without; an error stands for a refusal."""


def tried(ask: Any) -> Any:
    try:
        return ask()
    except CelosiaError as error:
        return error


def apart(plain: Plain) -> Plain:
    """The same rows, of which nobody knows whose they are."""
    rows = tuple({name: value for name, value in row.items() if name != "i"} for row in plain.rows)
    return replace(plain, rows=rows, person=None)


def of_method(name: str) -> Iterator[Pair]:
    """The cells that come out; those with a formal guarantee have noise that no seed repeats: their bound counts."""
    cls = parts("method")[name]
    for seed in SEEDS:
        for given in methods.EXAMPLES[name]:
            method = build("method", {"use": name, **given})
            frame = methods.people("persons", seed, 1200 if name == "dp-generalise" else 36 - 8 * (seed % 2))
            pair = []
            for person in ("i", None):
                roles = {**methods.ROLES, "person": person, "identifiers": ["name", *([] if person else ["i"])]}
                table = with_record_ids(celosia.read(frame, celosia.Schema.of(**roles)))
                found = tried(lambda table=table, method=method: method.apply(table, Stream(1)).table.polars())
                found = found.drop("i", strict=False) if isinstance(found, pl.DataFrame) else found
                bounded = issubclass(cls, Formal) and isinstance(found, pl.DataFrame)
                pair.append(person if bounded and "rows_per_person" in cls.model_fields else 0 if bounded else found)
            yield tuple(pair)


def of_model(name: str) -> Iterator[Pair]:
    for seed, quasi in itertools.product(SEEDS, (("q",), ("q", "r"))):
        table = random_table(seed, 14, persons=True, letters="ab")
        table = replace(table, rows=table.rows * 2 if seed % 2 else (*table.rows, *table.rows[:7]), quasi=quasi)
        for example in (one for one in MODELS if one.model == name and one.suits(table)):
            people = [*population_of(table, seed), *({"q": row["q"], "r": row["r"]} for row in table.rows)]
            model = build("model", example.part(people, 2 if example.least else 0.5))
            asked = [lambda read, model=model: model.value(read)]
            if hasattr(model, "records"):  # a fuzzy model says something about each record too
                asked.append(lambda read, model=model: model.records(read))
            for ask in asked:
                yield tuple(
                    tried(lambda plain=plain, ask=ask: ask(Situation("", plain).read()))
                    for plain in (table, apart(table))
                )


def of_risk(name: str) -> Iterator[Pair]:
    for case, given in risks.cases(name):
        if case.table.person is not None:
            alone = replace(case, table=apart(case.table))
            yield tuple(
                tried(lambda c=c, given=given: risks.part_of(name, given).value(c.read())) for c in (case, alone)
            )


def of_attack(name: str) -> Iterator[Pair]:
    for seed in SEEDS:
        case = attacks.drawn(seed, True, name not in attacks.COMPLETE)
        alone = replace(
            case, **{k: replace(getattr(case, k), person=None) for k in ("original", "protected", "control")}
        )
        for given in attacks.EXAMPLES[name]:
            yield tuple(tried(lambda c=c, given=given: attacked(name, c, given)) for c in (case, alone))


def attacked(name: str, case: attacks.Case, given: dict[str, Any]) -> float:
    attack = build("attack", {"use": name, **attacks.known(case, given, plain=False)})
    tables = (attacks.read(table, "polars", name) for table in (case.original, attacks.release_of(case, name)))
    return attack.value(*tables)


def of_loss(name: str) -> Iterator[Pair]:
    for seed in SEEDS:
        if name in CLASS_LOSSES:
            table = random_table(seed, 12, persons=True, letters="abc")
            plain: list[Plain] = [table, apart(table)]
            for given in parts("loss")[name].examples:
                made = build("loss", {"use": name, **given})
                yield tuple(tried(lambda p=p, made=made: compared(made, p)) for p in plain)
            continue
        before, after = frames(seed)
        if name == "train-released-test-real":  # one column must be predictable from the others
            before["e"] = ["s" if x is not None and x > 4 else "t" for x in before["x"]]
        who = [i // 2 for i in range(25)]
        for given in parts("loss")[name].examples:
            made = build("loss", {"use": name, **given})
            pair = []
            for person in ("i", None):
                schema = celosia.Schema.of(quasi=["x", "c"], sensitive=["e"], person=person)
                more = {"i": who} if person else {}
                tables = [celosia.read(pl.DataFrame({**cells, **more}), schema) for cells in (before, after)]
                pair.append(tried(lambda tables=tables, made=made: made.value(*tables)))
            yield tuple(pair)


def compared(loss: Any, plain: Plain) -> float:
    situation = Situation("", plain, MOVES["generalised-suppressed"])
    return loss.value(situation.input(), situation.read())


TRIED = {"method": of_method, "model": of_model, "risk": of_risk, "attack": of_attack, "loss": of_loss}


def alike(first: Any, second: Any) -> bool:
    if isinstance(first, pl.DataFrame) and isinstance(second, pl.DataFrame):
        return first.equals(second)
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    return math.isclose(first or 0, second or 0, rel_tol=1e-9, abs_tol=1e-12)


def observed(kind: str, name: str) -> str:
    asked = refused = 0
    for declared, without in TRIED[kind](name):
        if isinstance(without, CelosiaError) and isinstance(declared, CelosiaError):
            continue
        if isinstance(without, CelosiaError):
            return "counted"  # it asks for a person column
        asked += 1
        refused += isinstance(declared, CelosiaError)
        if not isinstance(declared, CelosiaError) and not alike(declared, without):
            return "counted"
    assert asked, "nothing could be asked"
    return "refused" if refused == asked else "rows"


@pytest.mark.parametrize("kind", TRIED)
def test_a_part_that_looks_at_rows_says_why(kind):
    silent = [name for name, cls in parts(kind).items() if not hasattr(cls, "persons")]
    assert silent == [], "declare `persons`: counted, refused, or CountsRows with the reason"
    for cls in parts(kind).values():
        if isinstance(cls.persons, CountsRows):
            assert cls.persons.reason, "say why rows are right"
            assert cls.persons.reason == cls.persons.reason.strip(" .")


PARTS = [(kind, name) for kind in TRIED for name in parts(kind)]


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_a_part_does_with_persons_what_it_declares(kind, name):
    unit, seen = parts(kind)[name].persons, observed(kind, name)
    declared = "rows" if isinstance(unit, CountsRows) else unit
    assert seen == declared, (
        f"{name}: its examples show {seen!r}. Declare `persons`, or give one in which persons matter."
    )
