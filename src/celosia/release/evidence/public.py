"""Numbers of a release that may be published, and their rounding, for the certificate and the external report.

A number measured against the original is an equation about the original. If one record changed, its exact value
discloses that record. So such a number is published only as a share of the records, on a grid so coarse that ten
records lie within one step, and only if at least ten records changed; otherwise it is in the private record only. The
evidence of a step is public if its method declares it (``public_evidence``). Numbers that follow from the released
file alone, such as its class sizes, are public. A requirement that compares with the distribution of the input states
its number only if the file has that distribution.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import JsonValue

from celosia.errors import NotApplicable
from celosia.parts import ComparesWithInput, DecidedByOneRecord, Formal, PublishesEvidence, build, is_share
from celosia.release.evidence.plain_data import plain
from celosia.table.columns import declared_persons

if TYPE_CHECKING:
    from celosia.parts import Method
    from celosia.release.evidence.certificate import Claim, Facts, Requirement
    from celosia.release.evidence.findings import Finding
    from celosia.table import Table

FEWEST = 10
"""Smallest number of changed persons (records) for which a number is published, and of those within one step of it."""
STEPS = (0.05, 0.1, 0.25, 0.5)
WITHHELD = "withheld: the exact number would tell of single records; the private record has it"


@dataclass(frozen=True)
class Disclosure:
    """Publication of numbers measured against the original, by the number of records and of changed ones."""

    records: int
    changed: int

    @classmethod
    def between(cls, original: Table, protected: Table) -> Disclosure:
        """Count persons where a person column is declared; records that cannot be paired have all changed."""
        persons = declared_persons(original)
        rows = 1 if persons is None else int(np.bincount(persons[persons >= 0], minlength=1).max(initial=1))
        try:
            changed = build("loss", "altered-records").value(original, protected) * len(original)
        except NotApplicable:
            changed = len(original)
        # all rows of a person may have changed, so that this is the smallest possible number of persons
        return cls(len(original) // rows, round(changed) // rows)

    @property
    def step(self) -> float | None:
        """Step of the grid of published shares; None if no number is published."""
        if self.changed < FEWEST:
            return None
        return next((step for step in STEPS if step * self.records >= FEWEST), None)

    def share(self, value: float | None) -> float | None:
        """Round a share to the public grid; None if it may not be published.

        >>> Disclosure(1000, 40).share(0.1234), Disclosure(50, 40).share(0.1234), Disclosure(1000, 9).share(0.1234)
        (0.1, 0.0, None)
        """
        if value is None or self.step is None or not np.isfinite(value):
            return None
        return float(f"{round(value / self.step) * self.step:.12g}")

    def value(self, finding: Finding) -> float | None:
        """Round a number measured against the original to the public grid; None if it is withheld."""
        public = is_share(finding.part) and not isinstance(finding.part, DecidedByOneRecord)
        return self.share(finding.value) if public else None

    def claim(self, finding: Finding) -> Claim:
        """Return the certificate's claim on a number measured against the original."""
        claim = finding.claim().model_copy(update={"evidence": {}})
        claim.model_fields_set.discard("evidence")
        if finding.value is None:
            return claim
        claim.value = self.value(finding)
        if claim.value is None:
            claim.reason = WITHHELD
        elif "decided" in finding.evidence:  # names of attacks
            claim.evidence = plain({"decided": finding.evidence["decided"]})
        return claim


def public_requirement(finding: Finding, protected: Table) -> Requirement:
    """Return the certificate's claim on a requirement.

    The value of a distance from the distribution of the input is withheld if the file has another distribution: the
    difference discloses the values of suppressed or dropped records.
    """
    stated, model = finding.requirement(), finding.part
    if not isinstance(model, ComparesWithInput):
        return stated
    names = [name for wanted in finding.part.counted_columns() for name in protected.schema.need_sensitive(wanted)]
    if not all(_has_distribution_of_input(protected, name) for name in names):
        stated.value, stated.reason = None, WITHHELD
    return stated


def _has_distribution_of_input(table: Table, name: str) -> bool:
    domain, own = table.classes.baseline(name), table.counts.histogram([name])
    codes = domain.codes(own.column(name))
    if (codes < 0).any():  # suppressed records have a value that is not in the input
        return False
    counts = np.bincount(codes, weights=own.persons, minlength=len(domain.values))
    return bool(np.allclose(counts / max(1.0, counts.sum()), domain.share, rtol=0, atol=1e-12))


UNNAMED = "(left out)"
"""Replaces the name of a column that is not released: a header may be a person's name."""


def without_names(value: JsonValue, names: Collection[str]) -> JsonValue:
    """Replace every text in plain data that is one of these names.

    >>> without_names({"columns": ["Ann Lee", "age"], "weights": {"Ann Lee": 2}}, {"Ann Lee"})
    {'columns': ['(left out)', 'age'], 'weights': {'(left out)': 2}}
    """
    if isinstance(value, dict):
        named = {key: each if key == "use" else without_names(each, names) for key, each in value.items()}
        return {key if key == "use" or key not in names else UNNAMED: each for key, each in named.items()}
    if isinstance(value, list):
        return [without_names(each, names) for each in value]
    return UNNAMED if isinstance(value, str) and value in names else value


def public_evidence(method: Method, entry: Mapping[str, Any]) -> Facts:
    """Return the public evidence of a step: all of it for a formal method, else what the method declares."""
    facts: Facts = plain({key: value for key, value in entry.items() if key not in {"step", "parameters"}})
    if isinstance(method, Formal):
        return facts
    public = method.public_evidence if isinstance(method, PublishesEvidence) else frozenset()
    return {key: value for key, value in facts.items() if key in {"tables", *public}}
