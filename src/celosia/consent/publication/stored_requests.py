"""Stored requests for data: requester, purpose, query, design and answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from celosia.consent.owners.store import Preferences, now
from celosia.consent.owners.tables import tables
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import Request
from celosia.errors import DataError

_PREFIX = "request:"
MOST = 10_000


class StoredRequest(BaseModel):
    """Request with its requester and purpose, the query and roles set by the publisher, and the answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requester: str = Field(min_length=1, max_length=200)
    purpose: str = Field(default="", max_length=2000)
    sql: str = Field(min_length=1, max_length=20_000)
    owner: str = Field(min_length=1, max_length=200)
    quasi: tuple[str, ...] = Field(min_length=1)
    tree: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    k: int = Field(default=10, ge=2, le=100_000)
    rule: str = "coarser"
    key: str | None = None
    acknowledge: dict[str, str] = Field(default_factory=dict)
    at: str = ""
    status: Literal["open", "published", "refused"] = "open"
    answered: str = ""
    reason: str = ""
    """Reason of the refusal, or the folder of the release."""

    def request(self) -> Request:
        """Return the request for :func:`publish`."""
        design = Design(k=self.k, rule=self.rule, tree=self.tree)  # type: ignore[arg-type]  # checked by Design
        names = {name: getattr(self, name) for name in ("sql", "owner", "quasi", "identifiers", "sensitive", "key")}
        return Request(design=design, acknowledge=self.acknowledge, measure=False, **names)

    def digest(self, catalogue: str) -> str:
        """Return a hash of the request and the catalogue, to detect a change since the publisher reviewed it."""
        asked = self.model_dump_json(exclude={"at", "status", "answered", "reason"})
        return hashlib.sha256(f"{catalogue}\n{asked}".encode()).hexdigest()[:32]


def requests(store: Preferences) -> dict[int, StoredRequest]:
    """Return all requests by number, the newest first."""
    t = tables().settings
    with store.engine.connect() as connection:
        stored = connection.execute(t.select().where(t.c.name.startswith(_PREFIX)).order_by(t.c.name.desc()))
        return {int(row.name.removeprefix(_PREFIX)): StoredRequest.model_validate_json(row.value) for row in stored}


def enter(store: Preferences, asked: StoredRequest) -> int:
    """Store a new request and return its number."""
    t = tables().settings
    with store.transaction() as connection:
        names = connection.execute(t.select().where(t.c.name.startswith(_PREFIX)))
        number = 1 + max((int(row.name.removeprefix(_PREFIX)) for row in names), default=0)
        if number > MOST:
            raise DataError(f"the store keeps at most {MOST} requests.")
        row = {"name": _row_name(number), "value": asked.model_copy(update={"at": now()}).model_dump_json()}
        connection.execute(t.insert(), row)
    return number


def change(store: Preferences, number: int, changes: Mapping[str, object]) -> StoredRequest:
    """Change an open request; raise if it has been answered."""
    t = tables().settings
    with store.transaction() as connection:
        row = connection.execute(t.select().where(t.c.name == _row_name(number))).first()
        before = None if row is None else StoredRequest.model_validate_json(row.value)
        if before is None or before.status != "open":
            raise DataError(f"request {number} is not there, or has been answered already.")
        after = StoredRequest.model_validate({**before.model_dump(), **changes})
        connection.execute(t.update().where(t.c.name == _row_name(number)).values(value=after.model_dump_json()))
    return after


def answer(store: Preferences, number: int, status: Literal["published", "refused"], reason: str) -> StoredRequest:
    """Store the answer to a request, and note it in the audit trail."""
    answered = change(store, number, {"status": status, "answered": now(), "reason": reason[:500]})
    store.note(status, "publisher", f"request {number}")
    return answered


def _row_name(number: int) -> str:
    return f"{_PREFIX}{number:06d}"
