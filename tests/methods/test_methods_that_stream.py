"""Methods that change a table in its engine give what they give in memory, to the last digit."""

import math
import sys

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import CelosiaError
from celosia.methods.noise.noise import exact_moments, exact_sum
from celosia.parts import build
from celosia.table.derive import with_record_ids

STREAMED = (
    "suppress-records(require=k-anonymity(k=4))",
    "suppress-records(require=[k-anonymity(k=3), l-diversity(l=2)], blank=true)",
    "suppress-records(require=k-anonymity(k=4), drop=true)",
    "noise(columns=[pay, age], p=0.3)",
    "noise(columns=[pay], p=0.3, keep_zeros=true)",
    "pram(columns=[area], diagonal=0.6)",
    "pram(columns=[area, ill], diagonal=0.5, within=[sex])",
)


def people(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    pay = np.where(rng.random(rows) < 0.2, 0.0, rng.lognormal(9, 1, rows))
    return pl.DataFrame(
        {
            "who": [f"p{n}" if n else None for n in rng.integers(0, rows // 2, rows)],
            "sex": pl.Series(["F", "M", None]).gather(rng.integers(0, 3, rows)),
            "age": pl.Series(rng.integers(20, 40, rows), dtype=pl.Int16),
            "area": pl.Series(["N", "S", "W", None]).gather(rng.integers(0, 4, rows)),
            "ill": rng.choice(["flu", "cold", "gout"], rows, p=[0.7, 0.2, 0.1]),
            "pay": pl.Series(pay).set(pl.Series(rng.random(rows) < 0.1), None),
        }
    )


def schema(**more) -> celosia.Schema:
    return celosia.Schema.of(
        quasi=["sex", "age", "area"], sensitive=["ill"], insensitive=["pay"], bounds={"age": (0, 60)}, **more
    )


def outcome(table, method):
    done = celosia.protect(table, method, seed=3)
    told = {name: value for name, value in done.history[-1].items() if name != "seconds"}
    return done.polars(), told, [secret.get("matrices") for secret in done.private_history]


@pytest.mark.on_spark(long=True)
@pytest.mark.parametrize("text", STREAMED)
def test_in_the_engine_as_in_memory(text, engine, tmp_path):
    method = build("method", text)
    people().write_parquet(tmp_path / "people.parquet")
    described = schema(person="who") if text.startswith("suppress") else schema()
    table = celosia.read(tmp_path / "people.parquet", described, engine=engine)
    assert table.counts.frame is None
    assert not method.needs_memory(table.schema)
    cells, told, secret = outcome(table, method)
    expected, told_before, secret_before = outcome(celosia.read(people(), described), method)
    if engine == "spark":  # it keeps no whole numbers of 16 bits through text
        cells = cells.cast(expected.schema)
    assert cells.equals(expected)
    assert (told, secret) == (told_before, secret_before)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("noise(columns=[area])", "column 'area' holds text or dates"),
        ("noise(columns=[flag])", "holds true and false"),
        ("noise(columns=[same])", "is constant"),
        ("noise(columns=[empty])", "has no values"),
        ("noise(columns=[endless])", "infinite"),
        ("suppress-records(require=average-risk(risk=0.1))", "judges the whole file"),
    ],
)
def test_refused_alike(text, told, tmp_path):
    frame = people().with_columns(
        flag=pl.lit(value=True), same=pl.lit(1.0), empty=pl.lit(None, pl.Float64), endless=pl.lit(float("inf"))
    )
    frame.write_parquet(tmp_path / "people.parquet")
    for source in (frame, tmp_path / "people.parquet"):
        with pytest.raises(CelosiaError, match=told):
            celosia.protect(celosia.read(source, schema()), text, seed=1)


def test_where_all_classes_violate_the_suppressed_must_meet_the_requirement(tmp_path):
    frame = pl.DataFrame({"age": [30, 31, 32]})
    frame.write_parquet(tmp_path / "people.parquet")
    described = celosia.Schema.of(quasi=["age"])
    for source in (frame, tmp_path / "people.parquet"):
        table = celosia.read(source, described)
        assert celosia.protect(table, "suppress-records(require=k-anonymity(k=3))").suppressed() == 3
        with pytest.raises(CelosiaError, match="only suppressed records would be left"):
            celosia.protect(table, "suppress-records(require=k-anonymity(k=4))")


def test_an_exact_sum_knows_no_order():
    rng = np.random.default_rng(1)
    values = rng.normal(size=2000) * 10.0 ** rng.integers(-200, 200, 2000)
    assert exact_sum(values) == exact_sum(values[::-1]) == exact_sum(values[:700]) + exact_sum(values[700:])
    assert float(exact_sum(values)) == math.fsum(values)
    assert exact_sum(np.array([5e-324, -5e-324, 2.0])) == 2
    numbers = rng.normal(1e6, 1e-3, 5000)
    cut = exact_moments(lambda: [numbers[3000:], numbers[:3000]])
    assert cut == exact_moments(lambda: [numbers])
    assert cut.variance == pytest.approx(np.var(numbers), rel=1e-12)


@pytest.mark.parametrize("text", STREAMED)
def test_no_whole_column_is_collected(text, tmp_path, monkeypatch):
    from celosia.data.engines.polars import Polars

    collect, heights = Polars.collect, []

    def counting(self, frame):
        frame = collect(self, frame)
        heights.append(len(frame))
        return frame

    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    monkeypatch.setattr(Polars, "collect", counting)
    people(600).write_parquet(tmp_path / "people.parquet")
    table = with_record_ids(celosia.read(tmp_path / "people.parquet", schema()))
    from celosia.streams import Stream

    build("method", text).apply(table, Stream(1))
    assert max(heights) < 600
