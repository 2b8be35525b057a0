"""The lecture's table ``person``: UCI Adult with invented names, plain and behind the gateway."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.errors import DataError

if TYPE_CHECKING:
    from celosia.gateway.gateway import Gateway

ROWS = 32_561
NAMES = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital",
    "occupation",
    "relationship",
    "race",
    "sex",
    "gain",
    "loss",
    "hours",
    "country",
    "target",
]
EDUCATION = [
    "10th",
    "11th",
    "12th",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "Assoc-acdm",
    "Assoc-voc",
    "Bachelors",
    "Doctorate",
    "HS-grad",
    "Masters",
    "Preschool",
    "Prof-school",
    "Some-college",
]


@dataclass(frozen=True)
class People:
    """The table in a file, and plain SQL over it: what the attacker has without a gateway."""

    path: Path

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        """Answer exactly, as an unprotected database does."""
        import duckdb

        text = str(self.path).replace("'", "''")
        return list(duckdb.sql(query.replace("FROM person", f"FROM '{text}'")).fetchall())


def people(data: Path, place: Path) -> People:
    """Read ``adult.data`` and give the first person the name of the lecture's victim."""
    import polars as pl

    try:
        frame = pl.read_csv(data, has_header=False, new_columns=NAMES, ignore_errors=False, glob=False)
    except (OSError, pl.exceptions.PolarsError):
        raise DataError(f"{Path(data).name} cannot be read as the UCI file adult.data.") from None
    text = [name for name, kind in frame.schema.items() if kind == pl.String]
    frame = frame.with_columns(pl.col(text).str.strip_chars()).filter(pl.col("age").is_not_null())
    if "education_num" in text:  # the file has a space after each comma
        frame = frame.with_columns(pl.col("education_num").cast(pl.Int64))
    if len(frame) != ROWS or frame.width != len(NAMES):
        raise DataError(f"the lecture's numbers belong to adult.data with {ROWS} rows; this file has {len(frame)}.")
    number = pl.int_range(pl.len())
    name = pl.when(number == 0).then(pl.lit("Alan Brito")).otherwise(pl.format("Person {}", number))
    frame.with_columns(name.alias("name")).write_parquet(place / "person.parquet")
    return People(place / "person.parquet")


def gateway(table: People, place: Path) -> Gateway:
    """Return a gateway to the table, with a budget that is enough for the demonstrations."""
    from celosia.gateway.gateway import Gateway
    from celosia.gateway.ledger import Ledger
    from celosia.gateway.metadata import DatasetFacts

    columns = {
        "name": {"type": "text"},
        "age": {"type": "integer", "bounds": [17, 90]},
        "education": {"type": "text", "categories": EDUCATION},
        "sex": {"type": "text", "categories": ["Female", "Male"]},
        "target": {"type": "text", "categories": ["<=50K", ">50K"]},
    }
    tables = {"person": {"source": str(table.path), "columns": columns}}
    facts = DatasetFacts.of({"name": "lecture", "epsilon": 5000.0, "tables": tables})
    return Gateway(facts, Ledger.create(place / "ledger.db"), grid=0)
