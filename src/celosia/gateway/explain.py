"""Explanation of a query before anything is spent or read: its cost, and the error of its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypedDict

from celosia.gateway.answer import LEVEL, cost_data
from celosia.gateway.forecast import PLACES, Forecast, forecasts
from celosia.gateway.noise import NoisePlan, NumberNoise, Shape
from celosia.gateway.site.translations import Words, words
from celosia.gateway.sql.plan import Plan
from celosia.kernels.budget.cost import Cost
from celosia.show.formats import Formats, formats

DIGITS = 4
"""Significant digits of an error."""

Account = TypedDict(
    "Account",
    {
        "name": str,
        "kind": str,
        "share": float,
        "sensitivity": float,
        "values": int,
        "ranks": int,
        "noise": str,
        "norm": str,
        "moves": float,
        "unit": float,
        "scale": float,
        "half width": float,
        "centre": float,
        "low": float,
        "high": float,
        "derivation": str,
    },
    total=False,
)
"""Sensitivity and noise of one number as plain data; a number has those keys that apply to it."""
ExplanationData = TypedDict(
    "ExplanationData",
    {
        "cost": dict[str, float],
        "neighbours": str,
        "rows per person": int,
        "cells": int | None,
        "threshold": int | None,
        "columns": list[dict[str, object]],
        "numbers": list[Account],
        "sql": list[str],
    },
)


@dataclass(frozen=True)
class Explanation:
    """Cost, expected error of each column, sensitivity and noise of each number, and the SQL that would be run."""

    cost: Cost
    neighbours: str
    rows_per_person: int
    cells: int | None
    threshold: int | None
    columns: tuple[Forecast, ...]
    numbers: tuple[Account, ...]
    sql: tuple[str, ...]
    noise_plan: NoisePlan = field(repr=False)

    def data(self) -> ExplanationData:
        """Return the explanation as plain data."""
        return {
            "cost": cost_data(self.cost),
            "neighbours": self.neighbours,
            "rows per person": self.rows_per_person,
            "cells": self.cells,
            "threshold": self.threshold,
            "columns": [column.data() for column in self.columns],
            "numbers": list(self.numbers),
            "sql": list(self.sql),
        }

    def coverage(self, t: float) -> dict[str, float]:
        """Return the probability that each number is off by at most ``t``, in its own unit; quantiles are left out."""
        return {
            f"{i + 1}. {self.numbers[i]['name']}": each.noise.coverage(t / each.number.unit) if each.noise else 1.0
            for i, each in enumerate(self.noise_plan.numbers)
            if each.number.kind != "quantile"
        }

    def summary(self, language: str = "en") -> list[str]:
        """Return sentences on the cost and on the rows of the answer."""
        w, form = words(language), formats(language)
        cost = ", ".join(f"{w['losses'][name]} {form.num(value, 6)}" for name, value in cost_data(self.cost).items())
        lines = [w["costs"].format(cost=cost, neighbours=w["neighbours"][self.neighbours])]
        lines.append(w["groups"] if self.cells is None else form.plural(w["cells"], self.cells))
        lines.append(form.plural(w["rows"], self.rows_per_person))
        if self.threshold is not None:
            lines.append(w["threshold"].format(n=form.num(self.threshold)))
        return lines

    def heading(self, language: str = "en") -> str:
        """Return the heading of the errors."""
        w = words(language)
        return f"{w['errors']}. {w['level']}"

    def errors(self, language: str = "en") -> list[str]:
        """Return a sentence on the error of each column."""
        return [f"{column.name}: {'; '.join(error_phrases(column, language))}." for column in self.columns]

    def size_note(self, language: str = "en") -> str:
        """Return how errors that depend on the number of records are computed; empty when there are none."""
        sized = any(column.kind == "sized" for column in self.columns)
        return str(words(language)["sizes_help"]).format(n=2 * len(PLACES)) if sized else ""

    def noises(self, language: str = "en") -> list[tuple[str, str]]:
        """Return the name and the noise of each number that the answer is computed from."""
        form = formats(language)
        return [_describe(number, words(language), form) for number in self.numbers]

    def text(self, language: str = "en") -> str:
        """Return the explanation in sentences."""
        w = words(language)
        lines = [*self.summary(language), "", self.heading(language)]
        lines += [f"- {line}" for line in self.errors(language)]
        lines += [self.size_note(language)] if self.size_note(language) else []
        lines += ["", f"{w['noise']}:", *(f"- {name}: {what}" for name, what in self.noises(language))]
        return "\n".join(lines)


def error_phrases(column: Forecast, language: str = "en") -> list[str]:
    """Return the error of a column: one phrase, or one for each number of records."""
    w, form = words(language), formats(language)
    if column.kind == "ranks":
        return [w["ranks_off"].format(n=form.num(column.ranks))]
    if column.kind in ("exact", "open"):
        return [w[column.kind]]
    if column.kind == "fixed":
        return [w["fixed"].format(half=form.num(column.sizes[0].half, DIGITS))]
    return [
        w["unbounded" if at.half is None else "sized"].format(half=form.num(at.half, DIGITS), n=form.num(at.size))
        for at in column.sizes
    ]


def explain(plan: Plan, noise_plan: NoisePlan, cost: Cost, cells: int | None, sql: tuple[str, ...]) -> Explanation:
    """Describe each column and each number of a plan."""
    numbers = tuple(_account(each, noise_plan.shape) for each in noise_plan.numbers)
    columns = forecasts(plan, noise_plan)
    return Explanation(cost, plan.neighbours, plan.rows, cells, noise_plan.threshold, columns, numbers, sql, noise_plan)


def _account(noise: NumberNoise, shape: Shape) -> Account:
    number = noise.number
    account: Account = {"kind": number.kind, "share": noise.allotted.loss, "sensitivity": noise.sensitivity.l1}
    if number.kind == "quantile":
        account |= {"values": len(number.candidates()), "ranks": math.ceil(noise.rank_error(LEVEL))}
    elif noise.noise is not None:
        norm, size = ("L1", noise.sensitivity.l1) if shape == "laplace" else ("L2", noise.sensitivity.l2)
        account |= {"noise": shape, "norm": norm, "moves": size * number.unit, "unit": number.unit}
        account |= {"scale": noise.noise.scale() * number.unit, "half width": noise.half_width(LEVEL) * number.unit}
    if number.kind in ("sum", "square"):
        account |= {"unit": number.unit, "centre": number.centre}
        account |= {"low": number.low * number.unit, "high": number.high * number.unit}
    name, derivation = _describe(account, words("en"), formats("en"))
    return {"name": name, **account, "derivation": derivation}


def _describe(account: Account, w: Words, form: Formats) -> tuple[str, str]:
    centre = account.get("centre", 0.0)
    kind = "centred" if account["kind"] == "sum" and centre else account["kind"]
    name = w["ingredients"][kind].format(centre=form.num(centre, DIGITS))
    sentences = w["derivation"]
    if "ranks" in account:
        choice = sentences["chosen"].format(n=form.num(account["values"]), sensitivity=form.num(account["sensitivity"]))
        return name, f"{choice} {w['ranks_off'].format(n=form.num(account['ranks'])).capitalize()}."
    if "noise" not in account:
        return name, sentences["same"]
    noise = sentences[account["noise"]].format(
        norm=account["norm"],
        sensitivity=form.num(account["moves"], DIGITS),
        scale=form.num(account["scale"], DIGITS),
        half=form.num(account["half width"], DIGITS),
    )
    if "low" not in account:
        return name, noise
    low, high = form.num(account["low"], DIGITS), form.num(account["high"], DIGITS)
    return name, f"{sentences['bounds'].format(low=low, high=high)} {noise}"
