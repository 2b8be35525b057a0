"""A card for every column: what it holds, what is proposed for it, what it is now."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.data.schema import Column, Role, Schema
from celosia.errors import InputError
from celosia.proposals import ColumnSuggestion
from celosia.release.policy.policy import Policy
from celosia.studio import editing
from celosia.studio.preview import Samples
from celosia.studio.sketch import Sketch, sketch

ROLES = ("identifier", "quasi", "sensitive", "insensitive", "person", "household", "weight", "stratum", "")
"""The roles that a click gives; the last leaves the column out of the release."""


@dataclass(frozen=True)
class Card:
    """What a page shows of a column."""

    name: str
    role: str
    kind: str
    missing: int
    distinct: int
    sketch: Sketch
    proposal: ColumnSuggestion
    column: Column
    """What the policy says about it."""

    @property
    def proposed(self) -> str:
        """The role that is proposed; empty where it is better left out."""
        return "" if self.proposal.left_out else str(self.proposal.role)

    @property
    def agrees(self) -> bool:
        """Whether the column has the proposed role."""
        return self.role == self.proposed


@dataclass(frozen=True)
class Cards:
    """The cards, and how much of the data each number rests on."""

    columns: tuple[Card, ...]
    rows: int
    sampled: int


def cards(policy: Policy, samples: Samples) -> Cards:
    """The cards of the input: counts over all records, pictures over a sample."""

    def counted() -> dict[str, tuple[int, int]]:
        import polars as pl

        whole = samples.raw(policy)
        frame = whole.visible().lazy()
        names = whole.names
        asked = [pl.col(n).null_count().alias(f"m{i}") for i, n in enumerate(names)]
        asked += [pl.col(n).n_unique().alias(f"d{i}") for i, n in enumerate(names)]
        row = frame.select(asked).collect(engine="streaming").row(0, named=True)
        return {n: (row[f"m{i}"], row[f"d{i}"] - (row[f"m{i}"] > 0)) for i, n in enumerate(names)}

    counts = samples.read_once(policy, "counts", counted)
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
            sketch=samples.read_once(policy, f"sketch {name}", lambda name=name: sketch(frame[name])),  # type: ignore[misc]
            proposal=proposals[name],
            column=schema[name],
        )
        for name in seen.table.names
    )
    return Cards(columns, seen.rows, seen.size)


def cleaned(text: str, policy: Policy, samples: Samples, column: str, key: str) -> str:
    """The policy with a proposed cleaning of a column; its values are taken from here, not from the browser."""
    for untidy in samples.proposals(policy)[column].untidy:
        if untidy.key != key:
            continue
        if key == "strip":
            return editing.append(text, ("input", "clean", "strip"), column)
        return editing.put(text, ("input", "clean", key, column), untidy.spellings or list(untidy.codes))
    raise InputError("there is no such proposal any more.")


def _role(schema: Schema, name: str) -> str:
    """The one role that a card shows; none for a column that the policy does not name."""
    column = schema[name]
    if not column.declared:
        return ""
    return next((role for role in ROLES if role and Role(role) in column.roles), "")
