"""Pages of the administrator: inferences, rules, coverage and ranges of counts, but no choice and no exact count."""

from __future__ import annotations

import re
from typing import Any

from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables
from celosia.consent.publication.edition import FEWEST
from celosia.consent.rules.rules import LANGUAGES, Catalogue, Inference, Rule
from celosia.consent.site.pages import NO_CONTACT, About, Pages, draw, local_text, words


def count_range(n: int) -> str:
    """Return the range of a count.

    A withheld count next to exact ones could be derived from the total, so all counts are ranges: of three counts and
    their total, none can be determined closer than to two values.

    >>> count_range(0), count_range(4), count_range(5), count_range(123)
    ('< 5', '< 5', '5–9', '120–124')
    """
    low = n // FEWEST * FEWEST
    return f"{low}–{low + FEWEST - 1}" if low else f"< {FEWEST}"


def share(n: int, total: int) -> str:
    """Return the share of a total, computed from the ranges of both.

    >>> share(37, 121), share(3, 121), share(0, 0)
    ('(≈ 29 %)', '', '')
    """
    part, whole = (x // FEWEST * FEWEST for x in (n, total))
    return f"(≈ {100 * part // whole} %)" if part else ""


class Overview:
    """Pages of the administrator."""

    def __init__(self, catalogue: Catalogue, store: Preferences, about: About = NO_CONTACT) -> None:
        self._catalogue, self._store, self._pages = catalogue, store, Pages(catalogue, store)
        self._about = about

    def inferences(self, form: str, language: str, *, removed: bool = False) -> str:
        """Render the inferences with their rules and counts."""
        total, respondents = self._store.count(), self._count_respondents()
        counts = self._store.counts(self._catalogue.ids())
        return draw(
            "admin",
            language,
            "?",
            self._about,
            rows=[self._row(each, counts[each.id], total, language) for each in self._catalogue.inferences],
            trail=[_event(row, language) for row in self._store.trail(50)],
            form=form,
            removed=removed,
            owners=count_range(total),
            answered=f"{count_range(respondents)} {share(respondents, total)}".strip(),
            meaning="block" if self._store.default else "allow",
            least=FEWEST,
        )

    def _row(self, inference: Inference, counts: dict[str, int], total: int, language: str) -> dict[str, object]:
        answered = counts["block"] + counts["allow"]
        return {
            "id": inference.id,
            "sentence": local_text(inference.description, language),
            "category": self._pages.class_name(inference.category, language) if inference.category else None,
            "extra": inference.extra,
            "coverage": f"{count_range(answered)} {share(answered, total)}".strip(),
            "rules": [_rule(rule, language) for rule in inference.rules],
            "active": any(rule.active for rule in inference.rules),
            "unwritten": [words(code)["language"] for code in LANGUAGES if not inference.description.get(code)],
            **{key: count_range(value) for key, value in counts.items()},
        }

    def _count_respondents(self) -> int:
        import sqlalchemy as sa

        t = tables().choices
        query = sa.select(sa.func.count(t.c.owner.distinct())).where(t.c.inference.in_(self._catalogue.ids()))
        with self._store.engine.connect() as connection:
            return int(connection.execute(query).scalar_one())

    def answers(self, form: str, language: str) -> str:
        """Render the answers to the questionnaire by group of respondents, without small groups."""
        from markupsafe import Markup

        from celosia.consent.owners.questionnaire import questions, tabulate

        w = words(language)
        tabulation = tabulate(self._store).without_few(FEWEST)
        means = {(row["question"], row["group"]): f"{row['mean']:.1f}" for row in tabulation.frame.to_dicts()}
        parts: dict[str, list[Any]] = {"mean_private": [], "mean_trust": []}
        for key, question in questions().items():
            name = self._pages.class_name(question.category, language) if question.category else None
            row = (
                name,
                question.sentence(language),
                [means.get((key, group), "") for group in sorted(tabulation.respondents)],
            )
            parts["mean_private" if question.category else "mean_trust"].append(row)
        chart = Markup(tabulation.chart(language, title=w["chart"], ungrouped=w["group_none"]))  # noqa: S704 - escaped there
        groups = [(group or w["group_none"], count_range(n)) for group, n in sorted(tabulation.respondents.items())]
        values: dict[str, object] = {"groups": groups, "parts": parts, "chart": chart, "least": FEWEST}
        return draw("answers", language, "?", self._about, form=form, **values)


def _rule(rule: Rule, language: str) -> dict[str, object]:
    w, size = words(language), rule.size()
    if rule.threshold is not None:
        needs = w["rule_share"].format(share=f"{100 * rule.threshold:.0f} %", size=size)
    else:
        needs = w["rule_count"].format(least=rule.minimum, size=size)
    values = [
        (f"{f'{v.table}.' if v.table else ''}{v.field} {v.op} {v.literal}", v.scope == "data") for v in rule.values
    ]
    return {"active": rule.active, "needs": needs, "tables": rule.tables, "fixed": values, "note": rule.note}


def _event(row: dict[str, str], language: str) -> dict[str, str]:
    """Return an entry of the audit trail in a language, with counts as ranges."""
    w, what, detail = words(language), row["what"], row["detail"]
    hashed = what in ("look", "stopped")
    numbers = [count_range(int(n) if n.isdigit() else 0) for n in re.findall(r"\d+|a few", detail)]
    if what == "publication" and numbers:
        numbers[0] = detail.split()[0]  # inferences, not people
    pattern = w["trail_detail"].get(detail) or w["trail_detail"].get(what, "")
    fits = pattern and pattern.count("{") <= len(numbers)
    return {
        "at": row["at"],
        "event": w["trail_event"].get(what, what),
        "who": w["trail_who"].get(row["who"], row["who"]),
        "detail": pattern.format(*numbers)
        if fits
        else detail
        if hashed
        else re.sub(r"\d+", lambda n: count_range(int(n[0])), detail),
    }
