"""Cards of the columns: contents, proposal and current settings."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.data.schema import Column, Role, Schema
from celosia.errors import InputError
from celosia.proposals import ColumnSuggestion
from celosia.release.policy.policy import Policy
from celosia.studio import toml_edit
from celosia.studio.samples import Samples
from celosia.studio.sketch import Sketch, sketch
from celosia.table.frames import visible_frame

ROLES = ("identifier", "quasi", "sensitive", "insensitive", "person", "household", "weight", "stratum", "")
"""Roles to choose from; the empty one leaves the column out of the release."""


@dataclass(frozen=True)
class Card:
    """A column on the page."""

    name: str
    role: str
    kind: str
    missing: int
    distinct: int
    sketch: Sketch
    proposal: ColumnSuggestion
    column: Column
    """Settings of the policy for the column."""

    @property
    def proposed(self) -> str:
        """Proposed role; empty if the column should be left out."""
        return "" if self.proposal.left_out else str(self.proposal.role)

    @property
    def agrees(self) -> bool:
        """Whether the column has the proposed role."""
        return self.role == self.proposed


@dataclass(frozen=True)
class Cards:
    """All cards, with the number of records and the size of the sample behind the sketches."""

    columns: tuple[Card, ...]
    rows: int
    sampled: int


def cards(policy: Policy, samples: Samples) -> Cards:
    """Return the cards of the input: counts over all records, sketches over a sample."""

    def count_cells() -> dict[str, tuple[int, int]]:
        import polars as pl

        whole = samples.raw(policy)
        frame = visible_frame(whole).lazy()
        names = whole.names
        asked = [pl.col(n).null_count().alias(f"m{i}") for i, n in enumerate(names)]
        asked += [pl.col(n).n_unique().alias(f"d{i}") for i, n in enumerate(names)]
        row = frame.select(asked).collect(engine="streaming").row(0, named=True)
        return {n: (row[f"m{i}"], row[f"d{i}"] - (row[f"m{i}"] > 0)) for i, n in enumerate(names)}

    counts = samples.cached_by_input(policy, "counts", count_cells)
    proposals = samples.proposals(policy)
    seen = samples.sample(policy)
    frame = seen.table.polars()
    schema = seen.table.schema
    columns = tuple(
        Card(
            name=name,
            role=_role(schema, name),
            kind=str(schema[name].kind),
            missing=counts[name][0],
            distinct=counts[name][1],
            sketch=samples.cached_by_input(policy, f"sketch {name}", lambda name=name: sketch(frame[name])),  # type: ignore[misc]
            proposal=proposals[name],
            column=schema[name],
        )
        for name in seen.table.names
    )
    return Cards(columns, seen.rows, seen.size)


def apply_cleaning(text: str, policy: Policy, samples: Samples, column: str, key: str) -> str:
    """Return the policy with a proposed cleaning; its values come from the proposal, not from the browser."""
    for untidy in samples.proposals(policy)[column].untidy:
        if untidy.key != key:
            continue
        if key == "strip":
            return toml_edit.append(text, ("input", "clean", "strip"), column)
        return toml_edit.set_value(text, ("input", "clean", key, column), untidy.spellings or list(untidy.codes))
    raise InputError("this proposal no longer exists.")


def _role(schema: Schema, name: str) -> str:
    """Return the role of a column; empty if the policy does not declare it."""
    column = schema[name]
    if not column.declared:
        return ""
    return next((role for role in ROLES if role and Role(role) in column.roles), "")
