"""Cells by rule, samples and research subsets, on both engines."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia import methods
from celosia.errors import DataError, ParameterError, UnknownName
from celosia.methods import Sample, Subset, SuppressCells
from celosia.parts import build, public_spec
from celosia.table.derive import with_record_ids


def people(engine="polars", **schema):
    frame = pl.DataFrame(
        {
            "job": ["nurse", "nurse", "bishop", None, "nurse"],
            "age": [30, 90, 40, 85, None],
            "who": [1, 1, 2, 3, 4],
            "w": [2, 2, 2, 2, 2],
        }
    )
    return celosia.read(frame, celosia.Schema.of(**schema), engine=engine)


def test_cells_by_condition(engine):
    done = celosia.protect(people(engine), SuppressCells(columns=["job", "age"], where="age > 80 OR job = 'bishop'"))
    frame = done.polars()
    assert frame["job"].to_list() == ["nurse", None, None, None, "nurse"]
    assert frame["age"].to_list() == [30, None, None, None, None]
    assert frame["age"].dtype == pl.Int64
    assert done.history[-1]["suppressed"] == {"job": 2, "age": 3}


def test_rare_values_count_persons(engine):
    # nurse: 3 records of 2 persons.
    assert celosia.protect(people(engine), SuppressCells(columns=["job"], fewer_than=3)).polars()["job"].to_list() == [
        "nurse", "nurse", None, None, "nurse",
    ]  # fmt: skip
    by_person = celosia.protect(people(engine, person="who"), SuppressCells(columns=["job"], fewer_than=3))
    assert by_person.polars()["job"].to_list() == [None] * 5


def test_stars(engine):
    done = celosia.protect(people(engine), SuppressCells(columns=["age"], where="age >= 85", by="star"))
    assert done.polars()["age"].to_list() == ["30", "*", "40", "*", None]


def test_both_rules(engine):
    method = SuppressCells(columns=["job"], where="age < 35", fewer_than=2)
    assert celosia.protect(people(engine), method).polars()["job"].to_list() == [
        "nurse",
        "nurse",
        "bishop",
        None,
        "nurse",
    ]


def test_conditions_that_cannot_be_read():
    with pytest.raises(ParameterError, match="give where, fewer_than or both"):
        SuppressCells(columns=["job"])
    for where in ("age >>> 3", "age +", ""):
        with pytest.raises(ParameterError, match="where is not a condition"):
            celosia.protect(people(), Subset(where=where))
    with pytest.raises(UnknownName, match=r"no column named 'agge'. Did you mean 'age'"):
        celosia.protect(people(), Subset(where="agge > 3"))
    with pytest.raises(ParameterError, match="true or false for each record"):
        celosia.protect(people(), Subset(where="age + 1"))
    with pytest.raises(ParameterError, match="true or false for each record"):
        celosia.protect(people(), Subset(where="MAX(age) > 1"))
    with pytest.raises(ParameterError, match="cannot be evaluated"):
        celosia.protect(people(), Subset(where="job > 3"))


def test_conditions_are_not_published():
    done = celosia.protect(people(), Subset(where="job = 'bishop'"))
    assert "bishop" not in str(public_spec(Subset(where="job = 'bishop'")))
    assert len(done) == 1


def test_subset_by_condition_keeps_ids_and_hands_on_the_population(engine):
    table = with_record_ids(people(engine, quasi=["job"]))
    outcome = Subset(where="age > 35").apply(table, celosia.streams.Stream(1))
    assert outcome.table.ids().tolist() == [1, 2, 3]
    assert len(outcome.aside["population"]) == 5
    assert outcome.evidence == {"kept": 3, "of": 5}


def test_subset_feeds_presence_and_k_map(engine):
    frame = pl.DataFrame({"age": [30, 30, 30, 40, 40, 50]})
    table = celosia.read(frame, celosia.Schema.of(quasi=["age"]), engine=engine)
    outcome = Subset(where="age < 50").apply(table, celosia.streams.Stream(1))
    half = Subset(size=3).apply(table, celosia.streams.Stream(4))
    people_of = outcome.aside["population"]
    assert celosia.models.DeltaPresence(highest=1, population=people_of).value(outcome.table) == 1.0
    sizes = half.table.polars().group_by("age").len()
    whole = frame.group_by("age").len()
    shares = sizes.join(whole, on="age").select(pl.col("len") / pl.col("len_right"))["len"]
    assert (
        celosia.models.DeltaPresence(highest=1, population=half.aside["population"]).value(half.table) == shares.max()
    )
    assert celosia.models.KMap(k=2, population=people_of).value(outcome.table) == 2


def test_subset_by_matching(engine, tmp_path):
    file = tmp_path / "wanted.csv"
    file.write_text("job,age\nnurse,90\n,85\nbishop,41\n")
    table = people(engine)
    assert celosia.protect(table, Subset(matching=str(file))).polars()["who"].to_list() == [1, 3]
    assert celosia.protect(table, Subset(matching=str(file), on=["job"])).polars()["who"].to_list() == [1, 1, 2, 3, 4]
    frame = pl.DataFrame({"age": [30.0]})
    assert celosia.protect(table, Subset(matching=frame)).polars()["who"].to_list() == [1]
    with pytest.raises(DataError, match="none of the 5 records"):
        celosia.protect(table, Subset(matching=pl.DataFrame({"age": [1]})))
    with pytest.raises(DataError, match="no column of this one"):
        celosia.protect(table, Subset(matching=pl.DataFrame({"z": [1]})))
    with pytest.raises(UnknownName, match="no column named 'who'"):
        celosia.protect(table, Subset(matching=frame, on=["who"]))


def test_one_way_only():
    with pytest.raises(ParameterError, match="give one of where, share, size, matching; got none"):
        Subset()
    with pytest.raises(ParameterError, match="give one of share, size; got share, size"):
        Sample(share=0.5, size=3)
    with pytest.raises(ParameterError, match="within needs share"):
        Sample(size=3, within="job")


def many(engine="polars", n=4000, **schema):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"i": range(n), "hh": np.arange(n) // 3, "s": rng.choice(["a", "b"], n, p=[0.9, 0.1]), "w": [2.0] * n}
    )
    return celosia.read(frame, celosia.Schema.of(**schema), engine=engine)


def test_share_is_kept(engine):
    # 4 000 records, share 0.3: sd of the kept share is 0.0072; 0.21 and 0.39 are 12 sd away.
    kept = len(celosia.protect(many(engine), Sample(share=0.3), seed=2)) / 4000
    assert abs(kept - 0.3) < 5 * 0.0072
    assert abs(kept - 0.21) > 5 * 0.0072
    assert abs(kept - 0.39) > 5 * 0.0072


def test_size_is_exact_and_uniform():
    hits = np.zeros(40)
    for seed in range(400):
        kept = celosia.protect(many(n=40), Sample(size=10), seed=seed).polars()["i"].to_numpy()
        assert len(kept) == 10
        hits[kept] += 1
    # Each is kept 100 times in 400, sd 8.7.
    assert np.abs(hits - 100).max() < 4.5 * 8.7


def test_engines_draw_the_same():
    for method in (Sample(share=0.1), Sample(size=50, by="hh"), Sample(share=0.2, within="s"), Subset(size=9)):
        drawn = [celosia.protect(many(e), method, seed=7).polars()["i"].to_list() for e in ("polars", "duckdb")]
        assert drawn[0] == drawn[1]


def test_whole_households():
    kept = celosia.protect(many(), Sample(size=100, by="hh"), seed=1).polars()
    assert kept["hh"].n_unique() == 100
    assert kept.group_by("hh").len()["len"].min() == 3


@pytest.mark.parametrize("share", [0.25, 1 / 3, 0.01, 0.77, 1.0])
def test_strata_are_exact(share):
    table = many()
    kept = celosia.protect(table, Sample(share=share, within="s"), seed=1).polars()
    for stratum, count in table.polars().group_by("s").len().rows():
        assert abs(kept.filter(pl.col("s") == stratum).height - count * share) <= 0.5


def test_weights_expand(engine):
    kept = celosia.protect(many(engine, weight="w"), Sample(share=0.25), seed=1)
    assert set(kept.polars()["w"]) == {8.0}
    plain = celosia.protect(many(engine, weight="w"), Sample(share=0.25, reweigh=False), seed=1)
    assert set(plain.polars()["w"]) == {2.0}


def test_units_without_a_number_are_drawn_alone():
    table = celosia.read(pl.DataFrame({"hh": [None, None, 1, 1, 1]}, schema={"hh": pl.Int64}))
    sizes = {len(celosia.protect(table, Sample(size=1, by="hh"), seed=s)) for s in range(30)}
    assert sizes == {1, 3}


def test_too_many():
    with pytest.raises(ParameterError, match="at most the 5 units there are, got 9"):
        celosia.protect(people(), Sample(size=9))


@pytest.mark.parametrize(
    "method",
    [
        methods.Mask(columns=["job"], keep=2, side="right", width=3),
        methods.Pseudonymise(columns=["job"], key="sixteen bytes or more", length=20),
        methods.Recode(column="age", bins=3, spacing="log", right=True, whole=True, margin=1),
        methods.Recode(column="age", breaks=[1, 2.5], outside="missing", labels=["x"]),
        methods.Recode(column="job", nodes=["1*", "2*"], rest=1),
        methods.Recode(column="job", mapping={"a b": "c, d"}),
        methods.TopCode(columns=["age"], value=90, replacement=91),
        methods.BottomCode(columns=["born"], value="1936-01-01"),
        methods.BottomCode(columns=["age"], quantile=0.05),
        methods.Round(columns=["age"], base=0.5, way="random"),
        methods.ShiftDates(columns=["born"], days=30, by="who", weeks=True),
        methods.SuppressCells(columns=["job"], where="age > 3 AND job = 'x'", fewer_than=3, by="star"),
        methods.Sample(share=0.5, by="hh", within="s", reweigh=False),
        methods.Subset(matching="cohort.csv", on=["who"]),
    ],
    ids=lambda method: method.name,
)
def test_written_down_and_read_back(method):
    assert build("method", method.spec()) == method
    assert build("method", str(method)) == method
