"""What a part needs in memory is compared with the memory that was given, before the work starts."""

import polars as pl
import pytest

import celosia
from celosia.data.memory import bytes_of
from celosia.errors import DataError
from celosia.parts import build
from celosia.release.policy.feasibility import refuse_beyond, required_bytes

SCHEMA = celosia.Schema.of(quasi=["pay", "age"], sensitive=["ill"])


class Long(celosia.Table):
    """A table that says that it has so many rows."""

    def __len__(self) -> int:
        return 100_000_000


@pytest.fixture(params=["polars", "duckdb"])
def table(request, tmp_path):
    path = tmp_path / "people.parquet"
    pl.DataFrame({"pay": [1.0, 2.0], "age": [30, 40], "ill": ["a", "b"]}).write_parquet(path)

    def read(memory):
        rows = celosia.read(path, SCHEMA, engine=request.param, memory=memory).rows
        return Long(rows)

    return read


def test_a_method_that_needs_more_than_the_memory_is_refused(table):
    # 10^8 rows of one column, 64 bytes a cell: 6.4 GB
    swap = build("method", "rank-swap(columns=[pay], window=0.1)")
    assert required_bytes(swap, table(None)) == 6_400_000_000
    told = (
        r"rank-swap needs whole columns in memory: about 7GB for 100000000 rows, and memory is 1GB. Give memory = '7GB'"
    )
    with pytest.raises(DataError, match=told) as caught:
        refuse_beyond(table("1GB"), [swap])
    assert "in-blocks(method=rank-swap" in str(caught.value)
    assert "use the engine" not in str(caught.value), "another engine has no more memory"
    refuse_beyond(table("7GB"), [swap])
    refuse_beyond(table(None), [swap])


def test_what_needs_only_combinations_is_not_refused(table):
    parts = [build("method", "generalise(require=k-anonymity(k=5))"), build("risk", "prosecutor")]
    refuse_beyond(table("256MB"), parts)
    with pytest.raises(DataError, match="homogeneity needs whole columns in memory"):
        refuse_beyond(table("256MB"), [*parts, build("risk", "homogeneity")])


def test_a_measure_needs_the_quasi_identifiers(table):
    homogeneity = build("risk", "homogeneity")
    assert required_bytes(homogeneity, table(None)) == 2 * 6_400_000_000
    with pytest.raises(DataError, match=r"measure one that needs no more than combinations: .*prosecutor"):
        refuse_beyond(table("1GB"), [homogeneity])


def test_what_names_no_column_needs_one_at_least(tmp_path):
    pl.DataFrame({"pay": [1.0, 2.0]}).write_parquet(tmp_path / "pay.parquet")
    rows = celosia.read(tmp_path / "pay.parquet", celosia.Schema.of(sensitive=["pay"])).rows
    assert required_bytes(build("risk", "homogeneity"), Long(rows)) == 6_400_000_000


def test_no_attack_does_with_less_so_memory_is_asked_for(table):
    with pytest.raises(DataError, match=r"about 13GB .* Give memory = '13GB' or more; or work on a sample"):
        refuse_beyond(table("1GB"), [build("attack", "distance-linkage")])


def test_the_advice_can_be_followed():
    assert bytes_of("7GB") >= 6_400_000_000
