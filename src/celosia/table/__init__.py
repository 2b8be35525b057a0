"""Tables: rows in an engine, with their schema and the steps that were applied.

A table is frozen; every change returns a new one. It has hidden record ids, which align an original and its protected
version and are never written.
"""

from celosia.classes import STAR
from celosia.data.schema import Kind
from celosia.table.readers import read, read_protected, read_released
from celosia.table.table import Outcome, Table

__all__ = ["STAR", "Kind", "Outcome", "Table", "read", "read_protected", "read_released"]
