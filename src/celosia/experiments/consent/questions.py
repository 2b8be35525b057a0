"""The seven questions of the thesis, answered from the data, with what the control shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.experiments.consent.experiment import RULES, Results, magnitudes, others_cost

_AT = {str(rule): i for i, rule in enumerate(RULES)}


PRINTED = [
    ("1 effect on everybody", "lower at every k"),
    ("2 effect on blocking owners", "lower, except k = 120 with 5 %"),
    ("3 against the promise 1/k", "above 25 % for every k"),
    ("4 effect of k", "falls as k grows"),
    ("5 effect of what the intruder knows", "5 % lower than 10 %"),
    ("6 magnitude for blocking owners", "at least 3 points"),
    ("7 what it costs", "CM nearly linear in k, at most 0.25"),
]
"""The questions and what the thesis prints."""


def answers(found: Results) -> list[dict[str, str]]:
    """Question, what the thesis says, what comes out here."""
    p, k = found.p_reid, found.plan.k
    rows = magnitudes(found)

    def significant(rule: str, group: str) -> str:
        mine = [r for r in rows if r["rule"] == rule and r["group"] == group]
        good = sum(r["p"] < 0.01 and r["mean"] > 0 for r in mine)
        low, high = min(r["mean"] for r in mine), max(r["mean"] for r in mine)
        return f"{good} of {len(mine)} combinations significant at 1 %, by {100 * low:.1f} to {100 * high:.1f} points"

    same = float(found.equal.mean())
    least = {rule: float(p[:, :, :, _AT[rule], 0].mean(axis=(0,)).min()) for rule in ("standard", "class")}
    by_k = [float(p[:, i, :, _AT["class"], 0].mean()) for i in range(len(k))]
    by_share = [float(p[:, :, e, _AT["class"], 0].mean()) for e in range(len(found.plan.external))]
    altered = [float(found.altered[:, i, _AT["class"], 0].mean()) for i in range(len(k))]
    cost = others_cost(found)
    shares = ", ".join(f"{c['coarser share']:.0%}" for c in cost)
    falls = "falls" if all(np.diff(by_k) < 0) else f"does not fall everywhere: {_list(by_k)}"
    knows = "as printed" if all(np.diff(by_share) > 0) else _list(by_share)
    blocking = {rule: significant(rule, "blocking") for rule in ("class", "coarser", "exchange", "control")}
    here = [
        (
            f"class rule: {significant('class', 'all')}; but {same:.1%} of its labels are those of standard(k + X): "
            "it is the larger k, not the preferences"
        ),
        f"class rule: {blocking['class']}; coarser: {blocking['coarser']}; exchange: {blocking['exchange']}",
        f"at least {min(least.values()):.1%}, against at most {1 / min(k):.2%} promised",
        falls,
        knows,
        f"class rule: {blocking['class']}; control, without any preference: {blocking['control']}",
        (
            f"altered rows {_list(altered)}; GCP of the others rises under coarser by {shares} of what the control "
            "costs them (by k)"
        ),
    ]
    return [{"question": q, "thesis": t, "here": h} for (q, t), h in zip(PRINTED, here, strict=True)]


def summary(found: Results) -> dict[str, Any]:
    """The figures that are checked."""
    rows = [r for r in magnitudes(found) if r["group"] == "blocking"]
    out: dict[str, Any] = {"labels equal to the control (class rule)": float(found.equal.mean())}
    for rule in ("coarser", "exchange"):
        mine = [r for r in rows if r["rule"] == rule]
        out[f"{rule}: lowers P_reid of blocking owners significantly"] = (
            f"{sum(r['p'] < 0.01 and r['mean'] > 0 for r in mine)} of {len(mine)}"
        )
        most = max(c[f"{rule} share"] for c in others_cost(found))
        out[f"{rule}: rise of the others' GCP, of the control's, at most"] = most
    smallest = zip(found.plan.k, found.strict.min(axis=0), strict=True)
    out["coarser: smallest class"] = ", ".join(f"{int(n)} at k = {k}" for k, n in smallest)
    out["exchange: share of rows that are not true"] = float(found.untrue.mean())
    sets, plain = found.sets.mean(axis=(0, 1)), found.gcp[:, :, [_AT["standard"], _AT["control"]], 0].mean(axis=(0, 1))
    out["GCP of standard(k) and of the control"] = _list([float(v) for v in plain])
    out["the same when classes are named by sets of districts"] = _list([float(v) for v in sets])
    out["post-condition holds in every run"] = found.holds
    return out


def _list(values: list[float]) -> str:
    return ", ".join(f"{v:.1%}" for v in values)
