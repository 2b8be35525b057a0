"""No experiment gives out what a document prints as its own result.

The source of every experiment is read: what is compared with print may be no literal, nor the print itself, and no
function may return a number that was written into it. And one input of every experiment is changed: what comes out moves.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import celosia_reproduce
from celosia_reproduce import experiments
from celosia_reproduce.statements import printed_tables

PLACE = Path(celosia_reproduce.__file__).parent
FILES = sorted(PLACE.rglob("*.py"))
CALCULATING = {"math", "np", "numpy", "statistics", "itertools", "operator"}
"""Modules that only calculate: what they make of numbers that were written down was written down."""
NEUTRAL = (0, 1, -1, 100)
"""What a function may return alone in an extreme case; a table of results may not hold even these."""


class Names(dict[str, ast.expr | None]):
    """What each name stands for in a module and in one of its functions; None for more than one thing."""

    def note(self, node: ast.AST) -> Names:
        for inner in ast.walk(node):
            targets: list[ast.expr] = []
            if isinstance(inner, ast.Assign):
                targets, value = inner.targets, inner.value
            elif isinstance(inner, ast.AnnAssign) and inner.value is not None:
                targets, value = [inner.target], inner.value
            for target in targets:
                if (
                    isinstance(target, ast.Tuple)
                    and isinstance(value, ast.Tuple)
                    and len(target.elts) == len(value.elts)
                ):
                    pairs = list(zip(target.elts, value.elts, strict=True))
                else:
                    pairs = [(target, value)]
                for one, own in pairs:
                    if isinstance(one, ast.Name):
                        self[one.id] = None if one.id in self else own
                    else:
                        self |= {part.id: None for part in ast.walk(one) if isinstance(part, ast.Name)}
        return self


def literal(node: ast.expr | None, names: Names) -> bool:
    """Whether an expression is written into the source: a constant, a name of one, a table or a sum of them."""
    match node:
        case ast.Constant():
            return True
        case ast.Name():
            return names.get(node.id) is not None and literal(names[node.id], Names(names, **{node.id: None}))
        case ast.Tuple() | ast.List() | ast.Set():
            return all(literal(part, names) for part in node.elts)
        case ast.Dict():
            return all(literal(part, names) for part in node.values)
        case ast.UnaryOp():
            return literal(node.operand, names)
        case ast.BinOp():
            return literal(node.left, names) and literal(node.right, names)
        case ast.Subscript():
            return literal(node.value, names)
        case ast.Compare():
            return literal(node.left, names) and all(literal(part, names) for part in node.comparators)
        case ast.BoolOp():
            return all(literal(part, names) for part in node.values)
        case ast.IfExp():
            return all(literal(part, names) for part in (node.test, node.body, node.orelse))
        case ast.Starred():
            return literal(node.value, names)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            inner = comprehended(node, names)
            return inner is not None and literal(node.elt, inner)
        case ast.Call():
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            of_literal = isinstance(node.func, ast.Attribute) and literal(node.func.value, names)
            calculated = of_literal or (bool(given) and calculates(node.func, names))
            return calculated and all(literal(part, names) for part in given)
    return False


def calculates(func: ast.expr, names: Names) -> bool:
    """Whether a call is of a builtin, or of a module that only calculates."""
    match func:
        case ast.Name(id=name):
            return name in vars(builtins) and name not in names
        case ast.Attribute(value=ast.Name(id=module)) if module in CALCULATING:
            return module not in names
        case ast.Attribute():
            return calculates(func.value, names)
    return False


def comprehended(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, names: Names) -> Names | None:
    """The names within a comprehension over literals; None where it goes over anything else."""
    inner = Names(names)
    for part in node.generators:
        if not literal(part.iter, inner):
            return None
        inner |= {name.id: ast.Constant(0) for name in ast.walk(part.target) if isinstance(name, ast.Name)}
    return inner


def functions(tree: ast.Module) -> Iterator[tuple[ast.AST, Names]]:
    """Every function with the names of its module and its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            top = Names()
            for statement in tree.body:
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    top.note(statement)
            yield node, Names(top).note(node)


def compared(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr, Names, int]]:
    """What is stated and what is computed in every statement that is made."""
    for function, names in functions(tree):
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("printed", "derived", "consistent", "Statement") and len(node.args) >= 4:
                yield node.args[2], node.args[3], names, node.lineno


def faults(source: str) -> list[str]:
    """Lines that give out what was written into them."""
    tree, found = ast.parse(source), []
    for stated, computed, names, line in compared(tree):
        if literal(computed, names):
            found.append(f"{line}: the computed value is written down")
        if ast.dump(stated) == ast.dump(computed):
            found.append(f"{line}: a value is compared with itself")
    for function, names in functions(tree):
        for node in ast.walk(function):
            given = node.value if isinstance(node, ast.Return | ast.Yield) else None
            table = isinstance(given, ast.Dict)
            parts = given.values if table else [] if given is None else [given]
            for part in parts:
                if literal(part, names) and set(_numbers(part, names)) - set(() if table else NEUTRAL):
                    found.append(f"{part.lineno}: a number is returned that was written down")
    return found


def _numbers(node: ast.expr | None, names: Names) -> list[float]:
    """The numbers of a literal."""
    if isinstance(node, ast.Name):
        return _numbers(names.get(node.id), names)
    values = [c.value for c in ast.walk(node) if isinstance(c, ast.Constant)] if node is not None else []
    return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PLACE)))
def test_nothing_printed_is_given_out_as_a_result(path):
    assert faults(path.read_text("utf-8")) == []


def test_statements_are_found_in_every_experiment():
    """The search would be empty, and the test above idle, if statements were made in another way."""
    for name in experiments():
        own = [compared(ast.parse(path.read_text("utf-8"))) for path in (PLACE / name.replace("-", "_")).glob("*.py")]
        assert sum(len(list(part)) for part in own) > 0, name


DISHONEST = {
    "a constant": 'def f(t):\n    return [printed("w", "k", t.k, 3)]',
    "itself": 'def f(t):\n    return [printed("w", "k", t.k, t.k)]',
    "a local name": 'def f(t):\n    k = 4\n    return [derived("w", "k", 3, k)]',
    "a name of the module": 'K = (3, 4)\ndef f(t):\n    return [printed("w", "k", [3, 4], list(K))]',
    "one of a list": 'K = (3, 4)\ndef f(t):\n    return [printed("w", "k", 3, K[0])]',
    "a converted one": 'def f(t):\n    return [Statement("w", "k", 3, float(6 / 2), True, "printed")]',
    "a mean": 'SAID = (1.0, 2.5)\ndef f(t):\n    return [derived("w", "k", 1.75, sum(SAID) / 2)]',
    "a formula": 'import math\ndef f(t):\n    return [derived("w", "n", 3074, math.ceil(2 * (1.96 * 10 / 0.5) ** 2))]',
    "a formula with names": 'def f(t):\n    b, z = 10.0, 1.96\n    n = 2 * z\n    return [derived("w", "n", 4, max(n, 1))]',
    "a comprehension": 'SAID = (1, 2)\ndef f(t):\n    return [printed("w", "k", [2, 3], [v + 1 for v in SAID])]',
    "a method": 'def f(t):\n    return [printed("w", "k", "A", "a".upper())]',
    "an array": 'import numpy as np\ndef f(t):\n    return [printed("w", "k", 2, float(np.mean([1, 3])))]',
    "a comparison": 'def f(t):\n    return [printed("w", "k", True, 3 > 2)]',
    "a result": 'def f(t):\n    return {"plain SQL": 1}',
    "a number": "BEST = 16.536\ndef f(t):\n    return BEST",
}


@pytest.mark.parametrize("way", DISHONEST)
def test_dishonest_ways_are_seen(way):
    assert len(faults(DISHONEST[way])) == 1


def test_honest_ways_are_not_accused():
    honest = """
SAID = {"k": 3}
def f(t):
    k = len(t)
    if not k:
        return 0
    return [printed("w", "k", SAID["k"], k), printed("w", "l", 2, int(t.l())), {"found": k, "share": k / 2}]
"""
    assert faults(honest) == []


# One changed input for each experiment: what is computed moves.


def _computed(statements):
    return [statement.computed for statement in statements]


def _lecture(_):
    from celosia_reproduce.lecture import separation

    tables = printed_tables("lecture")
    ill = tables["illness"]
    other = ill.with_columns(pl.Series("Disease", [*ill["Disease"][:-1], "COVID"]))
    assert not other.equals(ill)
    return [_computed(separation.anatomy(given)) for given in (tables, {**tables, "illness": other})]


def _textbook(_):
    from celosia_reproduce.textbook import disclosure

    tables = printed_tables("textbook")
    changed = tables["table05"].with_columns(pl.lit("1").alias("Income"))
    return [_computed(disclosure.anonymity(given)) for given in (tables, {**tables, "table05": changed})]


def _fuzzy_privacy(shared):
    from celosia_reproduce.fuzzy_privacy import comparison
    from celosia_reproduce.fuzzy_privacy.experiment import independent_block
    from celosia_reproduce.fuzzy_privacy.study import census_of, read_census

    x = read_census(shared("data/census.csv"))
    other = x.copy()
    other[:20, 0] *= 3
    found = []
    for values in (x, other):
        study = census_of(values, ((1, 2),))
        rows = independent_block(study, np.random.default_rng(1), 2, lambda *_: None)
        numbers = comparison.numbers("independent", study.printed["independent"], rows["default"], rows["nearest"])
        found.append(_computed(number.statement for number in numbers))
    return found


def _synthetic(shared):
    from celosia_reproduce.fuzzy_privacy.study import read_census
    from celosia_reproduce.synthetic import comparison, setups, sweeps

    x = read_census(shared("data/census.csv"))
    other = x.copy()
    other[:, 0] = other[::-1, 0]
    found = []
    for values in (x, other):
        points = sweeps.sweep(sweeps.census_table(values), setups.S1, [], 1, lambda *_: None)
        rows = comparison.lines({6: (points, setups.printed(6))}, {}, ({}, {}))
        found.append(_computed(comparison.checked(list(rows), nearest=False)))
    return found


def _fuzzy_regression(shared):
    """Two regressions on the columns of S1, of the file and of one with two columns in another order."""
    from celosia_reproduce.fuzzy_privacy.study import read_census
    from celosia_reproduce.synthetic import comparison, setups, sweeps

    x = read_census(shared("data/census.csv"))
    other = x.copy()
    other[:, :2] = other[::-1, :2]
    computed = []
    for values in (x, other):
        points = sweeps.sweep(sweeps.census_table(values), setups.S1, [2], 1, lambda *_: None)
        rows = comparison.lines({6: ({"2": points["2"]}, setups.printed(6))}, {}, ({}, {}))
        computed.append(_computed(comparison.checked(list(rows), nearest=False)))
    assert len(computed[0]) == 3, "loss, risk and score of c = 2"
    return computed


def _generated_case(_):
    """Two small blocks of generated students, and the same with the people of two districts in one."""
    from celosia_reproduce.consent import case, experiment, questions

    people, blocked = case.drawn(5)
    district = pl.col("district")
    first, second = people.filter(pl.col("province") == "Cartago")["district"].unique().sort()[:2]
    place = people.filter(district == first).select(case.PLACE).row(0)
    moved = people.with_columns(
        pl.when(district == second).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in zip(case.PLACE, place, strict=True)
    )
    plan = experiment.Plan(2, 800, (10, 20), (0.2,), 10)
    return [
        list(
            questions.summary(experiment.run(given, blocked, plan, np.random.default_rng(1), lambda *_: None)).values()
        )
        for given in (people, moved)
    ]


def _consent(_):
    from celosia_reproduce.consent.worked import printed_texts, statements

    texts = printed_texts()
    changed = {**texts, "rule_4_4": texts["rule_4_4"].replace("2019", "2018")}
    assert changed != texts
    return [_computed(statements(given)) for given in (texts, changed)]


CHANGED = {
    "consent": _consent,
    "fuzzy-privacy": _fuzzy_privacy,
    "lecture": _lecture,
    "synthetic": _synthetic,
    "textbook": _textbook,
}


PARTS = {"consent, generated case": _generated_case, "synthetic, fuzzy regression": _fuzzy_regression}
"""Parts of experiments whose input is generated, or that the changes above do not reach."""


def test_every_experiment_has_a_change():
    assert set(CHANGED) == set(experiments())


@pytest.mark.parametrize("name", [*CHANGED, *PARTS])
@pytest.mark.sampled(3)
def test_another_input_gives_another_result(name, shared):
    before, after = (CHANGED | PARTS)[name](shared)
    assert len(before) == len(after)
    assert before != after


def test_the_print_does_not_reach_the_default_choice(shared):
    """Other printed numbers: the same results at the default choice; only the nearest choice looks at print."""
    from celosia_reproduce.fuzzy_privacy.experiment import independent_block
    from celosia_reproduce.fuzzy_privacy.study import census_of, read_census
    from celosia_reproduce.synthetic.comparison import Line
    from celosia_reproduce.synthetic.measures import Point
    from celosia_reproduce.synthetic.setups import Row

    study = census_of(read_census(shared("data/census.csv")), ((8, 9),))
    said = {
        block: {pair: {c: v and v + 3 for c, v in row.items()} for pair, row in rows.items()}
        for block, rows in study.printed.items()
    }
    rows = [
        independent_block(given, np.random.default_rng(1), 6, lambda *_: None)
        for given in (study, replace(study, printed=said))
    ]
    assert rows[0]["default"] == rows[1]["default"]
    assert rows[0]["corrected"] == rows[1]["corrected"]
    point = Point(50.0, 30.0, 40.0, 20.0)
    for row in (Row(44.0, 9.0, 26.5), Row(1.0, 2.0, 1.5)):
        line = Line(6, "c = 2", row, (point,))
        assert [line.statement(m, nearest=False).computed for m in ("PIL", "DR", "score")] == [50.0, 30.0, 40.0]
