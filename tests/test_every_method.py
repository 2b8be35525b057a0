"""Every method of the catalogue: what it declares is true, and what it requires holds in the file that it wrote.

A new method declares ``examples`` of its parameters; one that takes ``require``, ``k`` or ``l`` also needs a
way to check it here, by the slow second implementations of ``tests/reference``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.reference.examples import population_of
from tests.reference.people import EXAMPLES, ROLES, SORTS, people, people_table
from tests.reference.small import released
from tests.reference.tables import Situation, frame_of, random_table, situations
from tests.reference.written import judged, rows_of, written

import celosia
from celosia.checker.models import MODELS, k_anonymity
from celosia.checker.rows import Plain
from celosia.data.engines.polars import Polars
from celosia.errors import DataError, ParameterError, RequirementError
from celosia.parts import Formal, Method, build, parts
from celosia.release.evidence.plain_data import plain
from celosia.release.policy.policy import Policy, Step
from celosia.release.run import finish
from celosia.streams import Stream
from celosia.table import Table
from celosia.table.derive import with_record_ids

METHODS = parts("method")
SHOWN = [(name, sort) for name in METHODS for sort in SORTS]
PROMISING = ("require", "k", "l")
"""Parameters by which a method promises something about what it makes."""
NO_PROMISE = {
    "record-swap": "k says who is exchanged; nothing is promised about the areas that come out",
    "individual-ranking": "columns are grouped one by one; several together are not k-anonymous, as it says",
}
REFUSED = (DataError, ParameterError, RequirementError)
"""How a method says that it has no meaning for a table."""
REFUSALS = {
    ("dp-generalise", "persons"): "each record must be a person",
    ("fcrm", "gaps"): "missing values",
    ("ipso", "gaps"): "missing values",
    ("mixed-microaggregate", "gaps"): "missing values",
    ("orthogonal-mask", "gaps"): "missing values",
    ("shuffle", "gaps"): "missing values",
}


def test_every_method_has_an_example():
    for name in METHODS:
        assert EXAMPLES.get(name), f"declare `examples` of {name}"
    assert set(EXAMPLES) == set(METHODS), "an example is of no method"


def test_every_promise_of_a_method_is_checked():
    for name, cls in METHODS.items():
        if any(field in cls.model_fields for field in PROMISING) and name not in NO_PROMISE:
            assert name in CHECKED, f"check what {name} promises in the file it writes: add it to CHECKED"


def example_tables(name: str, sort: str, engine: str = "polars"):
    """Each example of a method with a table of its own."""
    for given in EXAMPLES[name]:
        rows = 1200 if name == "dp-generalise" else 36
        yield build("method", {"use": name, **given}), people_table(sort, engine, rows=rows)


@pytest.mark.parametrize(("name", "sort"), SHOWN)
def test_the_rows_are_what_is_declared_and_the_input_stays(name, sort):
    for method, table in example_tables(name, sort):
        before = table.polars()
        if (name, sort) in REFUSALS:
            with pytest.raises(REFUSED, match=REFUSALS[name, sort]):
                celosia.protect(table, method, seed=5)
            continue
        done = celosia.protect(table, method, seed=5)
        if method.rows == "same":
            assert done.ids().tolist() == table.ids().tolist()
        elif method.rows == "subset":
            assert set(done.ids().tolist()) <= set(table.ids().tolist())
        assert (done.provenance.family is table.provenance.family) == (method.rows != "new")
        assert table.polars().equals(before)
        assert not table.history
        assert before.equals(people(sort, rows=len(before)))


@pytest.mark.parametrize(("name", "sort"), [(name, sort) for name, sort in SHOWN if (name, sort) not in REFUSALS])
@pytest.mark.sampled(45)
def test_the_same_seed_gives_the_same_data_on_every_engine(name, sort):
    """Noise with a formal guarantee comes from the operating system: no seed repeats it."""
    for (method, table), (_, other) in zip(
        example_tables(name, sort), example_tables(name, sort, "duckdb"), strict=True
    ):
        first, again, there = (celosia.protect(t, method, seed=5).polars() for t in (table, table, other))
        if issubclass(METHODS[name], Formal):
            tries = [celosia.protect(table, method, seed=5).polars() for _ in range(6)]
            assert any(not first.equals(more) for more in tries), "the seed repeats the noise"
            continue
        assert first.equals(again)
        assert first.equals(there)


class Watched(Polars):
    """Polars, with the number of rows of every frame that was brought into memory."""

    def __init__(self) -> None:
        super().__init__()
        self.collected: list[int] = []

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        found = super().collect(frame)
        self.collected.append(len(found))
        return found


PAIRS = {"generalise"}
"""Methods that bring the pairs of a combination and a person, of those persons who have several combinations."""


@pytest.mark.parametrize("name", METHODS)
def test_a_method_brings_all_rows_into_memory_exactly_when_it_says_so(name, tmp_path):
    """For a table in a file, with persons or without; where a person has a weight classes are found person by person."""
    for given in EXAMPLES[name]:
        method = build("method", {"use": name, **given})
        brought: dict[bool, list[int]] = {True: [], False: []}
        for sort in ("rows", "persons"):
            if (name, sort) not in REFUSALS:
                people(sort, rows=1200).write_parquet(tmp_path / "people.parquet")
                roles = {**ROLES, "weight": None, "person": "i" if sort == "persons" else None}
                table = with_record_ids(celosia.read(tmp_path / "people.parquet", celosia.Schema.of(**roles)))
                engine = Watched()
                method.apply(replace(table, rows=replace(table.rows, engine=engine), _cache={}), Stream(1))
                brought[method.needs_memory(table.schema)] += engine.collected
        most = people("persons", rows=1200).unique(["i", *ROLES["quasi"], *ROLES["sensitive"]]).height
        most = most if name in PAIRS else 100
        assert max(brought[False], default=0) <= most, f"{method} brought {max(brought[False])} rows into memory"
        assert not brought[True] or max(brought[True]) >= 1200, (
            f"{method} brought {max(brought[True])} rows into memory"
        )


@pytest.mark.parametrize("name", METHODS)
def test_new_records_get_the_same_cells_or_a_reason(name):
    """The records of the release stand for new ones: whoever has a place gets the cells that were released."""
    refused = f"{name}: new records cannot have what it did to those of the release, because "
    for method, given in example_tables(name, "rows"):
        table = with_record_ids(given)
        outcome = method.apply(table, Stream(1))
        recorded = json.loads(json.dumps(plain(outcome.private)))
        try:
            again, lost = method.replay(table, recorded, Stream(1))
        except DataError as error:
            said = str(error)
        else:
            assert again.ids().tolist() == table.ids().tolist(), "all rows stay in place"
            kept = outcome.table.ids()[~outcome.table.counts.suppressed_mask]
            assert not lost[kept].any()
            assert as_text(again.take(kept)).equals(as_text(outcome.table.take(kept)))
            continue
        assert said.startswith(refused)
        assert Method.not_replayable_because not in said, (
            f"{name} must state its own reason: declare `not_replayable_because`"
        )


def as_text(table: Table) -> pl.DataFrame:
    """The cells as they are written: where some are suppressed a number is text."""
    return table.polars().select(pl.all().cast(pl.String))


@pytest.mark.parametrize("name", [name for name, cls in METHODS.items() if "require" in cls.model_fields])
def test_what_a_method_requires_is_what_new_records_are_judged_by(name):
    method = build("method", {"use": name, "require": ["k-anonymity(k=3)", "l-diversity(l=2)"]})
    assert method.requirements() == method.require


@pytest.mark.parametrize("name", [name for name, cls in METHODS.items() if "target" in cls.model_fields])
def test_sizes_that_records_ask_for_are_told_or_new_records_are_refused(name):
    given = EXAMPLES[name][0] | {"target": "m"}
    method, table = build("method", {"use": name, **given}), people_table()
    if type(method).replay is Method.replay:
        assert method.not_replayable_because != Method.not_replayable_because
    else:
        assert method.target_sizes(table) == {
            f"{name}(target=m)": pytest.approx(np.maximum(table.numeric(["m"])[:, 0], 1))
        }


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore:identifier 'name' repeats")  # a mask makes names alike
def test_exact_numbers_are_withheld_exactly_for_a_formal_guarantee(name):
    """What was measured against the original would void the guarantee: it is in the private record only."""
    method, table = next(example_tables(name, "rows"))
    done = celosia.protect(table, method, seed=5)
    step = Step(name, method)
    losses = (build("loss", "altered-records"),)
    made = finish(
        with_record_ids(table),
        done,
        Policy(
            input={"path": "people.csv"}, schema=table.schema, step=(step,), measure={"risks": (), "losses": losses}
        ),
        1 << 70,
    )
    assert ("formal" in made.certificate) == issubclass(METHODS[name], Formal)
    assert ("losses" in made.certificate) != issubclass(METHODS[name], Formal)
    assert "losses" in made.record["comparison"]


# What a method requires holds in the file that it wrote, by the slow checker.

REQUIRED: list[dict[str, Any]] = [
    {"use": "k-anonymity", "k": 3},
    {"use": "l-diversity", "l": 2, "column": "s"},
    {"use": "l-diversity", "l": 1.5, "column": "o", "variant": "entropy"},
    {"use": "alpha-k", "alpha": 0.6, "k": 2, "column": "s"},
    {"use": "t-closeness", "t": 0.4, "column": "s"},
    {"use": "t-closeness", "t": 0.25, "column": "o", "distance": "ordered"},
    {"use": "beta-likeness", "beta": 1.0, "column": "s"},
    {"use": "delta-disclosure", "delta": 1.2, "column": "o"},
    {"use": "k-map", "k": 4, "size": 200},
    {"use": "k-map", "k": 3, "population": True},
    {"use": "delta-presence", "highest": 0.8, "population": True},
    {"use": "delta-presence", "lowest": 0.1, "highest": 0.9, "population": True},
    {"use": "l-diversity", "l": 2, "column": "s", "others": "quasi"},
    {"use": "average-risk", "risk": 0.5, "highest": 0.34},
    {"use": "sample-uniqueness", "share": 0.05},
]
SITUATIONS = {s.name: s for s in situations(0)}
HARD = ("persons", "persons-missing", "subset", "persons-subset", "suppressed", "persons-suppressed")
HARD += ("doubled", "one-person", "unknown-person", "merged", "persons-recoded")
"""The situations in which a promise is easily broken: persons, missing values, what an earlier step left or recoded."""
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "generalise": [{"suppress": 0.3}, {"suppress": 1.0, "blank": True}, {"drop": True, "suppress": 0.5}],
    "local-generalise": [{"suppress": 0.3}],
    "mondrian": [{}, {"strict": False}],
    "suppress-records": [{}, {"drop": True}],
}
WHOLE_FILE = {"average-risk", "sample-uniqueness"}
REFUSED_MODELS: dict[str, set[str]] = {
    "generalise": {"others"},
    "local-generalise": {"others", "population", *WHOLE_FILE},
    "mondrian": {"others", "population"},
    "suppress-records": {"others", "population", *WHOLE_FILE},
}
"""What a method says that it cannot meet: judging the file as a whole, counting a population, classes of more columns."""


@pytest.mark.parametrize("situation", HARD)
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.sampled(10)
def test_a_requirement_holds_in_the_file_that_was_written(name, situation, tmp_path):
    seen, wrong, refused = 0, [], set()
    for number, model in enumerate(REQUIRED):
        options = OPTIONS[name][number % len(OPTIONS[name])]
        people = population_of(SITUATIONS[situation].table)
        frame_of(Plain(tuple(people), ("q", "r"))).write_csv(tmp_path / "people.csv")
        asked = {**model, **({"population": str(tmp_path / "people.csv")} if "population" in model else {})}
        try:
            rows = written(SITUATIONS[situation], [{"use": name, "require": [asked], **options}], tmp_path)
        except RequirementError:
            continue  # nothing was written
        except ParameterError as error:
            named = model["use"] if model["use"] in str(error) else f"unnamed: {error}"
            refused |= {key for key in ("population", "others") if key in model} or {named}
            continue
        file = judged(rows, SITUATIONS[situation].plain())
        if not file.in_classes:
            continue  # every record is suppressed: nothing is left to be judged
        seen += 1
        given = {**model, **({"population": people} if "population" in model else {})}
        value, holds = MODELS[given.pop("use")](file, **given)
        wrong += [] if holds else [f"{name} {options}: {model} is not met, the value is {value:g}"]
    assert not wrong, "\n".join(wrong)
    assert refused == REFUSED_MODELS[name]
    assert seen >= 2, "too little was left to be judged"


@pytest.mark.parametrize("sort", ["rows", "persons", "gaps"])
@pytest.mark.parametrize("reading", ["category", "wildcard", "conservative"])
def test_local_suppression_leaves_nobody_with_fewer_alike(reading, sort, tmp_path):
    for seed in range(3):
        table = random_table(seed, 14, persons=sort == "persons", missing="category" if sort == "gaps" else None)
        table = replace(table, missing={"q": reading, "r": reading})
        for given in ({"k": 2}, {"k": 3, "importance": {"q": 5.0}}):
            rows = written(Situation("", table), [{"use": "local-suppress", **given}], tmp_path)
            value, holds = k_anonymity(judged(rows, table), given["k"])
            assert holds, f"{given}, seed {seed}: {value}"


NUMBERS = ("microaggregate", "variable-microaggregate", "projection-microaggregate", "mixed-microaggregate")
NUMBERS += ("optimal-univariate",)


@pytest.mark.parametrize("sort", ["rows", "whole", "persons", "gaps"])
@pytest.mark.parametrize("name", NUMBERS)
def test_microaggregation_of_all_quasi_identifiers_gives_k_anonymity(name, sort, tmp_path):
    person = "i" if sort == "persons" else None
    frame = people("persons", rows=60).with_columns(
        pl.col("x").round(0).cast(pl.Int64) if sort == "whole" else pl.col("x")
    )
    columns = ["x"] if name == "optimal-univariate" else ["x", "y"]
    if sort == "gaps":  # ten records miss both, ten more the second only: enough of each to be grouped
        number = pl.int_range(pl.len())
        frame = frame.with_columns(x=pl.when(number >= 10).then("x"), y=pl.when(number >= 20).then("y"))
    given = {"column": "x"} if name == "optimal-univariate" else {"columns": columns}
    step, own = {"use": name, "k": 4, **given}, [person] if person else []
    released(frame.select(*columns, "i"), tmp_path, steps=[step], kept=own, quasi=columns, person=person)
    texts = tuple(rows_of(tmp_path / "safe.csv"))
    assert k_anonymity(Plain(texts, tuple(columns), person=person), 4)[1]
    assert len({row["x"] for row in texts}) > 1, "all records became one group"


def test_generalisation_along_a_tree_leaves_no_small_class(tmp_path):
    for seed in range(4):
        for persons in (False, True):
            table = replace(random_table(seed, 14, persons=persons, letters="abcd"), quasi=("q",))
            for given in ({"k": 3}, {"k": 4, "labels": "set"}, {"k": 5, "short_first": True}):
                step = {"use": "tree-generalise", "columns": ["q"], **given}
                file = judged(written(Situation("", table), [step], tmp_path), table)
                assert k_anonymity(replace(file, before=None), given["k"])[1], f"{given}, seed {seed}"


@pytest.mark.parametrize(("sort", "l"), [("rows", 3), ("persons", 2)])
@pytest.mark.parametrize("groups", ["near", "buckets"])
def test_no_value_has_more_than_its_share_of_a_group(groups, sort, l):
    """Anatomise names its groups; permute deals the values out inside the same ones, so each keeps its own values."""
    for seed in range(4):
        table = people_table(sort, seed=seed, rows=90)
        shown = people(sort, seed, rows=90)
        done = celosia.protect(table, {"use": "anatomise", "l": l, "groups": groups}, seed=1).polars()
        values = shown.select("s", *(["i"] if sort == "persons" else [])).with_columns(group=done["group"])
        for (_,), rows in values.group_by("group"):
            assert rows["s"].value_counts()["count"].max() * l <= len(rows)
            assert sort == "rows" or rows["i"].is_unique().all()
        dealt = celosia.protect(table, {"use": "permute", "l": l, "groups": groups}, seed=1).polars()["s"]
        assert sorted(dealt) == sorted(values["s"])


CHECKED = {*OPTIONS, *NUMBERS, "local-suppress", "tree-generalise", "anatomise", "permute", "fuzzy-table"}
