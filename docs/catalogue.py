"""The parts by family: the catalogue on one page, and the tables of each kind."""

from __future__ import annotations

from markup import cell

from celosia.parts import Part, home, parts, summary

TITLES = {
    "method": "Methods",
    "model": "Models",
    "risk": "Risks",
    "attack": "Attacks",
    "loss": "Losses",
    "mechanism": "Mechanisms",
    "hierarchy": "Hierarchies",
}
FAMILIES = {
    "method": {
        "coding": "Recode, round and mask values",
        "suppression": "Leave out columns, records or cells",
        "generalisation": "Generalise values, or remove the link between them",
        "microaggregation": "Give near records common values",
        "noise": "Add noise to numbers",
        "swapping": "Exchange values between records",
        "synthetic": "Make synthetic records",
        "private": "Publish with a differential-privacy guarantee",
        "blocks": "Work block by block",
    },
    "model": {
        "who": "Nobody can be found",
        "what": "Nothing can be inferred about a sensitive column",
    },
    "attack": {
        "linking": "Link records to people",
        "membership": "Tell who was used for a release",
        "releases": "Combine several releases",
        "transparency": "Read the certificate, and undo what it tells",
        "attacks": "Infer, single out, and several in one number",
    },
    "loss": {
        "cells": "What became of the cells",
        "classes": "How large the classes are",
        "numbers": "What became of numbers and distributions",
        "use": "Whether analyses still give the same",
    },
}
"""What the families are called: folders of the package, and for models whether a sensitive column is judged."""

PAGE = """\
# The catalogue

Every part by what it is for: {count} in all. [Choose a method](../choose.md) helps to decide; each name leads to its formula, its
parameters and an example.

{body}
"""


def folder(kind: str) -> str:
    """Where the pages of a kind are, below docs/reference."""
    return home(kind).rsplit(".", 1)[1]


def families(kind: str) -> dict[str, dict[str, type[Part]]]:
    """The parts of a kind by the title of their family, in the order of the titles."""
    found: dict[str, dict[str, type[Part]]] = {title: {} for title in FAMILIES.get(kind, {"": ""}).values()}
    for name, cls in parts(kind).items():
        found[_family(kind, cls)][name] = cls
    return found


def _family(kind: str, cls: type[Part]) -> str:
    if kind not in FAMILIES:
        return ""
    if kind == "model":
        return FAMILIES[kind]["what" if "column" in cls.model_fields else "who"]
    return FAMILIES[kind][cls.__module__.split(".")[-2]]


def grouped(kind: str, level: int = 2, place: str = "") -> str:
    """The tables of a kind, one for each family."""
    blocks = []
    for title, members in families(kind).items():
        rows = "\n".join(f"| [{name}]({place}{name}.md) | {cell(summary(cls))} |" for name, cls in members.items())
        heading = f"{'#' * level} {title}\n\n" if title else ""
        blocks.append(f"{heading}| name | what it is |\n|---|---|\n{rows}")
    return "\n\n".join(blocks)


def page() -> str:
    """Everything on one page."""
    body = "\n\n".join(f"## {title}\n\n{grouped(kind, 3, f'{folder(kind)}/')}" for kind, title in TITLES.items())
    return PAGE.format(count=sum(len(parts(kind)) for kind in TITLES), body=body)
