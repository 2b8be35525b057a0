"""The routes of the data page."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from celosia.data.schema import Kind
from celosia.errors import UnknownName
from celosia.studio import editing
from celosia.studio.pages.data.cards import ROLES, cards
from celosia.studio.studio import Page, Sent, Studio


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes."""

    @router.get("")
    def data(request: Request) -> Response:
        if not studio.project.ready:
            return studio.show(request, "data", cards=None)
        policy = studio.project.policy()
        frame = studio.samples.sample(policy).table.polars().head(8)
        return studio.show(
            request, "data", cards=cards(policy, studio.samples), roles=ROLES, kinds=list(Kind), first=frame
        )

    @router.post("/role")
    def role(sent: Sent) -> Response:
        wanted = sent.get("role", "")
        if wanted not in ROLES:
            raise UnknownName.of("role", wanted, ROLES)
        studio.change(sent, lambda text: editing.set_role(text, sent["column"], wanted))
        return studio.back("/data")

    @router.post("/kind")
    def kind(sent: Sent) -> Response:
        studio.change(sent, lambda text: editing.put(text, ("schema", "kinds", sent["column"]), sent["kind"]))
        return studio.back("/data")


PAGE = Page("data", 10, "job", routes)
