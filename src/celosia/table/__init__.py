"""The table: rows in an engine, the schema that tells what they mean, and what was done to them.

A table is frozen; every change gives a new one. It carries a hidden record id, by which an original and its protected
version are aligned, and never writes it out.
"""

from celosia.classes import STAR
from celosia.data.schema import Kind
from celosia.table.outcome import Outcome
from celosia.table.reading import read, read_protected, read_released
from celosia.table.table import Table

__all__ = ["STAR", "Kind", "Outcome", "Table", "read", "read_protected", "read_released"]
