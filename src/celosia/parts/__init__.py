"""The catalogue of parts: what a part is, the kinds there are, and how one is found and built.

A part is one frozen pydantic model; its fields are its parameters. Defining the class registers it under its kind and
name (``KAnonymity`` → ``k-anonymity``). The policy keyword, the command line, the JSON schema, the reference page
and the conformance tests all derive from that definition. A third-party package adds parts by an entry point in the
group ``celosia.parts`` that names a module to import.
"""

from celosia.parts.columns import Column, ColumnMark, Columns, SuitedColumns, named_columns
from celosia.parts.loss import ChangedShares, Loss, SearchObjective
from celosia.parts.mechanism import Mechanism
from celosia.parts.method import Method
from celosia.parts.model import Condition, Model, Verdict
from celosia.parts.part import (
    KIND,
    BoundedByRows,
    CountsRows,
    Credential,
    DecidedByOneRecord,
    Memory,
    Part,
    PersonUnit,
    Private,
    build,
    build_all,
)
from celosia.parts.places import Place, from_directory, identity, located, moved, paths_in
from celosia.parts.registry import find, home, kinds, package, parts
from celosia.parts.spec import marked_fields, private_fields, public_spec, summary, withheld_parameters
from celosia.parts.threat import (
    Attack,
    CombinesAttacks,
    ComparesReleases,
    DisclosesValue,
    NarrowsValues,
    Risk,
    Threat,
    attacks_reading,
    deciding_attacks,
    evidence_against,
    measured_by,
    value_against,
)

__all__ = [
    "KIND",
    "Attack",
    "Column",
    "ColumnMark",
    "Columns",
    "Condition",
    "Credential",
    "Loss",
    "Mechanism",
    "Method",
    "Model",
    "Part",
    "ChangedShares",
    "BoundedByRows",
    "CountsRows",
    "ComparesReleases",
    "CombinesAttacks",
    "DisclosesValue",
    "NarrowsValues",
    "deciding_attacks",
    "evidence_against",
    "value_against",
    "SearchObjective",
    "DecidedByOneRecord",
    "Memory",
    "PersonUnit",
    "home",
    "marked_fields",
    "private_fields",
    "public_spec",
    "summary",
    "withheld_parameters",
    "Place",
    "Private",
    "Risk",
    "SuitedColumns",
    "Threat",
    "Verdict",
    "attacks_reading",
    "build",
    "build_all",
    "find",
    "from_directory",
    "identity",
    "kinds",
    "measured_by",
    "located",
    "moved",
    "paths_in",
    "named_columns",
    "package",
    "parts",
]
