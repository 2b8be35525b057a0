"""Schema of a table: roles, kinds, bounds, treatment of missing values and hierarchies of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from celosia.errors import SchemaError, UnknownName, suggestion
from celosia.show.blocks import Block, Shown, column_block

if TYPE_CHECKING:
    from celosia.hierarchy import Hierarchy


class Role(StrEnum):
    """Role of a column for disclosure and for statistics. A column may have several."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    WEIGHT = "weight"
    HOUSEHOLD = "household"
    STRATUM = "stratum"
    PERSON = "person"


class Kind(StrEnum):
    """Kind of the values of a column."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    DATE = "date"
    TEXT = "text"
    """Free text: left out of a release unless a step overwrites it."""


class Missing(StrEnum):
    """Treatment of a missing value of a quasi-identifier when records are compared."""

    CATEGORY = "category"
    WILDCARD = "wildcard"
    CONSERVATIVE = "conservative"


_Choice = TypeVar("_Choice", bound=StrEnum)
NAMING = frozenset({Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD})
"""Roles of columns that identify a person by themselves."""
SINGLE = (Role.WEIGHT, Role.HOUSEHOLD, Role.STRATUM, Role.PERSON)


@dataclass(frozen=True)
class Column:
    """Column with its roles and the declarations about its values."""

    name: str
    roles: frozenset[Role] = frozenset()
    kind: Kind | None = None
    bounds: tuple[float, float] | None = None
    missing: Missing = Missing.CATEGORY
    hierarchy: Any = None
    hierarchy_from_data: bool = False
    """Whether the hierarchy was built from the values of the table."""
    order: tuple[str, ...] = ()
    declared: bool = True
    """False for a column that the schema does not name; it is left out of a release."""

    @property
    def value_order(self) -> tuple[str, ...]:
        """Declared order of the values of an ordinal column; empty for other columns."""
        return self.order if self.kind == Kind.ORDINAL else ()


@dataclass(frozen=True, repr=False)
class Schema(Shown):
    """Columns of a table. Construct it with :meth:`Schema.of`."""

    columns: tuple[Column, ...] = ()
    rest: Literal["insensitive", "error"] = "insensitive"
    _index: dict[str, Column] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._index.update({column.name: column for column in self.columns})

    @classmethod
    def of(
        cls,
        *,
        identifiers: Sequence[str] = (),
        quasi: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        insensitive: Sequence[str] = (),
        weight: str | None = None,
        household: str | None = None,
        stratum: str | None = None,
        person: str | None = None,
        rest: Literal["insensitive", "error"] = "insensitive",
        kinds: Mapping[str, str] | None = None,
        bounds: Mapping[str, Sequence[float]] | None = None,
        missing: Mapping[str, str] | str | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        orders: Mapping[str, Sequence[str]] | None = None,
    ) -> Schema:
        """Describe a table by naming its columns.

        ``rest="error"`` refuses a table that has a column without a role. ``missing`` is the treatment of missing
        values by quasi-identifier, or one for all of them (``missing="wildcard"``).

        >>> schema = Schema.of(identifiers=["name"], quasi=["age", "zip"], sensitive=["disease"])
        >>> schema.quasi
        ('age', 'zip')
        """
        if isinstance(missing, str):
            missing = dict.fromkeys(quasi, missing)
        roles: dict[str, set[Role]] = {}
        lists = {
            Role.IDENTIFIER: identifiers,
            Role.QUASI: quasi,
            Role.SENSITIVE: sensitive,
            Role.INSENSITIVE: insensitive,
        }
        for role, names in lists.items():
            for name in _names(role, names):
                roles.setdefault(name, set()).add(role)
        for role, single in zip(SINGLE, (weight, household, stratum, person), strict=True):
            if single is not None:
                roles.setdefault(single, set()).add(role)
        if rest not in ("insensitive", "error"):
            raise SchemaError(f"rest must be 'insensitive' or 'error', got {rest!r}.")
        facts = {"kinds": kinds, "bounds": bounds, "missing": missing, "hierarchies": hierarchies, "orders": orders}
        for mapping in facts.values():
            for name in mapping or {}:
                roles.setdefault(name, set())
        for name in quasi:
            if (kinds or {}).get(name) == Kind.TEXT:
                raise SchemaError(
                    f"column {name!r} is of kind text, which is no quasi-identifier: name it under identifiers or "
                    "insensitive, or give it another kind."
                )
        columns = tuple(
            Column(
                name=name,
                roles=frozenset(own or {Role.INSENSITIVE}),
                kind=_enum(Kind, "kind", name, (kinds or {}).get(name)),
                bounds=_bounds(name, (bounds or {}).get(name)),
                missing=_enum(Missing, "missing", name, (missing or {}).get(name)) or Missing.CATEGORY,
                hierarchy=(hierarchies or {}).get(name),
                order=tuple(map(str, (orders or {}).get(name, ()))),
            )
            for name, own in roles.items()
        )
        return cls(columns, rest)

    def __repr__(self) -> str:
        arguments = self.spec() | {
            "bounds": {c.name: c.bounds for c in self.columns if c.bounds is not None},
            "hierarchies": {c.name: c.hierarchy for c in self.columns if c.hierarchy is not None},
            "orders": {c.name: list(c.order) for c in self.columns if c.order},
        }
        return f"Schema.of({', '.join(f'{name}={value!r}' for name, value in arguments.items() if value)})"

    def blocks(self) -> list[Block]:
        """Return the table of columns with their roles, kinds and hierarchies."""
        return [column_block(self.columns)]

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __getitem__(self, name: str) -> Column:
        """Return a column by its name."""
        if name not in self._index:
            raise UnknownName.of("column", name, self._index)
        return self._index[name]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All column names in order."""
        return tuple(column.name for column in self.columns)

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Names of the columns with a role."""
        return tuple(column.name for column in self.columns if role in column.roles)

    @cached_property
    def identifiers(self) -> tuple[str, ...]:
        """Columns that name a person by themselves."""
        return self.with_role(Role.IDENTIFIER)

    @cached_property
    def naming(self) -> tuple[str, ...]:
        """Columns that identify a record by themselves: identifiers, ids of persons and of households."""
        return tuple(column.name for column in self.columns if column.roles & NAMING)

    @cached_property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """Declared orders of the values of ordinal columns."""
        return {column.name: column.value_order for column in self.columns if column.value_order}

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """Columns whose combination may identify a person."""
        return self.with_role(Role.QUASI)

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """Columns whose values must not be inferred."""
        return self.with_role(Role.SENSITIVE)

    @cached_property
    def insensitive(self) -> tuple[str, ...]:
        """Columns that are declared to be released as they are."""
        return tuple(name for name in self.with_role(Role.INSENSITIVE) if self[name].declared)

    @cached_property
    def weight(self) -> str | None:
        """Column of sampling weights."""
        return next(iter(self.with_role(Role.WEIGHT)), None)

    @cached_property
    def household(self) -> str | None:
        """Column of household ids."""
        return next(iter(self.with_role(Role.HOUSEHOLD)), None)

    @cached_property
    def stratum(self) -> str | None:
        """Column of strata."""
        return next(iter(self.with_role(Role.STRATUM)), None)

    @cached_property
    def person(self) -> str | None:
        """Column of person ids, if a person may have several rows."""
        return next(iter(self.with_role(Role.PERSON)), None)

    def need_quasi(self) -> tuple[str, ...]:
        """Return the quasi-identifiers; raise if none is declared."""
        if not self.quasi:
            raise SchemaError("no quasi-identifier is declared: name at least one column under `quasi`.")
        return self.quasi

    def need_sensitive(self, column: str | None = None) -> tuple[str, ...]:
        """Return the given column, or all sensitive ones; raise if there is none."""
        if column is not None:
            return (self[column].name,)
        if not self.sensitive:
            raise SchemaError(
                "the table has no sensitive column: name one under `sensitive` or give `column`. If a step took it out "
                "(anatomise, drop), its values are not in the classes: leave out what counts them, such as l-diversity "
                "and homogeneity."
            )
        return self.sensitive

    def hierarchy(self, name: str) -> Hierarchy | None:
        """Return the hierarchy that is declared for a column."""
        declared = self[name].hierarchy
        if declared is None:
            return None
        from celosia.hierarchy import hierarchy

        return hierarchy(declared)

    def reading(self) -> Missing:
        """Return the treatment of missing values of all quasi-identifiers that do not treat them as a category."""
        readings = {self[name].missing for name in self.quasi} - {Missing.CATEGORY}
        if len(readings) > 1:
            raise SchemaError("missing: 'wildcard' and 'conservative' cannot be mixed over the quasi-identifiers.")
        return next(iter(readings), Missing.CATEGORY)

    def bind(self, types: Mapping[str, Kind]) -> Schema:
        """Complete the schema for a table: check the names, add the other columns and the kinds."""
        unknown = [name for name in self.names if name not in types]
        if unknown:
            raise SchemaError(f"the table has no column {unknown[0]!r}.{suggestion(unknown[0], types)}")
        extra = [name for name in types if name not in self]
        if extra and self.rest == "error":
            raise SchemaError(f"{len(extra)} columns have no role, the first is {extra[0]!r}; name them or drop them.")
        columns = [
            self[name] if name in self else Column(name, frozenset({Role.INSENSITIVE}), declared=False)
            for name in types
        ]
        return Schema(tuple(replace(c, kind=c.kind or types[c.name]) for c in columns), self.rest)

    def keep(self, names: Iterable[str]) -> Schema:
        """Return the schema of a table with these columns only."""
        wanted = set(names)
        return Schema(tuple(column for column in self.columns if column.name in wanted), self.rest)

    def change(self, name: str, **facts: object) -> Schema:
        """Return a copy of the schema in which the given attributes of one column are replaced."""
        changes: dict[str, Any] = facts
        changed = replace(self[name], **changes)
        return Schema(tuple(changed if c.name == name else c for c in self.columns), self.rest)

    def loose(self) -> Schema:
        """Return a schema without kinds, for a protected table, whose types may have changed."""
        return Schema(tuple(replace(c, kind=None) for c in self.columns), self.rest)

    def spec(self) -> dict[str, object]:
        """Return the declared columns as plain data of a policy, without hierarchies and bounds."""
        declared = [column for column in self.columns if column.declared]
        lists = {
            "identifiers": [c.name for c in declared if Role.IDENTIFIER in c.roles],
            "quasi": [c.name for c in declared if Role.QUASI in c.roles],
            "sensitive": [c.name for c in declared if Role.SENSITIVE in c.roles],
            "insensitive": [c.name for c in declared if Role.INSENSITIVE in c.roles],
        }
        singles = {str(role): name for role in SINGLE if (name := next(iter(self.with_role(role)), None))}
        kinds = {c.name: str(c.kind) for c in declared if c.kind}
        missing = {c.name: str(c.missing) for c in declared if c.missing != Missing.CATEGORY}
        return {
            **{k: v for k, v in lists.items() if v},
            **singles,
            "kinds": kinds,
            **({"missing": missing} if missing else {}),
        }


def _names(role: Role, names: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str):
        raise SchemaError(f"{role}: a list of column names is needed, got the text {names!r}.")
    return names


def _enum(enum: type[_Choice], what: str, name: str, value: str | None) -> _Choice | None:
    if value is None:
        return None
    try:
        return enum(value)
    except ValueError:
        allowed = ", ".join(enum)
        raise SchemaError(f"{what} of column {name!r} must be one of {allowed}, got {value!r}.") from None


def _bounds(name: str, value: Sequence[float] | None) -> tuple[float, float] | None:
    if value is None:
        return None
    if len(value) != 2 or not value[0] <= value[1]:
        raise SchemaError(f"bounds of column {name!r} must be two numbers, the smaller first, got {list(value)!r}.")
    return (float(value[0]), float(value[1]))
