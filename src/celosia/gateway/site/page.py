"""The pages of the gateway as text: Jinja templates in three languages, without scripts."""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING, Any

from celosia.gateway.explain import DIGITS, Explanation, off
from celosia.gateway.forecast import SIZES
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.site.overview import holders, recent
from celosia.gateway.site.refusals import Said
from celosia.gateway.site.view import AnswerView, asked, ideas, limits, loss_name
from celosia.gateway.site.wording import words
from celosia.show.formats import formats
from celosia.show.look import LANGUAGES, tokens

if TYPE_CHECKING:
    import jinja2

    from celosia.web.sessions import Session

COST = 0.1
"""What is in the field of the cost at first."""


class Page:
    """Renders the pages of one gateway in one language."""

    def __init__(self, gateway: Gateway, language: str) -> None:
        self._gateway, self._language = gateway, language

    def sign_in(self, problem: Said | None = None) -> str:
        """The form that asks for a key."""
        return self._draw("sign_in", problem=problem)

    def desk(
        self,
        analyst: str,
        visit: Session,
        here: str = "?",
        *,
        asking: dict[str, str] | None = None,
        problem: Said | None = None,
        explanation: Explanation | None = None,
        answer: AnswerView | None = None,
        said: str = "",
    ) -> str:
        """The page of an analyst: ``asking`` is what stands in the form, ``here`` the address for other languages."""
        facts = self._gateway.facts
        first = {"sql": "", "cost": formats(self._language).num(COST), "delta": "", "fresh": ""}
        return self._draw(
            "desk",
            here,
            analyst=analyst,
            token=visit.form,
            asking={**first, **(asking or {})},
            problem=problem,
            explanation=explanation,
            answer=answer,
            said=said,
            limits=limits(self._gateway, analyst),
            history=asked(self._gateway, analyst),
            tables=facts.tables,
            ideas=ideas(facts),
            approximate=facts.measure != "pure",
            sizes=SIZES,
            digits=DIGITS,
            off=off,
        )

    def admin(self, visit: Session, keys: Keys, *, problem: Said | None = None, revoked: bool = False) -> str:
        """The page of the administrator."""
        return self._draw(
            "admin",
            token=visit.form,
            problem=problem,
            revoked=revoked,
            whole=limits(self._gateway, "")[0],
            holders=holders(self._gateway, keys),
            recent=recent(self._gateway),
        )

    def _draw(self, name: str, here: str = "?", **values: Any) -> str:
        facts, say = self._gateway.facts, formats(self._language)
        shared = {
            "w": words(self._language),
            "code": self._language,
            "num": say.num,
            "plural": say.plural,
            "switch": {code: (words(code)["language"], f"{here}lang={code}") for code in LANGUAGES},
            "dataset": facts.name,
            "loss": words(self._language)["losses"][loss_name(self._gateway)],
            "neighbours": facts.neighbours,
        }
        return _environment().get_template(f"{name}.html.j2").render(**shared, **values)


def styles() -> str:
    """The style sheet of the pages."""
    return tokens() + (resources.files("celosia.gateway.site") / "templates" / "style.css").read_text("utf-8")


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    loader = jinja2.PackageLoader("celosia.gateway.site", "templates")
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
