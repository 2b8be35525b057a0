"""Suggestions: roles, kinds and hierarchies for the columns of a table, each with its reason."""

from __future__ import annotations

from celosia.suggest.content import separation
from celosia.suggest.policy_file import policy_text
from celosia.suggest.proposals import ColumnSuggestion, schema_of, suggest
from celosia.suggest.safe_harbor import safe_harbor

__all__ = ["ColumnSuggestion", "policy_text", "safe_harbor", "schema_of", "separation", "suggest"]
