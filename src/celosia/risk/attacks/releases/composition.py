"""Composition: intersection of several releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.risk.bases.releases import _EarlierReleases, more_people

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.risk.bases.success import Success
    from celosia.table import Table
    from celosia.views.comparing.releases import CrossedReleases


class Composition(_EarlierReleases):
    r"""The share of people for whom several releases together leave fewer than ``k`` records.

    An intruder knows the quasi-identifiers of a person and that she is in all the releases. In each release the cells
    that can stand for her values give a set of records :math:`E_r`. A record of one release is ruled out when no record
    of another one's set shows the same in the ``columns`` that all of them carry unchanged (other columns, sensitive
    values):

    .. math:: \min_r \bigl| \{ x \in E_r : u(x) \in \textstyle\bigcap_s u(E_s) \} \bigr| < k

    Each release may be k-anonymous by itself, and one person may be left of two of them. ``candidates`` is what is left
    of each person, ``alone`` the smallest set in one release by itself, ``learnt`` whether one sensitive value is left.
    The control is the intruder who has only the release that leaves fewest. A claim counts when it is right: the
    person's record is in the release and what it carries is in each set. With a person column persons are counted.

    References: Ganta, Kasiviswanathan & Smith (2008).

    >>> import polars as pl, celosia
    >>> people = pl.DataFrame({"age": [30, 34, 38, 42], "ill": ["flu", "no", "cough", "rash"]})
    >>> schema = celosia.Schema.of(quasi=["age"], sensitive=["ill"])
    >>> first = people.with_columns(age=pl.Series(["30-34", "30-34", "38-42", "38-42"]))
    >>> second = people.with_columns(age=pl.Series(["30-38", "30-38", "30-38", "42"]))
    >>> original, release = celosia.read(people, schema), celosia.read(second, schema)
    >>> Composition(earlier=[first]).records(original, release)["candidates"].to_list()
    [2, 2, 1, 1]
    """

    k: int = Field(default=2, ge=2, description="fewest records that must be left; 2: nobody is singled out")
    examples: ClassVar = (
        {"earlier": True, "known": ["c", "p"], "columns": ["t"], "k": 3},
        {"earlier": True, "known": ["c", "p"], "columns": ["x"]},
        {"earlier": True, "known": ["c"]},
    )

    def sentence(self, facts: Mapping[str, Any]) -> str:
        """Describe how many people are left with few candidates."""
        smallest = f"the smallest set has {facts['smallest']}, in one release alone {facts['smallest_alone']}"
        return f"together the releases leave fewer than {self.k} records for {more_people(facts)}: {smallest}"

    def run(self, original: Table, protected: Table) -> Success:
        """Return the candidates that are left of each record."""
        from celosia.risk.bases.success import Success
        from celosia.views.comparing.releases import cross_releases
        from celosia.views.persons import by_person, person_codes

        earlier = self.open_releases(original)
        releases = [protected, *earlier]
        carried = self.carried_columns(original, protected, earlier)
        sensitive = [name for name in original.schema.sensitive if name in protected.names]
        candidates = cross_releases(original, releases, self.known_columns(original), carried, sensitive)
        if not (candidates.fitting > 1).any():
            raise NotApplicable(
                "composition: no cell of an earlier release can stand for a value of the original; give the earlier "
                "release with the hierarchies of its schema."
            )
        fewer = np.flatnonzero((candidates.left < self.k) & (candidates.left > 0))
        right = np.zeros(len(original), dtype=np.bool_)
        right[fewer] = self._correct_claims(original, protected, candidates, fewer)
        learnt = candidates.single.any(axis=1)  # without candidates no value is left either
        alone = (candidates.alone < self.k) & (candidates.alone > 0)
        person = person_codes(original)
        learners = (learnt, candidates.single_alone.any(axis=1))
        whose = [by_person(np.asarray(mask, dtype=np.float64), person) for mask in learners]
        shown = candidates.left[right | (candidates.left >= self.k)]
        return Success(
            right.astype(np.float64),
            1 / max(len(whose[0]), 1),
            alone.astype(np.float64),
            {"candidates": candidates.left, "alone": candidates.alone, "learnt": learnt},
            {
                "smallest": int(shown.min(initial=len(original))),
                "smallest_alone": int(candidates.alone[candidates.alone > 0].min(initial=len(original))),
                "singled_out": float(by_person((right & (candidates.left == 1)).astype(np.float64), person).sum()),
                "learnt": float(whose[0].sum()),
                "learnt_alone": float(whose[1].sum()),
                "unmatched": int((candidates.fitting < len(releases)).sum()),
                "carried": carried,
                "releases": len(releases),
            },
        )

    def _correct_claims(
        self, original: Table, protected: Table, candidates: CrossedReleases, fewer: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return whether the claims about some original records are right; assumed where records cannot be paired."""
        from celosia.table.pairing import counterparts

        try:
            own = counterparts(original, protected)[fewer]
        except NotApplicable:
            return np.ones(len(fewer), dtype=np.bool_)
        mark = candidates.rows["mark"].to_numpy()[own]
        return np.asarray((own >= 0) & candidates.inside(fewer, mark), dtype=np.bool_)
