"""The choices of owners as they were at a moment: what a publication of that time was made with."""

from __future__ import annotations

from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables


class Past(Preferences):
    """A store as it was. Who has deleted their record since is not in it.

    Other keys of owners have no history: they are those of today.
    """

    def __init__(self, store: Preferences, moment: str, *, default: bool) -> None:
        self._engine = store.engine
        self._moment, self._default = moment, default

    @property
    def default(self) -> bool:
        """Whether an owner who had not answered counted as blocking."""
        return self._default

    def exceptions(self, inference: str) -> set[str]:
        """The owners whose choice differed from the default then: by the last change that they had made."""
        import sqlalchemy as sa

        t = tables().changes
        then = (t.c.inference == inference) & (t.c.at <= self._moment)
        last = sa.select(sa.func.max(t.c.number)).where(then).group_by(t.c.owner)
        query = sa.select(t.c.owner).where(t.c.number.in_(last), t.c.block.is_(not self._default))
        with self._engine.connect() as connection:
            return set(connection.execute(query).scalars())
