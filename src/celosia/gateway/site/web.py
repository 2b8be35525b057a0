"""The gateway over HTTP: a JSON interface with API keys, and pages that need no JavaScript.

TLS is left to a proxy in front; see the how-to page on differential privacy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from celosia.errors import CelosiaError, MissingExtra
from celosia.gateway.answer import cost_data
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import chain
from celosia.gateway.site.refusals import status
from celosia.parts.parameter_errors import phrase
from celosia.web.guard import HEADERS, MOST_BYTES, is_oversized
from celosia.web.language import remember
from celosia.web.limits import RateLimit

if TYPE_CHECKING:
    from fastapi import FastAPI

    from celosia.gateway.site.turns import Turns

NEEDED = "Send one JSON object with 'sql' and its cost."


Json = dict[str, Any]


class Query(BaseModel):
    """A query and its cost."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)  # true is no number, "1" neither
    sql: str = Field(max_length=10_000, description="one SELECT statement")
    epsilon: float | None = Field(default=None, gt=0, description="cost, where the data set counts in epsilon")
    rho: float | None = Field(default=None, gt=0, description="cost, where the data set counts in zCDP")
    delta: float = Field(default=0.0, ge=0, lt=1)
    announce: int = Field(default=1, ge=1, le=10_000, description="number of queries that share the cost")


class Ask(Query):
    """A query to be answered."""

    fresh: bool = Field(default=False, description="draw new noise (and pay) although an answer is stored")


def create(gateway: Gateway, keys: Keys, *, per_minute: int = 120, secure: bool = False) -> FastAPI:
    """Make the application. ``secure`` marks the cookie for HTTPS only: set it behind a TLS proxy."""
    try:
        from fastapi import FastAPI

        from celosia.gateway.site.site import pages
        from celosia.gateway.site.turns import Turns
    except ImportError:  # pragma: no cover - the test environment has it
        raise MissingExtra.of("the gateway over HTTP", "web") from None
    app = FastAPI(
        title="Celosia gateway",
        description=f"Queries about the data set {gateway.facts.name!r}, answered with differential privacy.",
        docs_url=None,  # those pages load scripts from elsewhere; the schema itself is at /openapi.json
        redoc_url=None,
    )
    limit, turns = RateLimit(per_minute), Turns()
    _guard(app)
    _interface(app, gateway, keys, limit, turns)
    pages(app, gateway, keys, limit, turns, secure)
    return app


def _guard(app: FastAPI) -> None:
    from fastapi import Request, Response
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse
    from starlette.exceptions import HTTPException
    from starlette.middleware.base import RequestResponseEndpoint

    @app.middleware("http")
    async def headers(request: Request, call_next: RequestResponseEndpoint) -> Response:
        if is_oversized(request.method, request.headers):
            response: Response = JSONResponse({"error": f"send at most {MOST_BYTES} bytes, with their length."}, 413)
        else:
            response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers[name] = value
        remember(request, response)
        return response

    @app.exception_handler(CelosiaError)
    async def refuse(request: Request, problem: Exception) -> JSONResponse:  # noqa: ARG001
        return JSONResponse({"error": str(problem)}, status(problem))

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, problem: HTTPException) -> JSONResponse:  # noqa: ARG001
        sentence = f"the body cannot be read. {NEEDED}" if problem.status_code == 400 else f"{problem.detail}."
        return JSONResponse({"error": sentence}, problem.status_code, problem.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, problem: RequestValidationError) -> JSONResponse:  # noqa: ARG001
        return JSONResponse({"error": _sentence(problem.errors()[0])}, 422)


def _sentence(finding: Mapping[str, Any]) -> str:
    """Describe the first problem of a request without repeating its text, which need not be printable."""
    name = str(finding["loc"][-1])
    if finding["type"] == "extra_forbidden":
        return f"there is a name that is not known. Known are: {', '.join(Ask.model_fields)}."
    if name == "body" or finding["type"] == "json_invalid":
        return f"the body is no JSON object. {NEEDED}"
    return f"{name} is required." if finding["type"] == "missing" else f"{name} {phrase(finding)}."


def _interface(app: FastAPI, gateway: Gateway, keys: Keys, limit: RateLimit, turns: Turns) -> None:
    from fastapi import Depends, Header, HTTPException

    def analyst(authorization: str = Header(default="")) -> str:
        kind, _, key = authorization.partition(" ")
        holder = keys.analyst(key.strip()) if kind.lower() == "bearer" else None
        # all requests without a valid key share one bucket: guessing keys is slow for them together
        wait = limit.wait(holder or "")
        if wait:
            raise HTTPException(429, "too many requests", headers={"Retry-After": str(math.ceil(wait))})
        if holder is None:
            raise HTTPException(401, "give your key: Authorization: Bearer …", headers={"WWW-Authenticate": "Bearer"})
        return holder

    @app.post("/api/query", summary="Answer a query and charge it")
    async def query(body: Ask, who: str = Depends(analyst)) -> Json:
        return {**await turns.run(who, lambda: gateway.ask(analyst=who, **body.model_dump()).data())}

    @app.post("/api/explain", summary="Sensitivity, noise and expected error; nothing is spent")
    async def explain(body: Query, who: str = Depends(analyst)) -> Json:
        return {**await turns.run(who, lambda: gateway.explain(**body.model_dump()).data())}

    @app.get("/api/budget", summary="What is left")
    def budget(who: str = Depends(analyst)) -> Json:
        balance = gateway.balance(who)
        limits = [balance.lifetime, *balance.shares]
        return {
            "dataset": balance.dataset,
            "neighbours": balance.neighbours,
            "left": cost_data(balance.remaining),
            "limits": [
                {
                    "name": x.name,
                    "total": cost_data(x.total),
                    "spent": cost_data(x.spent),
                    "left": cost_data(x.remaining),
                }
                for x in limits
            ],
        }

    @app.get("/api/history", summary="Your queries with their costs, newest first")
    def history(who: str = Depends(analyst), limit: int = 50) -> list[Json]:
        entries = gateway.ledger.history(gateway.facts.name, who, min(max(limit, 1), 1000))
        times = chain.shown_times(entries)
        return [
            {"at": times[e.seq], "kind": e.kind, "request": e.request, "loss": e.loss / 1e12}
            for e in entries
            if e.seq in times
        ]

    @app.get("/api/schema", summary="Tables and columns that may be asked about", dependencies=[Depends(analyst)])
    def schema() -> Json:
        hidden = {"source"}
        return {
            name: table.model_dump(mode="json", exclude=hidden, exclude_defaults=True)
            for name, table in gateway.facts.tables.items()
        }
