"""Meaning of a column by its values or their labels: *Married, Single, Widowed* is a family situation."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from celosia.proposals.recognition.normal_form import fold_text

#: Share of the values that must have the meaning, and of the records.
MOSTLY, RECORDS = 0.6, 0.3
#: Columns with more values than this are no categories.
MANY = 120
#: Longest phrase of a vocabulary, in words.
LONGEST = 5
#: Labels that mean that there is no answer.
NO_ANSWER = re.compile(
    r"(?:don'?t know|do not know|dk|dk/?(?:na|refused|no answer)?|refus(?:ed|al|es?)|no answer|no response"
    r"|not (?:answered|stated|applicable|asked|available|reported|ascertained|determined|known)"
    r"|n/?a|inapplicable|iap|inap"
    r"|missing|skipped?|unknown|prefer not to (?:say|answer)"
    r"|would rather not say|(?:valid|legitimate) skip"
    r"|item nonresponse|web break-?off|ns/?nc|n[so]/?n[cr]|no sabe|no contesta|no procede"
    r"|sense dades|sin datos|no consta"
    r"|no ho sap|ne sait pas|sans reponse|non reponse|refus|weiss nicht|keine angabe"
    r"|trifft nicht zu|verweigert|non so|non risponde|non applicabile|nao sabe|nao respond\w*"
    r"|ignorado|sem informacao|nao se aplica)"
    r"(?:[ ,;:/.()-].*)?"
)


def values_meaning(values: Sequence[str], counts: Sequence[int], labels: Mapping[str, str]) -> str | None:
    """Return what most values of a column of categories mean, or None.

    >>> values_meaning(["Married", "Single", "Widowed"], [5, 3, 1], {})
    'family situation'
    >>> values_meaning(["1", "2"], [5, 4], {"1": "Male", "2": "Female"})
    'sex'
    """
    if not 2 <= len(values) <= MANY:
        return None
    tally: dict[str, int] = {}
    for value, count in zip(values, counts, strict=False):
        text = fold_text(labels.get(value, value))
        if text and not means_no_answer(text):
            tally[text] = tally.get(text, 0) + count
    if len(tally) < 2 or sum(any(c.isalpha() for c in text) for text in tally) < MOSTLY * len(tally):
        return None
    total = sum(tally.values())
    for what, exact, phrases in _meanings():
        hits = [text for text in tally if _matches(text, phrases, exact)]
        if len(hits) >= max(2, MOSTLY * len(tally)) and sum(tally[text] for text in hits) >= RECORDS * total:
            return what
    return None


def means_no_answer(label: str) -> bool:
    """Return whether a label means that a question was not answered.

    >>> means_no_answer("Don't know"), means_no_answer("Refused (web)"), means_no_answer("No")
    (True, True, False)
    """
    return NO_ANSWER.fullmatch(fold_text(label)) is not None


@cache
def _meanings() -> tuple[tuple[str, bool, frozenset[str]], ...]:
    """Return meaning, whether values must be equal to a phrase, and phrases."""
    text = resources.files("celosia.proposals").joinpath("values.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text)["values"]
    return tuple(
        (e["what"], e.get("exact", False), frozenset(word.strip() for word in e["words"].split(","))) for e in entries
    )


def _matches(text: str, phrases: frozenset[str], exact: bool) -> bool:
    """Return whether a folded text is one of the phrases, or holds one if it need not be equal."""
    words = re.findall(r"[^\W_]+", text)
    if " ".join(words) in phrases:
        return True
    if exact:
        return False
    starts = range(len(words))
    return any(" ".join(words[i : i + n]) in phrases for n in range(1, LONGEST + 1) for i in starts)
