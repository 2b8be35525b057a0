"""The seven questions of the thesis, answered from the data, with what the control shows; and as statements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia_reproduce.consent.anova import anova, assumptions
from celosia_reproduce.consent.experiment import RULES, Results, magnitudes, others_cost, paired
from celosia_reproduce.statements import Statement, printed

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
ALPHA = {60: 0.004, 90: 0.003, 120: 0.002, 150: 0.001}
"""Table 8.2: α of Lodha and Thomas for each k."""
OTHER_DATA = "the students are generated: directions can be compared, sizes follow from our choice of districts"
LARGER_K = "nearly every class has a blocking owner, so the rule is the larger k + X for everybody"


def answers(results: Results) -> list[dict[str, str]]:
    """Return each question with the answer of the thesis and that of the runs."""
    p, k = results.p_reid, results.plan.k
    rows = magnitudes(results)

    def significant(rule: str, group: str) -> str:
        mine = [r for r in rows if r["rule"] == rule and r["group"] == group]
        good = sum(r["p"] < 0.01 and r["mean"] > 0 for r in mine)
        low, high = min(r["mean"] for r in mine), max(r["mean"] for r in mine)
        return f"{good} of {len(mine)} combinations significant at 1 %, by {100 * low:.1f} to {100 * high:.1f} points"

    same = float(results.equal.mean())
    least = {rule: float(p[:, :, :, _AT[rule], 0].mean(axis=(0,)).min()) for rule in ("standard", "class")}
    by_k = [float(p[:, i, :, _AT["class"], 0].mean()) for i in range(len(k))]
    by_share = [float(p[:, :, e, _AT["class"], 0].mean()) for e in range(len(results.plan.external))]
    altered = [float(results.altered[:, i, _AT["class"], 0].mean()) for i in range(len(k))]
    cost = others_cost(results)
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


def statements(results: Results) -> list[Statement]:
    """Check the statements of chapter 8 on the runs: the published rule against the standard method."""
    k, shares = results.plan.k, results.plan.external
    p = results.p_reid[:, :, :, [_AT["standard"], _AT["class"]]]
    gain = magnitudes(results, ["class"])
    everybody = [row for row in gain if row["group"] == "all"]
    blocking = [row for row in gain if row["group"] == "blocking"]
    means = p[..., 0].mean(axis=0)
    altered = results.altered[:, :, [_AT["standard"], _AT["class"]], 0].mean(axis=0)
    saved = np.mean([row["mean"] for row in blocking]) * results.blocking
    most = [float(np.max([row["p"] for row in rows])) for rows in (everybody, blocking)]
    out = [
        printed("Question 1", "lower for everybody at every k", True, all(row["mean"] > 0 for row in everybody)),
        printed("Question 1", "all means differ, p < 0.0001", True, most[0] < 1e-4, why=LARGER_K),
        printed(
            "Question 2", "lower for those who block", True, all(row["mean"] > 0 for row in blocking), why=LARGER_K
        ),
        printed(
            "Question 3", "above 25 % for every k and both methods", True, bool(means.min() > 0.25), why=OTHER_DATA
        ),
        printed("Question 3", "above the promise of 1/k", True, bool((means > 1 / np.array(k)[:, None, None]).all())),
        printed("Question 4", "falls as k grows", True, bool((np.diff(means, axis=0) < 0).all())),
        printed(
            "Question 5", "lower when the intruder knows 5 % than 10 %", True, bool((np.diff(means, axis=1) > 0).all())
        ),
        printed(
            "Question 6", "at least 3 points at every k", True, min(r["mean"] for r in blocking) >= 0.03, why=OTHER_DATA
        ),
        printed(
            "Question 6",
            "more than 300 students of a block",
            True,
            bool(saved > 300),
            why=f"of those who block {saved:.0f} in a block; 3 % of all its rows are 319, of those who block 83",
        ),
        printed("Question 7", "altered rows never above 0.25", True, bool(altered.max() <= 0.25), why=OTHER_DATA),
        printed(
            "Question 7",
            "the rule alters more than the standard method",
            True,
            bool((altered[:, 1] >= altered[:, 0]).all()),
        ),
    ]
    if len(k) * len(shares) == 8:
        sure = sum(row["p"] < 0.01 and row["mean"] > 0 for row in blocking)
        out.append(printed("Question 2", "significant comparisons of those who block, of eight", 7, sure, why=LARGER_K))
    if len(k) > 2:
        line = np.corrcoef(np.array(k, float), altered[:, 0])[0, 1] ** 2
        out.append(
            printed("Question 7", "nearly linear in k (r² of the standard method above 0.95)", True, bool(line > 0.95))
        )
    if len(shares) == 2 and len(k) > 1:
        apart = p[:, :, :, 0, 1] - p[:, :, :, 1, 1]
        differ = [n for i, n in enumerate(k) if paired(apart[:, i, 0], apart[:, i, 1])["p"] < 0.01]
        stated = [n for n in k if n in (120, 150)]
        out.append(
            printed("Question 6", "k at which the curves of 5 % and 10 % differ", stated, differ, why=OTHER_DATA)
        )
    return [*out, *_alphas(results), *_analysis(results, p)]


def _alphas(results: Results) -> list[Statement]:
    why = "after k-anonymity nobody is alone with a place, so α is 0; the thesis does not say how its α depends on k"
    alpha = results.alpha[:, :, _AT["standard"]].mean(axis=0)
    own = [
        printed("Table 8.2", f"α at k = {k}", ALPHA[k], float(a), why=why)
        for k, a in zip(results.plan.k, alpha, strict=True)
        if k in ALPHA
    ]
    return [*own, printed("Table 8.2", "every α below 0.5", True, bool(alpha.max() < 0.5))]


def _analysis(results: Results, p: NDArray[np.float64]) -> list[Statement]:
    if results.plan.blocks < 3:
        return []
    values = p[..., 1]
    effects = [effect for effect in anova(values, ["k", "external", "rule"]) if effect.p is not None]
    factors = [effect for effect in effects if effect.name in ("k", "external", "rule")]
    checks = assumptions(values, _order(results, ["standard", "class"]))
    least = min(checks[name] for name in ("normality p", "equal variance p", "independence p"))
    failing = [name.removesuffix(" p") for name in checks if name.endswith(" p") and checks[name] < 0.01]
    return [
        printed("Section 8.2", "every design factor is significant", True, all((e.p or 0) < 0.01 for e in factors)),
        printed(
            "Section 8.2",
            "normality, randomness and constant variance hold (p above 0.01)",
            True,
            bool(least > 0.01),
            why=f"on generated students these fail: {', '.join(failing)}" if failing else "",
        ),
    ]


def _order(results: Results, rules: list[str]) -> NDArray[np.int64]:
    """Return the runs of some rules in their order, renumbered."""
    *rest, rule = np.unravel_index(results.order.ravel(), results.order.shape)
    place = np.full(len(RULES), -1)
    place[[_AT[name] for name in rules]] = np.arange(len(rules))
    kept = place[rule] >= 0
    shape = (*results.order.shape[:-1], len(rules))
    return np.ravel_multi_index((*(axis[kept] for axis in rest), place[rule][kept]), shape)


def alpha_table(results: Results) -> list[dict[str, Any]]:
    """Table 8.2, with α before anything is done and after each rule, and the distinct places as a share of the rows."""
    mean = results.alpha.mean(axis=0)
    return [
        {
            "k": k,
            "printed α": ALPHA.get(k, ""),
            "before": results.before,
            **{rule: float(mean[i, j]) for rule, j in _AT.items()},
            "places / rows (standard)": float(results.classes[:, i].mean() / results.plan.rows),
        }
        for i, k in enumerate(results.plan.k)
    ]


def summary(results: Results) -> dict[str, Any]:
    """Return the figures that are checked."""
    rows = [r for r in magnitudes(results) if r["group"] == "blocking"]
    out: dict[str, Any] = {"labels equal to the control (class rule)": float(results.equal.mean())}
    for rule in ("coarser", "exchange"):
        mine = [r for r in rows if r["rule"] == rule]
        out[f"{rule}: lowers P_reid of blocking owners significantly"] = (
            f"{sum(r['p'] < 0.01 and r['mean'] > 0 for r in mine)} of {len(mine)}"
        )
        most = max(c[f"{rule} share"] for c in others_cost(results))
        out[f"{rule}: rise of the others' GCP, of the control's, at most"] = most
    for rule in RULES:
        out[f"altered rows, {rule} (by k)"] = _list(
            [float(v) for v in results.altered[:, :, _AT[rule], 0].mean(axis=0)]
        )
    for rule in ("coarser", "exchange"):
        fewer = (results.altered[:, :, _AT[rule], 0] < results.altered[:, :, _AT["control"], 0]).mean(axis=0)
        out[f"{rule}: blocks in which it alters fewer rows than the control (by k)"] = _list([float(v) for v in fewer])
    smallest = zip(results.plan.k, results.strict.min(axis=0), strict=True)
    out["coarser: smallest class"] = ", ".join(f"{int(n)} at k = {k}" for k, n in smallest)
    out["exchange: share of rows that are not true"] = float(results.untrue.mean())
    sets, plain = (
        results.sets.mean(axis=(0, 1)),
        results.gcp[:, :, [_AT["standard"], _AT["control"]], 0].mean(axis=(0, 1)),
    )
    out["GCP of standard(k) and of the control"] = _list([float(v) for v in plain])
    out["the same when classes are named by sets of districts"] = _list([float(v) for v in sets])
    out["class, control and coarser: every class is as large as asked for"] = results.holds
    return out


def _list(values: list[float]) -> str:
    return ", ".join(f"{v:.1%}" for v in values)
