"""The pages of the gateway as text: Jinja templates in three languages, without scripts."""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING, TypedDict

from celosia.gateway.explain import DIGITS, Explanation, error_phrases
from celosia.gateway.forecast import SIZES
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.site.overview import holders, recent_queries
from celosia.gateway.site.refusals import Text
from celosia.gateway.site.translations import words
from celosia.gateway.site.view import AnswerView, ideas, limits, loss_name, past_queries
from celosia.show.formats import formats
from celosia.show.look import LANGUAGES, tokens

if TYPE_CHECKING:
    import jinja2

    from celosia.web.sessions import Session

COST = 0.1
"""Default of the cost in the form."""


class Form(TypedDict, total=False):
    """Fields of the form for a query, as they were typed."""

    sql: str
    cost: str
    delta: str
    fresh: str


class Page:
    """Renderer of the pages of one gateway in one language."""

    def __init__(self, gateway: Gateway, language: str) -> None:
        self._gateway, self._language = gateway, language

    def sign_in(self, problem: Text | None = None) -> str:
        """Render the form that asks for a key."""
        return self._render("sign_in", problem=problem)

    def desk(
        self,
        analyst: str,
        visit: Session,
        here: str = "?",
        *,
        form: Form | None = None,
        problem: Text | None = None,
        explanation: Explanation | None = None,
        answer: AnswerView | None = None,
        said: str = "",
    ) -> str:
        """Render the page of an analyst; ``form`` fills the form, ``here`` is the address for other languages."""
        facts = self._gateway.facts
        empty: Form = {"sql": "", "cost": formats(self._language).num(COST), "delta": "", "fresh": ""}
        return self._render(
            "desk",
            here,
            analyst=analyst,
            token=visit.form,
            asking={**empty, **(form or {})},
            problem=problem,
            explanation=explanation,
            answer=answer,
            said=said,
            limits=limits(self._gateway, analyst),
            history=past_queries(self._gateway, analyst),
            tables=facts.tables,
            ideas=ideas(facts),
            approximate=facts.measure != "pure",
            sizes=SIZES,
            digits=DIGITS,
            error_phrases=error_phrases,
        )

    def admin(self, visit: Session, keys: Keys, *, problem: Text | None = None, revoked: bool = False) -> str:
        """Render the page of the administrator."""
        return self._render(
            "admin",
            token=visit.form,
            problem=problem,
            revoked=revoked,
            whole=limits(self._gateway, "")[0],
            holders=holders(self._gateway, keys),
            recent=recent_queries(self._gateway),
        )

    def _render(self, name: str, here: str = "?", **values: object) -> str:
        facts, form = self._gateway.facts, formats(self._language)
        shared = {
            "w": words(self._language),
            "code": self._language,
            "num": form.num,
            "plural": form.plural,
            "switch": {code: (words(code)["language"], f"{here}lang={code}") for code in LANGUAGES},
            "dataset": facts.name,
            "loss": words(self._language)["losses"][loss_name(self._gateway)],
            "neighbours": facts.neighbours,
        }
        return _environment().get_template(f"{name}.html.j2").render(**shared, **values)


def styles() -> str:
    """Return the style sheet of the pages."""
    return tokens() + (resources.files("celosia.gateway.site") / "templates" / "style.css").read_text("utf-8")


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    loader = jinja2.PackageLoader("celosia.gateway.site", "templates")
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
