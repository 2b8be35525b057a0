"""Suggestions: roles, kinds and hierarchies for the columns of a table, each with its reason."""

from __future__ import annotations

from celosia.proposals.columns import lattice_nodes, schema_of, suggest
from celosia.proposals.content import sample_size, separation
from celosia.proposals.first_look import FirstLook, first_look
from celosia.proposals.policy_file import policy_text
from celosia.proposals.purpose import decide, keep_columns, undecided_groups
from celosia.proposals.safe_harbor import safe_harbor
from celosia.proposals.steps import ProposedMethod, needs_method
from celosia.proposals.suggestion import ColumnSuggestion

__all__ = [
    "ColumnSuggestion",
    "FirstLook",
    "ProposedMethod",
    "decide",
    "first_look",
    "keep_columns",
    "lattice_nodes",
    "needs_method",
    "policy_text",
    "safe_harbor",
    "sample_size",
    "schema_of",
    "separation",
    "suggest",
    "undecided_groups",
]
