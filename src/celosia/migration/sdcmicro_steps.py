"""Methods and measures of sdcMicro as steps, requirements and measures of a policy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from celosia.migration.r_script import Call, Node
from celosia.migration.sdcmicro_calls import NotConstant, as_list, names_in
from celosia.migration.translation import Entry, refusal

if TYPE_CHECKING:
    from celosia.migration.sdcmicro import Script

Given = dict[str, Node]


def _variance_share(share: float) -> float:
    """Return a share of the variance from a share of the standard deviation, without floating-point noise."""
    return round(share**2, 12)


MICROAGGREGATION: dict[str, dict[str, Any]] = {
    "mdav": {"use": "microaggregate"},
    "onedims": {"use": "individual-ranking", "optimal": False},
    "pca": {"use": "projection-microaggregate"},
}
NOISE: dict[str, Callable[[float], dict[str, Any]]] = {
    "additive": lambda share: {"use": "noise", "p": _variance_share(share)},  # its standard deviation is the share
    "correlated": lambda share: {"use": "correlated-noise", "p": share},  # its covariance is
    "correlated2": lambda share: {"use": "correlated-noise", "p": _variance_share(share), "keep_variance": True},
    "outdect": lambda share: {"use": "noise", "p": _variance_share(share), "scope": "outliers"},
}
SPACINGS = {"equidistant": "equal", "logEqui": "log", "equalAmount": "frequency"}


def _step(script: Script, node: Call, part: dict[str, Any]) -> None:
    used = {key: value for key, value in part.items() if value not in (None, [], {})}
    reason = refusal("method", used)
    if reason:
        script.note(node, f"{node.function}: {reason}")
    else:
        script.translation.steps.append(Entry(used, f"line {node.line}: {node.function}"))


def _measure(script: Script, node: Call, kind: Literal["risk", "loss"], part: dict[str, Any]) -> None:
    reason = refusal("loss" if kind == "loss" else "risk or attack", part)
    if reason:
        script.note(node, f"{node.function}: {reason}")
    else:
        script.translation.measure(kind, part)


def _amount(script: Script, node: Node | None, otherwise: float) -> float:
    value = script.constant(node, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise NotConstant("a number")
    return value


def _columns(script: Script, given: Given, otherwise: list[str]) -> list[str]:
    """Return the variables of a call, or those of the object."""
    columns = script.columns(given.get("variables"), otherwise)
    if not columns:
        raise NotConstant("the variables")
    return columns


def _wholes(script: Script, node: Node | None, otherwise: int | None = None) -> list[int]:
    """Whole numbers."""
    values = as_list(script.constant(node, otherwise))
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        raise NotConstant("whole numbers")
    return values


def _local_suppress(script: Script, node: Call, given: Given) -> None:
    if "keyVars" in given:
        script.keys(script.columns(given["keyVars"]))
    wanted = _wholes(script, given.get("k"), 2)
    subsets = _wholes(script, given.get("combs"))
    order = _wholes(script, given.get("importance"))
    quasi = script.translation.roles["quasi"]
    importance: dict[str, int] = {}
    if order:
        if len(order) == len(quasi):
            # 1 is the most important there; here a cell of an important column costs more
            importance = {name: len(quasi) + 1 - rank for name, rank in zip(quasi, order, strict=True)}
        else:
            script.note(node, f"{node.function}: importance has another length than the key variables")
    if not subsets:
        script.translation.require = [
            entry for entry in script.translation.require if entry.part["use"] != "k-anonymity"
        ]
        requirement = {"use": "k-anonymity", "k": max(wanted, default=2)}
        if not refusal("model", requirement):
            script.translation.require.append(Entry(requirement, f"line {node.line}: {node.function}"))
    for at, k in enumerate(wanted):
        size = subsets[at] if at < len(subsets) else None
        part = {"use": "local-suppress", "k": k, "importance": importance, "subsets": size}
        stratum = script.translation.singles.get("stratum")
        _step(script, node, {**part, "within": stratum, "linked": script.linked})
    _measure(script, node, "loss", {"use": "suppression", "of": "cells"})


def _global_recode(script: Script, node: Call, given: Given) -> None:
    column = script.columns(given.get("column"))
    if len(column) != 1:
        raise NotConstant("the column")
    breaks = as_list(script.constant(given.get("breaks")))
    labels = [str(label) for label in as_list(script.constant(given.get("labels")))]
    part: dict[str, Any] = {"use": "recode", "column": column[0], "right": True, "labels": labels}
    if len(breaks) == 1:
        method = script.constant(given.get("method"), "equidistant")
        if method not in SPACINGS:
            raise NotConstant(f"what breaks by {method} are")
        _step(
            script,
            node,
            {
                **part,
                "bins": _wholes(script, given.get("breaks"))[0],
                "spacing": SPACINGS[method],
                "whole": True,
                "margin": 1,
            },
        )
    elif all(isinstance(each, int | float) and math.isfinite(each) for each in breaks) and breaks:
        _step(script, node, {**part, "breaks": breaks, "outside": "missing"})
    elif breaks and all(isinstance(each, int | float) for each in breaks):
        inner = [each for each in breaks if math.isfinite(each)]
        _step(script, node, {**part, "breaks": inner})
    else:
        raise NotConstant("the breaks")


def _group(script: Script, node: Call, given: Given) -> None:
    before, after = (as_list(script.constant(given.get(key))) for key in ("before", "after"))
    if len(after) == 1:
        after *= len(before)
    if not before or len(before) != len(after) or None in before:
        raise NotConstant("which levels become which")
    mapping = {str(old): str(new) for old, new in zip(before, after, strict=True)}
    for column in script.columns(given.get("var")):
        _step(script, node, {"use": "recode", "column": column, "mapping": mapping})


def _top_code(script: Script, node: Call, given: Given) -> None:
    kind = script.constant(given.get("kind"), "top")
    part = {"use": "bottom-code" if kind == "bottom" else "top-code"}
    columns = script.columns(given.get("column"))
    limit = _amount(script, given.get("value"), math.nan)
    _step(
        script,
        node,
        {**part, "columns": columns, "value": limit, "replacement": script.constant(given.get("replacement"))},
    )


def _microaggregate(script: Script, node: Call, given: Given) -> None:
    method = script.constant(given.get("method"), "mdav")
    columns = _columns(script, given, script.numeric)
    if method not in MICROAGGREGATION:
        near = ", ".join(MICROAGGREGATION)
        script.note(node, f"microaggregation by {method!r} is not translated; {near} are, and mdav is the usual one")
        return
    part = {**MICROAGGREGATION[method], "columns": columns, "k": _wholes(script, given.get("aggr"), 3)[0]}
    if script.constant(given.get("measure"), "mean") == "median" and method == "mdav":
        part["aggregate"] = "median"
    _step(script, node, {**part, "within": script.columns(given.get("strata_variables"))})
    _mark_released(script, columns)
    _measure(script, node, "loss", {"use": "sum-of-squares", "columns": columns})


def _add_noise(script: Script, node: Call, given: Given) -> None:
    method = script.constant(given.get("method"), "additive")
    columns = _columns(script, given, script.numeric)
    if method == "ROMM":
        share = _amount(script, given.get("p"), 0.05)
        script.note(node, "addNoise by ROMM: p is a share of the variance here, which there it is not exactly")
        _step(script, node, {"use": "orthogonal-mask", "columns": columns, "p": min(share, 2.0)})
    elif method == "correlated2":
        part = NOISE[method](_amount(script, given.get("delta"), 0.1))
        _step(script, node, {**part, "columns": columns})
    elif method in NOISE:
        part = NOISE[method](_amount(script, given.get("noise"), 150) / 100)
        _step(script, node, {**part, "columns": columns})
    else:
        script.note(node, f"addNoise by {method!r} is not translated; {', '.join(NOISE)} and ROMM are")
        return
    _mark_released(script, columns)


def _rank_swap(script: Script, node: Call, given: Given) -> None:
    columns = _columns(script, given, script.numeric)
    part: dict[str, Any] = {"use": "rank-swap", "columns": columns}
    if "P" in given:
        window = _amount(script, given["P"], 0.05)
        if window > 1:
            script.note(node, "rankSwap: P is documented in per cent and used as a proportion; per cent is taken")
            window /= 100
        part["window"] = window
    if "R0" in given:
        part["correlation"] = _amount(script, given["R0"], 0.95)
        part["window"] = 1.0
    if "K0" in given:
        script.note(node, "rankSwap: K0 has no counterpart here")
    script.note(
        node, "rankSwap: the highest and lowest values are not replaced by their mean; margins stay as they are"
    )
    _step(script, node, part)
    _mark_released(script, columns)


def _pram(script: Script, node: Call, given: Given) -> None:
    columns = _columns(script, given, script.randomised)
    stay, mixed = _amount(script, given.get("pd"), 0.8), _amount(script, given.get("alpha"), 0.5)
    script.note(
        node, "pram: diagonal is a true lower bound here; it is 1 - alpha (1 - pd), which pd only aims at there"
    )
    within = script.columns(given.get("strata_variables"))
    _step(
        script,
        node,
        {"use": "pram", "columns": columns, "diagonal": round(1 - mixed * (1 - stay), 12), "within": within},
    )
    _mark_released(script, columns)


def _shuffle(script: Script, node: Call, given: Given) -> None:
    form = given.get("form")
    if not isinstance(form, Call) or form.function != "~" or len(form.arguments) != 2:
        raise NotConstant("the formula")
    columns, others = names_in(form.inner(0)), names_in(form.inner(1))
    _step(script, node, {"use": "shuffle", "columns": columns, "given": others})
    _mark_released(script, columns)


def _mark_released(script: Script, columns: list[str]) -> None:
    """Record the columns that a step changes as released."""
    script.translation.give_role("insensitive", *columns)


def _multivariate_top_code(script: Script, node: Call, given: Given) -> None:
    alpha = _amount(script, given.get("alpha"), 0.025)
    _step(script, node, {"use": "multivariate-top-code", "columns": script.numeric, "alpha": alpha})


def _suda(script: Script, node: Call, given: Given) -> None:
    fraction = _amount(script, given.get("DisFraction"), 0.01)
    names = script.columns(given.get("variables"))
    if names and set(names) != set(script.translation.roles["quasi"]):
        script.note(node, "suda2: here it is of all quasi-identifiers, not of other variables")
    _measure(script, node, "risk", {"use": "suda", "sampling_fraction": fraction})


def _diversity(script: Script, node: Call, given: Given) -> None:
    if "keyVars" in given:
        script.keys(script.columns(given["keyVars"]))
    names = script.columns(given.get("ldiv_index"))
    script.translation.give_role("sensitive", *names)
    for name in names:
        script.note(
            node, f'ldiversity measures only; to require it: [[require]] use = "l-diversity", l = 2, column = "{name}"'
        )
    _measure(script, node, "risk", {"use": "homogeneity"})


def _interval_risk(script: Script, node: Call, given: Given) -> None:
    part: dict[str, Any] = {"use": "interval-disclosure", "window": "joint", "k": _amount(script, given.get("k"), 0.05)}
    _measure(script, node, "risk", {**part, "columns": script.numeric} if script.numeric else part)


def _utility(script: Script, node: Call, _: Given) -> None:
    for name in ("scaled-error", "eigenvalue-loss"):
        part: dict[str, Any] = {"use": name}
        _measure(script, node, "loss", {**part, "columns": script.numeric} if script.numeric else part)


def _log_linear(script: Script, node: Call, _: Given) -> None:
    _measure(script, node, "risk", {"use": "log-linear-risk"})


def _identifiers(script: Script, _: Call, given: Given) -> None:
    script.translation.give_role("identifiers", *script.columns(given.get("var")))


def _kind(script: Script, node: Call, given: Given) -> None:
    kind = "nominal" if node.function == "varToFactor" else "numeric"
    script.translation.kinds |= dict.fromkeys(script.columns(given.get("var")), kind)


def _undo(script: Script, node: Call, _: Given) -> None:
    """Take the last step back, and the requirement that came with it."""
    if not script.translation.steps:
        script.note(node, "undolast: there is no step to take back")
        return
    undone = script.translation.steps.pop()
    script.translation.require = [entry for entry in script.translation.require if entry.origin != undone.origin]


STEPS: dict[str, Callable[[Script, Call, Given], None]] = {
    **dict.fromkeys(("localSuppression", "kAnon"), _local_suppress),
    "globalRecode": _global_recode,
    **dict.fromkeys(("groupAndRename", "groupVars", "renameVars"), _group),
    "topBotCoding": _top_code,
    "mvTopCoding": _multivariate_top_code,
    "microaggregation": _microaggregate,
    "addNoise": _add_noise,
    "rankSwap": _rank_swap,
    "pram": _pram,
    "shuffle": _shuffle,
    "removeDirectID": _identifiers,
    **dict.fromkeys(("varToFactor", "varToNumeric"), _kind),
    "undolast": _undo,
}
"""What each function that changes an object becomes."""
MEASURES: dict[str, Callable[[Script, Call, Given], None]] = {
    "suda2": _suda,
    "ldiversity": _diversity,
    "dRisk": _interval_risk,
    "dUtility": _utility,
    "modRisk": _log_linear,
}
"""What each function that only measures becomes."""
