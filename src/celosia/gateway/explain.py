"""What a question would cost and how good its answer would be, told before anything is spent or read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from celosia.gateway.answer import LEVEL, shown_cost
from celosia.gateway.forecast import PLACES, Forecast, forecasts
from celosia.gateway.noising import Noising, Share
from celosia.gateway.site.wording import words
from celosia.gateway.sql.plan import Plan
from celosia.kernels.budget.cost import Cost
from celosia.show.formats import Formats, formats

DIGITS = 4
"""Digits of a number that tells how far another is off."""


@dataclass(frozen=True)
class Explanation:
    """Cost, expected error of each column, sensitivity and noise of each number, and the SQL that would be run."""

    cost: Cost
    neighbours: str
    rows_per_person: int
    cells: int | None
    threshold: int | None
    columns: tuple[Forecast, ...]
    numbers: tuple[dict[str, Any], ...]
    sql: tuple[str, ...]
    noising: Noising = field(repr=False)

    def data(self) -> dict[str, Any]:
        """The explanation as plain data."""
        return {
            "cost": shown_cost(self.cost),
            "neighbours": self.neighbours,
            "rows per person": self.rows_per_person,
            "cells": self.cells,
            "threshold": self.threshold,
            "columns": [column.data() for column in self.columns],
            "numbers": [dict(number) for number in self.numbers],
            "sql": list(self.sql),
        }

    def within(self, t: float) -> dict[str, float]:
        """Probability that each number is off by at most ``t``, in its own unit; quantiles are left out."""
        return {
            f"{i + 1}. {self.numbers[i]['name']}": share.noise.within(t / share.number.unit) if share.noise else 1.0
            for i, share in enumerate(self.noising.shares)
            if share.number.kind != "quantile"
        }

    def summary(self, language: str = "en") -> list[str]:
        """What it costs and what the answer has, in sentences."""
        w, say = words(language), formats(language)
        cost = ", ".join(f"{w['losses'][name]} {say.num(value, 6)}" for name, value in shown_cost(self.cost).items())
        lines = [w["costs"].format(cost=cost, neighbours=w["neighbours"][self.neighbours])]
        lines.append(w["groups"] if self.cells is None else say.plural(w["cells"], self.cells))
        lines.append(say.plural(w["rows"], self.rows_per_person))
        if self.threshold is not None:
            lines.append(w["threshold"].format(n=say.num(self.threshold)))
        return lines

    def heading(self, language: str = "en") -> str:
        """What stands above the errors."""
        w = words(language)
        return f"{w['errors']}. {w['level']}"

    def errors(self, language: str = "en") -> list[str]:
        """How far each column may be off, in sentences."""
        return [f"{column.name}: {'; '.join(off(column, language))}." for column in self.columns]

    def ways(self, language: str = "en") -> str:
        """What the errors are that depend on the number of records; nothing when none does."""
        sized = any(column.kind == "sized" for column in self.columns)
        return str(words(language)["sizes_help"]).format(n=2 * len(PLACES)) if sized else ""

    def noises(self, language: str = "en") -> list[tuple[str, str]]:
        """The numbers that the answer is computed from: what each is, and what noise it gets."""
        say = formats(language)
        return [_described(number, words(language), say) for number in self.numbers]

    def text(self, language: str = "en") -> str:
        """The explanation in sentences."""
        w = words(language)
        lines = [*self.summary(language), "", self.heading(language)]
        lines += [f"- {line}" for line in self.errors(language)]
        lines += [self.ways(language)] if self.ways(language) else []
        lines += ["", f"{w['noise']}:", *(f"- {name}: {what}" for name, what in self.noises(language))]
        return "\n".join(lines)


def off(column: Forecast, language: str = "en") -> list[str]:
    """How far a column may be off: one phrase, or one for each number of records."""
    w, say = words(language), formats(language)
    if column.kind == "ranks":
        return [w["ranks_off"].format(n=say.num(column.ranks))]
    if column.kind in ("exact", "open"):
        return [w[column.kind]]
    if column.kind == "fixed":
        return [w["fixed"].format(half=say.num(column.sizes[0].half, DIGITS))]
    return [
        w["unbounded" if at.half is None else "sized"].format(half=say.num(at.half, DIGITS), n=say.num(at.size))
        for at in column.sizes
    ]


def explain(plan: Plan, noising: Noising, cost: Cost, cells: int | None, sql: tuple[str, ...]) -> Explanation:
    """Describe each column and each number of a plan."""
    numbers = tuple(_account(share, noising) for share in noising.shares)
    columns = forecasts(plan, noising)
    return Explanation(cost, plan.neighbours, plan.rows, cells, noising.threshold, columns, numbers, sql, noising)


def _account(share: Share, noising: Noising) -> dict[str, Any]:
    number = share.number
    account: dict[str, Any] = {"kind": number.kind, "share": share.allotted.loss, "sensitivity": share.sensitivity.l1}
    if number.kind == "quantile":
        account |= {"values": len(number.candidates()), "ranks": math.ceil(share.rank_error(LEVEL))}
    elif share.noise is not None:
        norm, size = ("L1", share.sensitivity.l1) if noising.shape == "laplace" else ("L2", share.sensitivity.l2)
        account |= {"noise": noising.shape, "norm": norm, "moves": size * number.unit, "unit": number.unit}
        account |= {"scale": share.noise.scale() * number.unit, "half width": share.half(LEVEL) * number.unit}
    if number.kind in ("sum", "square"):
        account |= {"unit": number.unit, "centre": number.centre}
        account |= {"low": number.low * number.unit, "high": number.high * number.unit}
    name, derivation = _described(account, words("en"), formats("en"))
    return {"name": name, **account, "derivation": derivation}


def _described(account: dict[str, Any], w: dict[str, Any], say: Formats) -> tuple[str, str]:
    centre = account.get("centre", 0.0)
    kind = "centred" if account["kind"] == "sum" and centre else account["kind"]
    name = w["ingredients"][kind].format(centre=say.num(centre, DIGITS))
    sentences = w["derivation"]
    if "ranks" in account:
        chosen = sentences["chosen"].format(n=say.num(account["values"]), sensitivity=say.num(account["sensitivity"]))
        return name, f"{chosen} {w['ranks_off'].format(n=say.num(account['ranks'])).capitalize()}."
    if "noise" not in account:
        return name, sentences["same"]
    numbers = {key: say.num(account[value], DIGITS) for key, value in (("scale", "scale"), ("half", "half width"))}
    drawn = sentences[account["noise"]].format(
        norm=account["norm"], sensitivity=say.num(account["moves"], DIGITS), **numbers
    )
    if "low" not in account:
        return name, drawn
    ends = {end: say.num(account[end], DIGITS) for end in ("low", "high")}
    return name, f"{sentences['bounds'].format(**ends)} {drawn}"
