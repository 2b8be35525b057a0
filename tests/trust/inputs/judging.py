"""What counts as a failure: anything but an answer in one sentence, soon, without a cell and without a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from tests.trust.inputs.case import CANARIES
from tests.trust.tried import Tried, tried

LONGEST = 2_000
"""Characters of a message."""
MEGABYTES = 3_000


def failure(answer: Mapping[str, Any]) -> str:
    """What is wrong with the answer to a case; nothing when all is well."""
    code, said = answer["code"], answer["err"]
    refused = code in (2, 3)
    if answer["hung"]:
        return "hang"
    if "Traceback" in said or "internal error" in said or not (refused or code == 0):
        return f"internal error ({code})"
    if answer["megabytes"] > MEGABYTES:
        return "memory"
    if any(canary in said + (answer["out"] if code == 2 else "") for canary in CANARIES):
        return "leak"
    if not refused:
        return "" if answer["may_pass"] else "not refused"
    if code == 2 and not said.strip():
        return "silent"
    if code == 2 and (answer["new"] or answer["changed"]):
        return "something written"
    return "too long" if len(said) > LONGEST else ""


def told(answers: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each failure."""
    lines = []
    for answer in answers:
        wrong = failure(answer)
        if wrong:
            words = " ".join(answer["argv"])[:150]
            lines.append(f"{wrong}: {answer['entrance']}, {answer['name']}: {words} → {answer['err'].strip()[-200:]}")
    return lines


def keep(answers: Iterable[Mapping[str, Any]]) -> None:
    """Write the counts down, each entrance for itself; the answers are those to all of its cases."""
    harm = "an internal error, a hang, a cell or a password in the message, something half-written"
    listed = sorted(answers, key=itemgetter("entrance"))
    for entrance, group in groupby(listed, itemgetter("entrance")):
        failures = [failure(answer) for answer in group]
        row = Tried(f"bad input: {entrance}", len(failures), sum(map(bool, failures)), harm)
        tried(f"inputs-{entrance.replace(' ', '-')}", [row])
