"""Join with an identified table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NotRequired

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable, UnknownName
from celosia.parts import Attack, AttackEvidence, Column, Columns
from celosia.table.source import Same, Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class JoinEvidence(AttackEvidence):
    """Unique, ambiguous and missing joins, and right and false claims where the truth is known."""

    people: int
    claimed: int
    ambiguous: int
    unmatched: int
    truth_known: bool
    right: NotRequired[int]
    false: NotRequired[int]


class JoinAttack(Attack):
    r"""The share of people in an identified table whom a join with the release re-identifies.

    The intruder joins an ``external`` table, which names people, with the release ``on`` the columns both have; a
    generalised cell (``130**``, ``30-40``, a set, a value of the hierarchy) joins with every raw value that it can
    stand for. A person with one joined record is claimed as found, with m > 1 she is found by a guess of 1/m.
    Claims may be wrong: the person may not be in the release, or her external data differ. The publisher knows the
    truth, through the ``key`` that the external and the original table share (by default an identifier that both
    have), and so the value counts right finds only:

    .. math:: \frac{1}{|A|} \sum_{a \in A} \frac{[\text{the record of } a \text{ is among the joined}]}{m_a}

    Without a key every claim is taken as right. With a person column m counts persons, and any record of hers is right.
    A missing value joins with a missing one only. Suppressed records join with nothing.

    References: Sweeney (2002); El Emam et al. (2011).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"name": ["Ann", "Bob"], "zip": ["13053", "14850"], "ill": ["flu", "no"]})
    >>> schema = celosia.Schema.of(identifiers=["name"], quasi=["zip"])
    >>> original = celosia.read(data, schema)
    >>> release = celosia.read(data.with_columns(zip=pl.Series(["130**", "148**"])))
    >>> JoinAttack(external=pl.DataFrame({"name": ["Bob"], "zip": ["13068"]})).evidence(original, release)["false"]
    1
    """

    external: Source = Field(description="table with the people that the intruder knows")
    on: Columns | None = Field(
        default=None, description="columns to join on; the quasi-identifiers that both have when not given"
    )
    key: Column | None = Field(
        default=None, description="column of the external and the original table that names a person"
    )
    examples: ClassVar = ({"on": ["c", "p"], "key": "name", "external": True},)

    def value(self, original: Table, protected: Table) -> float:
        """Return the expected share of external people who are found rightly."""
        people = self.people(original, protected)
        return float(people["risk"].mean() or 0.0) if len(people) else 0.0  # type: ignore[arg-type]

    def evidence(self, original: Table, protected: Table) -> JoinEvidence:
        """Return unique, ambiguous and missing joins, the right and false claims, an interval and the baseline."""
        from celosia.kernels.statistics.intervals import wilson
        from celosia.views.persons import released_persons

        people = self.people(original, protected)
        joined, right = people["joined"].to_numpy(), people["right"]
        n = len(people)
        value = float(people["risk"].sum()) / n if n else 0.0
        out: JoinEvidence = {
            "value": value,
            "interval": list(wilson(value * n, n)),
            "baseline": 1 / max(len(np.unique(released_persons(original, protected))), 1),
            "people": n,
            "claimed": int((joined == 1).sum()),
            "ambiguous": int((joined > 1).sum()),
            "unmatched": int((joined == 0).sum()),
            "truth_known": right.null_count() < n or n == 0,
        }
        if out["truth_known"]:
            claimed = right.to_numpy()[joined == 1]
            out["right"] = int(claimed.sum())
            out["false"] = int((joined == 1).sum()) - out["right"]
        return out

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return for each released record the external people who join with it, and its largest chance to be found."""
        import polars as pl

        pairs, people = self._pairs(original, protected), self.people(original, protected)
        risk = np.zeros(len(protected))
        joined = np.zeros(len(protected), dtype=np.int64)
        chance = np.divide(
            1.0, people["joined"].to_numpy(), out=np.zeros(len(people)), where=people["joined"].to_numpy() > 0
        )
        person, record = pairs["person"].to_numpy(), pairs["record"].to_numpy()
        np.add.at(joined, record, 1)
        right = self._is_right(original, protected)
        right = np.ones(len(person), dtype=bool) if right is None else right
        np.maximum.at(risk, record[right], chance[person[right]])
        return pl.DataFrame({"risk": risk, "joined": joined})

    def people(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return one row per external person: joined records (persons), whether hers is one, the chance to find it."""
        import polars as pl

        from celosia.views.persons import released_persons

        external, record = self._pairs(original, protected).select("person", "record").to_numpy().T
        n = len(self._external())
        whose = released_persons(original, protected)
        width = int(whose.max(initial=0)) + 1
        joined = np.bincount(np.unique(external * width + whose[record]) // width, minlength=n)
        chance = np.divide(1.0, joined, out=np.zeros(n), where=joined > 0)
        hit = self._is_right(original, protected)
        if hit is None:
            return pl.DataFrame({"joined": joined, "right": pl.Series([None] * n, dtype=pl.Boolean), "risk": chance})
        right = np.zeros(n, dtype=bool)
        right[external[hit]] = True
        return pl.DataFrame({"joined": joined, "right": right, "risk": np.where(right, chance, 0.0)})

    def _external(self) -> Table:
        from celosia.table.source import open_source

        return open_source(self.external)

    def _on(self, original: Table, protected: Table) -> list[str]:
        external = self._external()
        if self.on is not None:
            for name in self.on:
                for table in (external, protected):
                    if name not in table.names:
                        raise UnknownName.of("column", name, table.names)
            return list(self.on)
        key = self._key(original)
        quasi = protected.schema.quasi or original.schema.quasi or protected.names
        names = [name for name in quasi if name in external.names and name in protected.names and name != key]
        if not names:
            raise NotApplicable("join-attack: the external table shares no quasi-identifier with the release.")
        return names

    def _key(self, original: Table) -> str | None:
        if self.key is not None:
            return self.key
        external = self._external()
        both = [name for name in original.schema.identifiers if name in external.names]
        return both[0] if both else None

    def _is_right(self, original: Table, protected: Table) -> NDArray[np.bool_] | None:
        """Return whether each joined pair is an external person with a record of hers; None without a key."""
        import polars as pl

        from celosia.table.pairing import positions

        key = self._key(original)
        if key is None:
            return None
        pairs = self._pairs(original, protected)
        names = original.column(key).cast(pl.String)[positions(original, protected)]
        people = self._external().column(key).cast(pl.String)
        return (names[pairs["record"]] == people[pairs["person"]]).fill_null(value=False).to_numpy()

    def _pairs(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return every pair of an external person and a released record that could be hers."""
        return protected.compute_once(
            ("join", str(self.on), self.key, Same(self.external), Same(original)),
            lambda: _compatible_pairs(self._external(), protected, self._on(original, protected)),
        )


def _compatible_pairs(external: Table, release: Table, names: list[str]) -> pl.DataFrame:
    """Pair every external person with the released records whose cells can stand for her values."""
    import polars as pl

    from celosia.views.comparing.join_candidates import JoinCandidates

    fitting = JoinCandidates.of(external, release, names)
    people = pl.DataFrame({"person": np.arange(len(fitting.raw)), "raw": fitting.raw})
    records = pl.DataFrame({"record": np.arange(len(fitting.cell)), "cell": fitting.cell})
    fits = pl.DataFrame(dict(zip(("raw", "cell"), fitting.pairs, strict=True)))
    return people.join(fits, on="raw").join(records, on="cell").select("person", "record")
