"""Choices of data subjects at an earlier moment, to repeat a publication of that time."""

from __future__ import annotations

from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables


class Past(Preferences):
    """Store as it was at a moment, without owners who have deleted their record since.

    Aliases of owners have no history: they are those of today.
    """

    def __init__(self, store: Preferences, moment: str, *, default: bool) -> None:
        self._engine = store.engine
        self._moment, self._default = moment, default

    @property
    def default(self) -> bool:
        """Whether an owner who had not answered counted as blocking."""
        return self._default

    def exceptions(self, inference: str) -> set[str]:
        """Return the owners whose last choice before the moment differed from the default."""
        import sqlalchemy as sa

        t = tables().changes
        then = (t.c.inference == inference) & (t.c.at <= self._moment)
        last = sa.select(sa.func.max(t.c.number)).where(then).group_by(t.c.owner)
        query = sa.select(t.c.owner).where(t.c.number.in_(last), t.c.block.is_(not self._default))
        with self._engine.connect() as connection:
            return set(connection.execute(query).scalars())
