"""The sentences by which ARX names privacy models and quality models, as requirements and objectives.

They are what its classes print of themselves (``toString``), which is all that a project says of them outside of
serialised Java objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

NUMBER = r"([0-9]{1,15}(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,2})?)"
COLUMN = r" for attribute '(.*)'"
Part = dict[str, Any]


def _amount(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _entropy(estimator: str | None, l: str, column: str) -> Part:
    part = {"use": "l-diversity", "l": _amount(l), "column": column, "variant": "entropy"}
    return {**part, "estimator": "grassberger"} if estimator == "grassberger" else part


def _closeness(t: str, distance: str, column: str) -> Part:
    return {"use": "t-closeness", "t": float(t), "column": column, "distance": distance}


def _likeness(variant: str, beta: str, column: str) -> Part:
    part = {"use": "beta-likeness", "beta": float(beta), "column": column}
    return {**part, "enhanced": True} if variant == "enhanced" else part


MODELS: tuple[tuple[str, Callable[..., Part]], ...] = (
    (r"([0-9]+)-anonymity", lambda k: {"use": "k-anonymity", "k": int(k)}),
    (
        rf"distinct-([0-9]+)-diversity{COLUMN}",
        lambda l, column: {"use": "l-diversity", "l": int(l), "column": column},
    ),
    (rf"(?:(shannon|grassberger)-)?entropy-{NUMBER}-diversity{COLUMN}", _entropy),
    (
        rf"recursive-\({NUMBER}, ?([0-9]+)\)-diversity{COLUMN}",
        lambda c, l, column: {
            "use": "l-diversity",
            "l": int(l),
            "column": column,
            "variant": "recursive",
            "c": float(c),
        },
    ),
    (rf"{NUMBER}-closeness with (equal|hierarchical|ordered) (?:ground-)?distance{COLUMN}", _closeness),
    (
        rf"{NUMBER}-disclosure privacy{COLUMN}",
        lambda delta, column: {"use": "delta-disclosure", "delta": float(delta), "column": column},
    ),
    (rf"(basic|enhanced)-{NUMBER}-likeness{COLUMN}", _likeness),
    (rf"\({NUMBER}\)-sample-uniqueness", lambda share: {"use": "sample-uniqueness", "share": float(share)}),
    (rf"\(<?{NUMBER}\)-avg-reidentification-risk", lambda risk: {"use": "average-risk", "risk": float(risk)}),
    (
        rf"\({NUMBER}, [^()]*\({NUMBER}\), {NUMBER}\)-avg-reidentification-risk",
        lambda risk, highest, share: {
            "use": "average-risk",
            "risk": float(risk),
            "highest": float(highest),
            "share": float(share),
        },
    ),
)
LACKING: tuple[tuple[str, str], ...] = (
    (r"-population-uniqueness", "population-uniqueness needs the size of the population, which only Java could read"),
    (r"-map\b", "k-map needs the population, which only Java could read"),
    (r"-presence", "delta-presence needs the table of the population, which only Java could read"),
    (r"^inclusion$", "the research subset is only in a Java object; choose records with the step subset"),
    (r"differential privacy|-dp\b", "differential privacy is the step dp-generalise; give epsilon and delta yourself"),
    (r"profit|no-attack|stackelberg|financial", "the game-theoretic models have no counterpart here"),
)
"""What is known of models that a project names without all that they need."""
OBJECTIVES: tuple[tuple[str, Part], ...] = (
    (r"non-uniform entropy", {"use": "non-uniform-entropy", "as_arx": True}),
    (r"precision", {"use": "precision"}),
    (r"discern[ai]bility", {"use": "discernibility"}),
    (r"average equivalence class size|aecs", {"use": "average-class-size"}),
    (r"ambiguity", {"use": "ambiguity"}),
    (r"kl[- ]divergence|kullback", {"use": "kullback-leibler"}),
    (r"height", {"use": "height", "suppressed": False}),
)
AGGREGATES = {
    "arithmetic mean": "mean",
    "arithmetric mean": "mean",  # as one version spells it
    "geometric mean": "geometric-mean",
    "median": "median",
    "mode": "mode",
    "interval": "interval",
}


def requirement(sentence: str) -> Part | str:
    """Return the requirement that a sentence names, or the reason why it is not translated.

    >>> requirement("recursive-(3.0,2)-diversity for attribute 'disease'")
    {'use': 'l-diversity', 'l': 2, 'column': 'disease', 'variant': 'recursive', 'c': 3.0}
    >>> requirement("(5)-map")
    'k-map needs the population, which only Java could read'
    """
    text = sentence.strip()
    for pattern, part in MODELS:
        match = re.fullmatch(pattern, text, flags=re.IGNORECASE | re.DOTALL)
        if match:
            return part(*(group.lower() if group in WORDS else group for group in match.groups()))
    for pattern, reason in LACKING:
        if re.search(pattern, text, flags=re.IGNORECASE):
            return reason
    return "no requirement of that form is known"


WORDS = frozenset({"Shannon", "Grassberger", "Equal", "Hierarchical", "Ordered", "Basic", "Enhanced"})
"""Words of the sentences that some versions begin with a capital."""


def objective(sentence: str) -> tuple[Part | None, str]:
    """Return the objective that a sentence names, if there is one, and a note about it.

    >>> objective("Loss (0.25/1.0/0.5)")[0]
    {'use': 'domain-loss', 'gs': 0.25}
    """
    loss = re.fullmatch(rf"loss(?: \({NUMBER}/{NUMBER}/{NUMBER}\))?", sentence.strip(), flags=re.IGNORECASE)
    if loss:
        gs = float(loss.group(1) or 0.5)
        part = {"use": "domain-loss"} if gs == 0.5 else {"use": "domain-loss", "gs": gs}
        return part, "how Loss combines the columns is only in a Java object; its default, the geometric mean, is taken"
    for pattern, part in OBJECTIVES:
        if re.search(pattern, sentence, flags=re.IGNORECASE):
            normal = re.search(r"normali[sz]ed", sentence, flags=re.IGNORECASE) is not None
            bits = part["use"] == "non-uniform-entropy" and not normal
            return ({**part, "normalised": False} if bits else part), ""
    return None, "the quality model has no counterpart here; the objective of generalise is its own default"
