"""Suggestions for cleaning before anything is counted: blanks, codes for missing, several spellings of one value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from statistics import median

from celosia.data.schema import Kind
from celosia.hierarchy.cells import number
from celosia.proposals.content import Content
from celosia.proposals.recognition.categories import means_no_answer
from celosia.proposals.recognition.normal_form import fold_text
from celosia.proposals.recognition.notation import means_missing

#: Numbers that questionnaires and registers write where there is no answer.
CODES = frozenset(
    [
        *(-1, -2, -3, -7, -8, -9, -77, -88, -97, -98, -99, -777, -888, -998, -999, -9999),
        *(7, 8, 9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999, 999999),
    ]
)
DAYS = frozenset(["1899-12-30", "1899-12-31", "1900-01-01", "1901-01-01", "1970-01-01", "2999-12-31", "9999-12-31"])
#: A code stands at least so many times in a column, and so many times as often as its neighbours where there are some.
TWICE, PEAK = 2, 5
#: Columns with more values than this are not searched for spellings.
MANY = 300
#: Words that mean the same; an abbreviation is the beginning of a word.
SYNONYMS = (
    {"hombre", "varon", "masculino"}, {"mujer", "femenino", "hembra"}, {"home", "masculi"}, {"dona", "femeni"},
    {"male", "man", "masculine"}, {"female", "woman", "feminine"}, {"yes", "true"}, {"no", "false"},
)  # fmt: skip


@dataclass(frozen=True)
class Untidiness:
    """Something in a column that can be cleaned: how it is written in a policy, in how many cells, and why.

    ``certain`` cleaning may be done without asking; the other is a proposal. ``sentence`` says it with no value of
    the data but a code for missing.
    """

    column: str
    key: str
    sentence: str
    cells: int
    codes: tuple[str | int, ...] = ()
    spellings: dict[str, str] = field(default_factory=dict)
    #: Whether labels of the file, or of a code book, say it.
    labelled: bool = False

    @property
    def certain(self) -> bool:
        """Whether the cleaning is beyond doubt."""
        return self.key == "strip" or self.labelled


def untidy(content: Content, kind: Kind) -> tuple[Untidiness, ...]:
    """Return what should be cleaned in a column.

    >>> values, counts = ("Hombre", "Mujer", "H", "NS/NC"), (4, 3, 1, 1)
    >>> column = Content("sex", 9, 0, 4, 0.4, 0.7, Kind.NOMINAL, values, counts, text=True)
    >>> [(u.key, u.codes, u.spellings) for u in untidy(column, Kind.NOMINAL)]
    [('missing', ('NS/NC',), {}), ('same', (), {'H': 'Hombre'})]
    """
    proposals = []
    if content.blanks:
        sentence = f"blanks before or after the value in {_cells(content.blanks)}: they are taken off"
        proposals.append(Untidiness(content.name, "strip", sentence, content.blanks))
    counts = dict(zip(content.values, content.counts, strict=False))
    unanswered = tuple(v for v in content.values if v in content.labels and means_no_answer(content.labels[v]))
    if unanswered and len(unanswered) < len(content.values):
        codes: tuple[str | int, ...] = tuple(
            v if content.text or number(v) is None else int(float(v)) for v in unanswered
        )
        cells = sum(counts[value] for value in unanswered)
        sentence = f"{', '.join(unanswered)} in {_cells(cells)}: the labels say that there is no answer"
        proposals.append(Untidiness(content.name, "missing", sentence, cells, codes, labelled=True))
        return tuple(proposals)
    codes = _missing_codes(content, counts)
    if codes:
        cells = sum(count for value, count in counts.items() if value in codes or number(value) in codes)
        listed = ", ".join(map(str, codes))
        proposals.append(
            Untidiness(content.name, "missing", f"{listed} in {_cells(cells)}: it may mean missing", cells, codes)
        )
    spellings = _same(counts, codes) if content.text and kind in (Kind.NOMINAL, Kind.ORDINAL) else {}
    if spellings:
        cells = sum(count for value, count in counts.items() if value.strip() in spellings)
        sentence = f"{len(spellings)} spellings in {_cells(cells)} seem to mean what other values mean"
        proposals.append(Untidiness(content.name, "same", sentence, cells, spellings=spellings))
    return tuple(proposals)


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"


def _missing_codes(content: Content, counts: dict[str, int]) -> tuple[str | int, ...]:
    """Return the codes that may mean missing."""
    if content.kind == Kind.DATE and not content.text and content.date_format is None:
        usual = median(counts.values()) if counts else 0
        return tuple(day for day in counts if day[:10] in DAYS and counts[day] >= max(TWICE, PEAK * usual))
    if content.text:
        codes = tuple(dict.fromkeys(value.strip() for value in counts if means_missing(value)))
        others = [len(value.strip()) for value in counts if not means_missing(value)]
        if not others or content.distinct > MANY:
            return ()
        # ND and NC are states where the other values are two letters as well
        return tuple(code for code in codes if len(code) > 2 or median(others) > 2 or not code.isalpha())
    return _numbers(counts, whole=content.whole) if content.low is not None else ()


def _numbers(counts: dict[str, int], *, whole: bool) -> tuple[int, ...]:
    """Return the numbers that stand apart from the others, or stand out among them, and are usual codes.

    Among decimals only a negative one tells: 9 and 99 are amounts like others.
    """
    numbers = {float(value): count for value, count in counts.items()}
    codes = {int(n) for n in numbers if n in CODES and (whole or n < 0)}
    others = sorted(set(numbers) - codes)
    if len(others) < 2:
        return ()
    low, high = others[0], others[-1]
    # 1, 2, 3, 9: a scale would go on; 1 to 9 and 0 to 10 hold the 9.
    digits = [code for code in codes if 0 < code <= 9]
    beyond = bool(digits) and low >= 0 and min(digits) > high + 1
    apart = []
    for code in sorted(codes):
        often = numbers[code] >= TWICE
        if code < 0:
            stands_apart = low >= 0
        elif code <= 9:
            stands_apart = beyond
        else:
            stands_apart = code > high and (code - high > 0.5 * (high - low) or _peak(code, numbers))
        if often and stands_apart:
            apart.append(code)
    return tuple(apart)


def _peak(code: int, numbers: dict[float, int]) -> bool:
    """Return whether a number occurs far more often than its neighbours."""
    near = [count for number, count in numbers.items() if 0 < code - number <= 10]
    return numbers[code] >= max(3, PEAK * (median(near) if near else 0))


def _same(counts: dict[str, int], codes: tuple[str | int, ...]) -> dict[str, str]:
    """Map spellings to the one that stays: other case, other accents, abbreviations, synonyms."""
    tally: dict[str, int] = {}
    for value, count in counts.items():
        if value.strip() not in codes:
            tally[value.strip()] = tally.get(value.strip(), 0) + count
    if len(tally) > MANY:
        return {}
    groups: dict[str, list[str]] = {}
    for value in tally:
        groups.setdefault(fold_text(value), []).append(value)
    heads = {key: max(values, key=lambda v: tally[v]) for key, values in groups.items()}
    target = {key: _longer(key, list(heads)) or key for key in heads}
    mapping = {value: heads[target[key]] for key, values in groups.items() for value in values}
    return {value: head for value, head in mapping.items() if value != head}


def _longer(key: str, keys: list[str]) -> str | None:
    """Return the one word that a text is an abbreviation or a synonym of, or None."""
    synonyms = next((words for words in SYNONYMS if key in words), set())
    first = next((other for other in keys if other in synonyms), None)
    if first is not None:
        return first if first != key else None
    short = key.rstrip(".")
    if not re.fullmatch(r"[^\W\d_]{1,3}", short) or re.fullmatch(r"[ivx]+", short) or len(keys) > 24:
        return None
    words = [
        other for other in keys if len(other) >= max(3, len(short) + 1) and other != key and other.startswith(short)
    ]
    words = [word for word in words if re.fullmatch(r"[^\W\d_]{2,}(?:[ /].*)?", word)] or (
        [other for other in keys if short in "sn" and other in ("si", "no", "sim") and other.startswith(short)]
    )
    return words[0] if len(words) == 1 else None
