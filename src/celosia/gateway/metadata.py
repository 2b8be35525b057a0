"""Declaration of a data set by its owner: bounds, categories, persons, joins and the budget.

Everything here is public. The gateway relies on nothing else: a column that is not declared cannot be queried, a value
outside its declared bounds is moved to the nearest bound, a value outside its declared categories counts as missing.
"""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from celosia import files
from celosia.errors import InputError, Message, PolicyError, UnknownName
from celosia.kernels.budget.cost import Cost, Measure
from celosia.kernels.budget.neighbours import Neighbours

LARGEST = 1e15
"""Bounds beyond this would leave the numbers that a double holds exactly."""


class Declared(BaseModel):
    """A frozen declaration that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ColumnFacts(Declared):
    """One column: its type and, for sums and GROUP BY, its bounds or categories."""

    type: Literal["integer", "number", "text", "boolean", "date"]
    bounds: tuple[float, float] | None = Field(default=None, description="smallest and largest value")
    categories: tuple[str | int, ...] | None = Field(default=None, description="all values there can be")
    unit: float | None = Field(default=None, gt=0, description="resolution of sums; 1 for integers")

    @field_validator("bounds")
    @classmethod
    def _finite(cls, bounds: tuple[float, float] | None) -> tuple[float, float] | None:
        if bounds is not None:
            low, high = bounds
            if not (math.isfinite(low) and math.isfinite(high) and low <= high and max(-low, high) <= LARGEST):
                raise ValueError(f"bounds must be two finite numbers of at most {LARGEST:g}, the smaller first")
        return bounds

    @model_validator(mode="after")
    def _fits(self) -> ColumnFacts:
        if self.bounds is not None and self.type not in ("integer", "number"):
            raise ValueError(f"bounds belong to numbers, not to the type {self.type}")
        if self.categories is not None and self.type not in ("integer", "text"):
            raise ValueError(f"categories belong to text or integers, not to the type {self.type}")
        if self.categories is not None and not self.categories:
            raise ValueError("categories must name at least one value")
        if self.type == "text" and any(not isinstance(value, str) for value in self.categories or ()):
            raise ValueError("the categories of a text column are texts")
        if self.type == "integer" and any(not isinstance(value, int) for value in self.categories or ()):
            raise ValueError("the categories of an integer column are whole numbers")
        if any(isinstance(value, int) and abs(value) > LARGEST for value in self.categories or ()):
            raise ValueError(f"categories are whole numbers of at most {LARGEST:g}")
        if self.type == "integer" and self.bounds and math.ceil(self.bounds[0]) > math.floor(self.bounds[1]):
            raise ValueError("there is no whole number between the bounds")
        return self

    def values(self, most: int) -> tuple[str | int | bool, ...] | None:
        """Return all values the column can take when they are public and at most ``most``, otherwise None.

        >>> ColumnFacts(type="integer", bounds=(17, 19)).values(100)
        (17, 18, 19)
        """
        if self.categories is not None:
            return self.categories
        if self.type == "boolean":
            return (False, True)
        if self.type == "integer" and self.bounds is not None:
            low, high = math.ceil(self.bounds[0]), math.floor(self.bounds[1])
            return tuple(range(low, high + 1)) if 0 <= high - low < most else None
        return None


class TableFacts(Declared):
    """One table: its source, the column that identifies persons, and its columns."""

    source: str = Field(
        default="", description="file for DuckDB, or name in the database; the table's own name if empty"
    )
    person: str | None = Field(
        default=None, description="column that identifies the person of a row; none: each row is a person"
    )
    unique: bool = Field(default=False, description="each person has one row (checked when the gateway starts)")
    rows: int = Field(default=1, ge=1, le=10_000, description="most rows that one person contributes to an answer")
    size: int = Field(
        default=10_000,
        ge=1,
        le=10**9,
        description="most rows of the table; answers that sort them wait longer the larger it is",
    )
    public: bool = Field(default=False, description="holds no personal data, such as a list of regions")
    keys: tuple[str, ...] = Field(default=(), description="columns that are unique by themselves (checked)")
    columns: dict[str, ColumnFacts]

    @model_validator(mode="after")
    def _fits(self) -> TableFacts:
        named = {name.lower() for name in self.columns}
        if len(named) != len(self.columns):
            raise ValueError("two columns differ by upper and lower case only")
        for name in ([self.person] if self.person else []) + list(self.keys):
            if name not in self.columns:
                raise ValueError(f"the column {name!r} is named but not declared")
        if self.public and self.person:
            raise ValueError("a public table has no person column")
        if self.rows > 1 and (self.person is None or self.unique):
            raise ValueError("rows > 1 needs a person column whose persons own several rows")
        return self


class JoinFacts(Declared):
    """Two columns along which tables may be joined, written ``table.column``."""

    left: str
    right: str


class ShareFacts(Declared):
    """Budget that an analyst (or each, ``*``) may spend in a period."""

    analyst: str = "*"
    period: Literal["life", "year", "month", "day"] = "life"
    epsilon: float | None = Field(default=None, gt=0)
    rho: float | None = Field(default=None, gt=0)
    delta: float = Field(default=0.0, ge=0, lt=1)


class DatasetFacts(Declared):
    """A data set: its tables, its neighbouring relation, and the budget that binds for good."""

    name: str = Field(min_length=1, max_length=100)
    database: str = Field(
        default="duckdb", description="duckdb (over files), or a URL: duckdb:///, sqlite:///, postgresql://"
    )
    neighbours: Neighbours = "add-remove"
    epsilon: float | None = Field(default=None, gt=0, description="lifetime total")
    delta: float = Field(default=0.0, ge=0, lt=1, description="lifetime total of delta")
    rho: float | None = Field(default=None, gt=0, description="lifetime total in zCDP, instead of epsilon")
    minimum_cost: float | None = Field(
        default=None,
        gt=0,
        description="smallest epsilon (or rho) of a query; 0.0001, or a 10 000th of a total below 1, if not given",
    )
    seconds: float = Field(
        default=60.0, gt=0, le=86_400, description="time limit of each statement in the database; beyond it no answer"
    )
    tables: dict[str, TableFacts]
    joins: tuple[JoinFacts, ...] = ()
    shares: tuple[ShareFacts, ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> DatasetFacts:
        if (self.epsilon is None) == (self.rho is None):
            raise ValueError("state the lifetime total as epsilon or as rho (zCDP)")
        if not self.tables or all(table.public for table in self.tables.values()):
            raise ValueError("declare at least one table with personal data")
        for join in self.joins:
            for side in (join.left, join.right):
                table, _, column = side.partition(".")
                if table not in self.tables or column not in self.tables[table].columns:
                    raise ValueError(f"the join names {side!r}, which is not a declared table.column")
            left, right = (self.column(side).type for side in (join.left, join.right))
            if left != right:
                raise ValueError(
                    f"a join pairs columns of one type, but {join.left!r} is {left} and {join.right!r} is {right}"
                )
        return self

    @property
    def measure(self) -> Measure:
        """Measure in which privacy loss is counted."""
        return "zcdp" if self.rho is not None else "approximate" if self.delta > 0 else "pure"

    @property
    def least_cost(self) -> float:
        """Smallest epsilon (or rho) of a query, so that repeating one is never free."""
        return self.minimum_cost if self.minimum_cost is not None else 1e-4 * min(1.0, self.budget.loss)

    @property
    def budget(self) -> Cost:
        """Lifetime total."""
        return self.cost(self.epsilon, self.rho, self.delta)

    def cost(self, epsilon: float | None, rho: float | None, delta: float = 0.0, shares: int = 1) -> Cost:
        """Return a cost in this data set's measure: in epsilon, or in rho where it counts in zCDP."""
        loss, other, name = (rho, epsilon, "rho") if self.measure == "zcdp" else (epsilon, rho, "epsilon")
        if loss is None or other is not None:
            raise InputError(
                "the data set {dataset!r} counts its budget in {measure}: state the cost as {measure}.",
                dataset=self.name,
                measure=Message(name),
            )
        if delta and self.measure == "pure":
            raise InputError(
                "the data set {dataset!r} promises pure epsilon-differential privacy: there is no delta to spend.",
                dataset=self.name,
            )
        return Cost.of(self.measure, loss, delta, shares=shares)

    @classmethod
    def load(cls, path: str | Path) -> DatasetFacts:
        """Read a declaration from a TOML file; file sources are relative to it."""
        path = Path(path)
        try:
            data = files.toml_document(files.text(path))
        except FileNotFoundError:
            raise InputError(f"there is no file {path}.") from None
        except OSError as problem:
            raise InputError(f"cannot read the data set {str(path)!r}: {problem.strerror}.") from None
        except ValueError as problem:
            raise PolicyError(f"{path.name} is not a TOML file: {problem}.") from None
        facts = cls.of(data)
        if facts.database != "duckdb":
            return facts
        tables = {
            name: table.model_copy(update={"source": str(path.parent / (table.source or f"{name}.csv"))})
            for name, table in facts.tables.items()
        }
        return facts.model_copy(update={"tables": tables})

    @classmethod
    def of(cls, data: object) -> DatasetFacts:
        """Validate a declaration given as plain data.

        >>> DatasetFacts.of({"name": "d", "epsilon": 1, "tables": {"t": {"columns": {"a": {"type": "text"}}}}}).measure
        'pure'
        """
        try:
            return cls.model_validate(data)
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            message = str(first.get("ctx", {}).get("error", first["msg"]))
            raise PolicyError(f"the declaration of the data set is wrong at {where or 'the top'}: {message}.") from None

    def table(self, name: str) -> tuple[str, TableFacts]:
        """Return the declared table of a name in any case."""
        for declared, facts in self.tables.items():
            if declared.lower() == name.lower():
                return declared, facts
        raise UnknownName.of("table in this data set", name, self.tables)

    def column(self, name: str) -> ColumnFacts:
        """Return the declared column of a ``table.column`` name."""
        table, _, column = name.partition(".")
        return self.tables[table].columns[column]

    def can_join(self, left: str, right: str) -> bool:
        """Return whether two ``table.column`` names may be joined."""
        return any({left, right} == {join.left, join.right} for join in self.joins)


def is_date(text: str) -> bool:
    """Return whether a text is a day written as year-month-day.

    >>> is_date("2026-11-15"), is_date("yesterday")
    (True, False)
    """
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10
