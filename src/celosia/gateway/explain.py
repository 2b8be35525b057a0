"""What a question would cost and how good its answer would be, told before anything is spent or read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from celosia.gateway.answer import LEVEL, shown_cost
from celosia.gateway.noising import Noising, Share
from celosia.gateway.sql.plan import Plan
from celosia.mathematics.budget.cost import Cost

_NAMES = {
    "rows": "number of rows",
    "present": "number of known values",
    "persons": "number of persons",
    "distinct": "number of distinct values",
    "sum": "sum of the value in units",
    "square": "sum of squared distances in units",
    "quantile": "quantile",
}


@dataclass(frozen=True)
class Explanation:
    """Sensitivity, noise and expected error of each number, the cells, and the SQL that would be run."""

    cost: Cost
    neighbours: str
    rows_per_person: int
    cells: int | None
    threshold: int | None
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
            "numbers": [dict(number) for number in self.numbers],
            "sql": list(self.sql),
        }

    def within(self, t: float) -> dict[str, float]:
        """Probability that each number is off by at most ``t``, in its own unit; quantiles are left out."""
        return {
            f"{i + 1}. {_NAMES[share.number.kind]}": share.noise.within(t / share.number.unit) if share.noise else 1.0
            for i, share in enumerate(self.noising.shares)
            if share.number.kind != "quantile"
        }

    def text(self) -> str:
        """The explanation in sentences."""
        cost = ", ".join(f"{name} {value:g}" for name, value in shown_cost(self.cost).items())
        where = (
            "groups that are found, when enough persons are in them" if self.cells is None else f"{self.cells} cells"
        )
        lines = [
            f"This question costs {cost} under {self.neighbours} neighbours, and answers {where}.",
            f"A person contributes at most {self.rows_per_person} row(s).",
        ]
        lines += [f"- {number['name']}: {number['derivation']} {number['forecast']}" for number in self.numbers]
        if self.threshold is not None:
            lines.append(f"A group is shown when its noisy number of persons is at least {self.threshold}.")
        return "\n".join(lines)


def explain(plan: Plan, noising: Noising, cost: Cost, cells: int | None, sql: tuple[str, ...]) -> Explanation:
    """Describe each number of a plan."""
    numbers = tuple(_account(share, noising, plan, cells) for share in noising.shares)
    return Explanation(cost, plan.neighbours, plan.rows, cells, noising.threshold, numbers, sql, noising)


def _account(share: Share, noising: Noising, plan: Plan, cells: int | None) -> dict[str, Any]:
    number, loss = share.number, share.allotted.loss
    account: dict[str, Any] = {"name": _NAMES[number.kind], "share": loss, "sensitivity": share.sensitivity.l1}
    if number.kind == "quantile":
        off = math.ceil(share.rank_error(LEVEL))
        return account | {
            "derivation": f"chosen among {len(number.candidates())} public values, score sensitivity "
            f"{share.sensitivity.l1:g}.",
            "forecast": f"It is off by at most {off} ranks with {LEVEL:.0%}.",
        }
    if share.noise is None:
        return account | {"derivation": "the same for all data within the declared bounds.", "forecast": "It is exact."}
    norm, size = ("L1", share.sensitivity.l1) if noising.shape == "laplace" else ("L2", share.sensitivity.l2)
    bounds = ""
    if number.kind in ("sum", "square"):
        bounds = f" each row adds {number.low} to {number.high} units of {number.unit:g};"
    half = share.half(LEVEL) * number.unit
    account |= {"scale": share.noise.scale() * number.unit, "half width": half, "unit": number.unit}
    where = "all groups" if cells is None else f"{cells} cell(s)"
    account["derivation"] = (
        f"{bounds} {plan.rows} row(s) a person, {norm} sensitivity {size:g} over {where}, "
        f"{noising.shape} noise of scale {share.noise.scale() * number.unit:g}."
    ).strip()
    account["forecast"] = f"It is within ±{half:g} with {LEVEL:.0%}."
    return account
