"""Requests for data as they arrive: who asks for what, how the publisher would answer, and what became of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from celosia.consent.owners.store import Preferences, now
from celosia.consent.owners.tables import tables
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import Request
from celosia.errors import DataError

_PREFIX = "request:"
MOST = 10_000


class Asked(BaseModel):
    """A request: the words of who asks, the query and roles that the publisher gave it, and its answer."""

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
    """Why it was refused; or the folder of the release."""

    def request(self) -> Request:
        """The request as it is carried out."""
        design = Design(k=self.k, rule=self.rule, tree=self.tree)  # type: ignore[arg-type]  # checked by Design
        names = {name: getattr(self, name) for name in ("sql", "owner", "quasi", "identifiers", "sensitive", "key")}
        return Request(design=design, acknowledge=self.acknowledge, measure=False, **names)

    def digest(self, catalogue: str) -> str:
        """What the publisher looked at: this request, under a catalogue."""
        asked = self.model_dump_json(exclude={"at", "status", "answered", "reason"})
        return hashlib.sha256(f"{catalogue}\n{asked}".encode()).hexdigest()[:32]


def requests(store: Preferences) -> dict[int, Asked]:
    """All requests by number, the newest first."""
    t = tables().settings
    with store.engine.connect() as connection:
        stored = connection.execute(t.select().where(t.c.name.startswith(_PREFIX)).order_by(t.c.name.desc()))
        return {int(row.name.removeprefix(_PREFIX)): Asked.model_validate_json(row.value) for row in stored}


def enter(store: Preferences, asked: Asked) -> int:
    """Keep a new request; returns its number."""
    t = tables().settings
    with store.writing() as connection:
        names = connection.execute(t.select().where(t.c.name.startswith(_PREFIX)))
        number = 1 + max((int(row.name.removeprefix(_PREFIX)) for row in names), default=0)
        if number > MOST:
            raise DataError(f"the store keeps at most {MOST} requests.")
        row = {"name": _named(number), "value": asked.model_copy(update={"at": now()}).model_dump_json()}
        connection.execute(t.insert(), row)
    return number


def change(store: Preferences, number: int, changes: Mapping[str, Any]) -> Asked:
    """Change a request that is open; an answered one stays as it is."""
    t = tables().settings
    with store.writing() as connection:
        row = connection.execute(t.select().where(t.c.name == _named(number))).first()
        before = None if row is None else Asked.model_validate_json(row.value)
        if before is None or before.status != "open":
            raise DataError(f"request {number} is not there, or has been answered already.")
        after = Asked.model_validate({**before.model_dump(), **changes})
        connection.execute(t.update().where(t.c.name == _named(number)).values(value=after.model_dump_json()))
    return after


def answer(store: Preferences, number: int, status: Literal["published", "refused"], reason: str) -> Asked:
    """Note how a request was answered, here and in the audit trail."""
    answered = change(store, number, {"status": status, "answered": now(), "reason": reason[:500]})
    store.note(status, "publisher", f"request {number}")
    return answered


def _named(number: int) -> str:
    return f"{_PREFIX}{number:06d}"
