"""Pages of the publisher: edit the catalogue, preview requests and answer them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import ValidationError

from celosia.consent.protection.protection import RULES
from celosia.consent.publication.stored_requests import StoredRequest, answer, change, enter, requests
from celosia.consent.rules.rules import LANGUAGES, Inference
from celosia.consent.site import forms
from celosia.consent.site.desk import Desk
from celosia.consent.site.pages import LocalText, Pages, draw, local_text, words
from celosia.consent.site.visits import Refusal, SubmittedForm, Visits
from celosia.consent.sql.elements import DIALECTS
from celosia.data.io.durable import Unavailable
from celosia.errors import CelosiaError
from celosia.web.language import language

NEW = "new"


def console(app: FastAPI, desk: Desk, visit: Visits) -> None:
    """Add the pages of the publisher to an application."""
    _catalogue(app, desk, visit)
    _requests(app, desk, visit)


def attempt(call: Callable[[], object], code: str) -> tuple[Any, LocalText | None]:
    """Call a function; return its result, or the error message for the page, translated if it has a key."""
    try:
        return call(), None
    except Unavailable:
        raise
    except forms.Unreadable as problem:
        w = words(code)
        values = {**problem.values, "field": w["fields"].get(problem.values.get("field", ""), "")}
        return None, LocalText(w[problem.key].format(**values))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return None, LocalText(f"{where}: {first['msg'].removeprefix('Value error, ')}.", "" if code == "en" else "en")
    except CelosiaError as problem:
        return None, LocalText(str(problem), "" if code == "en" else "en")


def _catalogue(app: FastAPI, desk: Desk, visit: Visits) -> None:

    def known_as(name: str) -> Inference | None:
        inference = next((inference for inference in desk.catalogue.inferences if inference.id == name), None)
        if inference is None and name != NEW:
            raise Refusal("refused_page", "/admin", 404)
        return inference

    def page(request: Request, name: str, fields: forms.Fields, **values: object) -> str:
        stored, code = known_as(name), language(request)
        pages = Pages(desk.catalogue, desk.store)
        given = {"problem": None, "checked": False, "consequences": [], "saved": False, **values}
        return draw(
            "inference",
            code,
            "?",
            desk.about,
            form=visit.publisher(request).form,
            place=f"/admin/inference/{name}",
            inference=name,
            new=stored is None,
            fields=fields,
            rules=forms.numbers(fields),
            categories={key: pages.class_name(key, code) for key in desk.catalogue.taxonomy},
            languages={tongue: words(code)["tongues"][tongue] for tongue in LANGUAGES},
            dialects=DIALECTS,
            seen=fields.get("seen") or desk.catalogue.digest(),
            editable=desk.editable,
            **given,
        )

    @app.get("/admin/inference/{name}")
    def show(request: Request, name: str) -> HTMLResponse:
        visit.publisher(request)
        stored = known_as(name)
        fields = forms.inference_fields(stored or Inference(id="new", description={"en": "new"}))
        if stored is None:
            fields |= {"id": "", "description:en": ""}
        return HTMLResponse(page(request, name, fields, saved="saved" in request.query_params))

    @app.post("/admin/inference/{name}")
    def edit(request: Request, name: str, sent: SubmittedForm) -> Response:
        visit.publisher(request, sent.pop("form", ""))
        stored, code, action = known_as(name), language(request), sent.pop("action", "check")
        if action == "propose":
            fields, problem = attempt(lambda: forms.with_proposal(sent), code)
            return HTMLResponse(page(request, name, fields or sent, problem=problem), 422 if problem else 200)
        if action == "remove" and stored is not None:
            if sent.get("sure") != "yes":
                return HTMLResponse(page(request, name, sent, problem=LocalText(words(code)["problem_sure"])), 422)
            catalogue, problem = attempt(lambda: desk.without_inference(stored.id), code)
        else:
            catalogue, problem = attempt(lambda: desk.with_inference(forms.inference_data(sent, stored), stored), code)
        if problem is None and action in ("save", "remove"):
            what = stored.id if stored else sent.get("id", "").strip()
            done, problem = attempt(lambda: desk.save(catalogue, sent.get("seen", ""), what), code)
            if problem is None and done:
                after = "/admin?removed=1" if action == "remove" else f"/admin/inference/{what}?saved=1"
                return RedirectResponse(after, 303)
            problem = problem or LocalText(words(code)["problem_stale"])
        if problem is not None:
            return HTMLResponse(page(request, name, sent, problem=problem), 422)
        consequences = desk.consequences(catalogue)
        return HTMLResponse(page(request, name, sent, checked=True, consequences=consequences))


def _requests(app: FastAPI, desk: Desk, visit: Visits) -> None:

    def find_request(number: str) -> StoredRequest | None:
        if number == NEW:
            return None
        asked = requests(desk.store).get(int(number)) if number.isascii() and number.isdigit() else None
        if asked is None:
            raise Refusal("refused_page", "/admin/requests", 404)
        return asked

    def page(request: Request, number: str, fields: forms.Fields, **values: object) -> str:
        asked, code = find_request(number), language(request)
        fired, _ = attempt(lambda: desk.active_inferences(asked), code) if asked else (None, None)
        given = {"problem": None, "outlook": None, "seen": "", "saved": False, **values}
        names = {inference.id: local_text(inference.description, code) for inference in desk.catalogue.inferences}
        return draw(
            "request",
            code,
            "?",
            desk.about,
            form=visit.publisher(request).form,
            place=f"/admin/request/{number}",
            number=number,
            asked=asked,
            fields=fields,
            fired=[names[inference] for inference in fired or []],
            names=names,
            rule_names=RULES,
            database=desk.database is not None,
            **given,
        )

    @app.get("/admin/requests")
    def list_requests(request: Request) -> HTMLResponse:
        form = visit.publisher(request).form
        values: dict[str, object] = {"form": form, "asked": requests(desk.store)}
        return HTMLResponse(draw("requests", language(request), "?", desk.about, **values))

    @app.get("/admin/request/{number}")
    def show(request: Request, number: str) -> HTMLResponse:
        visit.publisher(request)
        asked = find_request(number)
        blank = {**dict.fromkeys(StoredRequest.model_fields, ""), "rule": "coarser", "k": "10"}
        fields = forms.asked_fields(asked) if asked else blank
        return HTMLResponse(page(request, number, fields, saved="saved" in request.query_params))

    @app.post("/admin/request/{number}")
    def edit(request: Request, number: str, sent: SubmittedForm) -> Response:
        visit.publisher(request, sent.pop("form", ""))
        asked, code, action = find_request(number), language(request), sent.pop("action", "look")
        if action in ("publish", "refuse"):
            return _answer(request, number, asked, action, sent, code)
        wanted, problem = attempt(lambda: StoredRequest.model_validate(forms.asked_data(sent)), code)
        _, problem = (None, problem) if problem else attempt(wanted.request, code)
        if problem is None and action == "save":
            kept, problem = attempt(lambda: _keep(number, asked, wanted), code)
            if problem is None:
                return RedirectResponse(f"/admin/request/{kept}?saved=1", 303)
        if problem is not None:
            return HTMLResponse(page(request, number, sent, problem=problem), 422)
        outlook, problem = attempt(lambda: desk.outlook(wanted), code)
        seen = "" if problem or asked is None else wanted.digest(desk.catalogue.digest())
        status = 422 if problem else 200
        return HTMLResponse(page(request, number, sent, outlook=outlook, seen=seen, problem=problem), status)

    def _keep(number: str, asked: StoredRequest | None, wanted: StoredRequest) -> int:
        if asked is None:
            return enter(desk.store, wanted)
        change(desk.store, int(number), wanted.model_dump(exclude={"at", "status", "answered", "reason"}))
        return int(number)

    def _answer(
        request: Request, number: str, asked: StoredRequest | None, action: str, sent: dict[str, str], code: str
    ) -> Response:
        if asked is None:
            raise Refusal("refused_page", "/admin/requests", 404)
        w, fields = words(code), forms.asked_fields(asked)
        if action == "refuse":
            reason = sent.get("reason", "").strip()
            if not reason:
                return HTMLResponse(page(request, number, fields, problem=LocalText(w["problem_reason"])), 422)
            _, problem = attempt(lambda: answer(desk.store, int(number), "refused", reason), code)
        elif sent.get("sure") != "yes":
            problem = LocalText(w["problem_sure"])
        else:
            wanted, problem = attempt(lambda: StoredRequest.model_validate(forms.asked_data(sent)), code)
            if problem or sent.get("seen") != wanted.digest(desk.catalogue.digest()):
                problem = LocalText(w["problem_unseen"])
            else:  # exactly the reviewed request is stored and published
                _, problem = attempt(lambda: (_keep(number, asked, wanted), desk.publish(int(number))), code)
        if problem is not None:
            return HTMLResponse(page(request, number, fields, problem=problem), 422)
        return RedirectResponse(f"/admin/request/{number}", 303)
