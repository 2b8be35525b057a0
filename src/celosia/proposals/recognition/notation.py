"""How dates, numbers, ordered answers and missing answers are written."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from celosia.data.io.text.columns import grouped_notation, is_mark

if TYPE_CHECKING:
    import polars as pl

#: Share of the values that must be read as dates.
ENOUGH = 0.95
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%Y",
    "%Y%m%d",
    "%d/%m/%y",
    "%d-%m-%y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%d/%m/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d-%m-%Y %H:%M",
    "%d-%m-%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d %H:%M",
)
SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("mild", "moderate", "severe"),
    ("small", "medium", "large"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("very bad", "bad", "fair", "good", "very good"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("none", "primary", "secondary", "tertiary"),
    ("muy bajo", "bajo", "medio", "alto", "muy alto"),
    ("baja", "media", "alta"),
    ("leve", "moderado", "grave"),
    ("leve", "moderada", "grave"),
    ("muy malo", "malo", "regular", "bueno", "muy bueno"),
    ("nunca", "raramente", "a veces", "a menudo", "siempre"),
    ("sin estudios", "primaria", "secundaria", "universitaria"),
    ("molt baix", "baix", "mitjà", "alt", "molt alt"),
    ("baixa", "mitjana", "alta"),
    ("lleu", "moderat", "greu"),
    ("mai", "poques vegades", "a vegades", "sovint", "sempre"),
    ("sense estudis", "primària", "secundària", "universitària"),
)  # fmt: skip


#: Words of answers that are more or less of something.
DEGREES = frozenset(
    [
        "very",
        "fairly",
        "quite",
        "somewhat",
        "slightly",
        "strongly",
        "moderately",
        "extremely",
        "completely",
        "totally",
        "agree",
        "disagree",
        "neutral",
        "neither",
        "satisfied",
        "dissatisfied",
        "important",
        "unimportant",
        "often",
        "sometimes",
        "rarely",
        "never",
        "always",
        "usually",
        "seldom",
        "daily",
        "weekly",
        "monthly",
        "yearly",
        "low",
        "medium",
        "high",
        "poor",
        "fair",
        "good",
        "bad",
        "excellent",
        "better",
        "worse",
        "same",
        "more",
        "less",
        "most",
        "least",
        "none",
        "little",
        "lot",
        "much",
        "likely",
        "unlikely",
        "mild",
        "moderate",
        "severe",
        "muy",
        "bastante",
        "poco",
        "nada",
        "mucho",
        "siempre",
        "nunca",
        "acuerdo",
        "desacuerdo",
        "bajo",
        "medio",
        "alto",
        "molt",
        "gens",
        "bastant",
        "poc",
        "sempre",
        "mai",
        "acord",
        "baix",
        "mitja",
        "alt",
        "tres",
        "assez",
        "peu",
        "pas",
        "jamais",
        "souvent",
        "sehr",
        "eher",
        "kaum",
        "nie",
        "immer",
        "molto",
        "abbastanza",
        "poco",
        "mai",
        "spesso",
        "muito",
        "pouco",
        "nunca",
        "sempre",
        "primary",
        "secondary",
        "tertiary",
    ]
)


def means_missing(text: str) -> bool:
    """Return whether a text means that there is no answer.

    >>> means_missing(" NS/NC"), means_missing("n/a"), means_missing("no")
    (True, True, False)
    """
    return is_mark(text.strip())


def date_notation(values: pl.Series) -> str | None:
    """Return the notation that reads nearly all values as dates of the last two centuries.

    >>> import polars as pl
    >>> date_notation(pl.Series(["03/02/2024", "28/02/2024"])), date_notation(pl.Series(["1.234", "5.678"]))
    ('%d/%m/%Y', None)
    """
    if len(values) < 2:
        return None
    lengths = values.str.len_chars()
    likely = values.str.contains(r"^\d|^[A-Za-z]{3} \d") & lengths.is_between(6, 20)
    if likely.mean() < ENOUGH:  # type: ignore[operator]
        return None
    for notation in DATE_FORMATS:
        text = values + "-01" if notation == "%Y-%m" else values
        days = text.str.to_date("%Y-%m-%d" if notation == "%Y-%m" else notation, strict=False)
        plausible = days.is_between(dt.date(1850, 1, 1), dt.date(2150, 1, 1)).sum()
        if plausible >= ENOUGH * len(values):
            return notation
    return None


def number_notation(values: pl.Series) -> tuple[str, str] | None:
    """Return the sign of thousands and the decimal mark of numbers that are written as text, or None.

    >>> import polars as pl
    >>> number_notation(pl.Series(["1.234,56", "78,90"]))
    ('.', ',')
    """
    return grouped_notation(values) if len(values) else None


def scale_of(answers: set[str]) -> tuple[str, ...]:
    """Return the ordered scale that all answers belong to, or nothing.

    >>> scale_of({"alta", "baja"})
    ('baja', 'alta')
    """
    for scale in SCALES:
        if len(answers) > 1 and answers <= set(scale):
            return tuple(word for word in scale if word in answers)
    return ()


def is_ordered(labels: Sequence[str]) -> bool:
    """Return whether the labels of codes, in the order of the codes, form a scale: ranges, degrees or frequencies.

    >>> is_ordered(["Under 5,000", "5,000 to 9,999", "10,000 or more"]), is_ordered(["Red", "Blue", "Green"])
    (True, False)
    >>> is_ordered(["Strongly agree", "Agree", "Disagree", "Strongly disagree"])
    True
    """
    numbers = [re.findall(r"\d+(?:[.,]\d+)*", label) for label in labels]
    starts = [float(re.sub(r"[.,](?=\d{3}\b)", "", digits[0]).replace(",", ".")) for digits in numbers if digits]
    if len(starts) >= max(2, len(labels) - 1) and starts in (sorted(starts), sorted(starts, reverse=True)):
        return len(set(starts)) > 1
    words = [set(re.findall(r"[^\W\d_]+", label.casefold())) for label in labels]
    return sum(bool(label_words & DEGREES) for label_words in words) >= 0.6 * len(labels)


def ambiguous_days(values: tuple[str, ...]) -> bool:
    """Return whether day and month could be exchanged in all of these dates.

    >>> ambiguous_days(("03/02/2024", "11/12/2024")), ambiguous_days(("03/02/2024", "28/12/2024"))
    (True, False)
    """
    parts = [re.match(r"(\d{1,2})\D(\d{1,2})\D\d{2,4}", value.strip()) for value in values]
    return all(int(part.group(1)) <= 12 and int(part.group(2)) <= 12 for part in parts if part)
