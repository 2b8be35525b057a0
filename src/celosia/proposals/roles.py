"""The role of a column, by the form of its values, the meaning of its name, and how well it distinguishes records."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.data.schema import Kind, Role
from celosia.hierarchy.cells import number
from celosia.proposals.content import Content
from celosia.proposals.meanings import Meaning, meaning_named
from celosia.proposals.recognition.categories import values_meaning
from celosia.proposals.recognition.names import mostly_names
from celosia.proposals.recognition.patterns import recognise
from celosia.proposals.vocabulary import meanings_of

#: From this share of distinct values on, a code counts as the number of a record.
OWN_NUMBER = 0.9
#: Below this share of separated pairs a column hardly helps to single anyone out.
LITTLE_POWER = 0.01
#: Mean records per value from which a number can be that of a household or person.
REPEATED = 1.1
#: Sentences have this many words, and this share of them (or this many) occur once.
SENTENCE, OWN_WORDS, MANY_TEXTS = 4.0, 0.2, 1000
#: At most so many values on at least so many records each are categories of people, not people.
KINDS, MANY_EACH = 12, 20
#: Possible codes of the form per code in use, from which a code counts as the number of a record.
THIN = 100
#: What a question can be about whose answers are opinions.
CIRCUMSTANCES = (
    "family situation",
    "work",
    "working time or experience",
    "housing",
    "rank or class of travel or service",
)
#: Most values of a column that describes the study, such as waves.
DESIGN = 100
#: In a table with fewer records any numbers may be in sequence.
FEW_ROWS = 20
#: Meanings of a time of birth, what a part of it or an age in another unit means, and a column of waves.
BORN, BIRTH_PART, WAVE = ("birth date", "birth year", "age"), "time of birth or age", "wave, visit or period"
SEX = (
    {"h", "m"}, {"m", "f"}, {"v", "m"}, {"h", "d"}, {"male", "female"}, {"hombre", "mujer"}, {"varon", "mujer"},
    {"home", "dona"}, {"man", "woman"}, {"homme", "femme"}, {"masculino", "femenino"}, {"m", "w"},
    {"mannlich", "weiblich"},
)  # fmt: skip


@dataclass(frozen=True)
class Judgement:
    """Proposed role of a column, with the reason, the HIPAA type and the meaning."""

    role: Role
    reason: str
    hipaa: int | None = None
    meaning: str | None = None
    #: Whether only its power to distinguish records speaks for the role.
    unknown: bool = False
    #: Whether the column holds free text.
    free: bool = False


def meaning_for(content: Content) -> Meaning | None:
    """Return what a column means: the likeliest meaning of its name and description that the cells do not rule out.

    Values that speak for themselves (*Married, Single*) count where the name is vague or says nothing.
    """
    candidates = _candidates(content)
    if content.kind == Kind.DATE:
        dated = [m for m in candidates if m.what in ("birth date", "date of an event")]
        return dated[0] if dated else meaning_named("date of an event")
    if candidates and candidates[0].what == "body" and _expands(content):
        return meaning_named("sampling weight")
    if candidates and candidates[0].what == "grade or evaluation" and _is_school_grade(content):
        return meaning_named("education")
    by_values = values_meaning(content.values, content.counts, content.labels)
    if by_values is not None and _fits(content, meaning_named(by_values)):
        doubtful = not candidates or candidates[0].weak or candidates[0].vague or candidates[0].design
        # "Yes, very rude" is an answer, though the name of the column is "baby".
        answers = by_values == "attitude or opinion" and not doubtful and candidates[0].what in CIRCUMSTANCES
        if doubtful or answers:
            return meaning_named(by_values)
    if candidates and not candidates[0].weak:
        return candidates[0]
    return meaning_named("sex") if _two_sexes(content) else next(iter(candidates), None)


def _candidates(content: Content) -> list[Meaning]:
    """Return the meanings that fit the cells, likeliest first; a description says more than an abbreviated name."""
    named = [meaning for meaning in meanings_of(content.name) if _fits(content, meaning)]
    described = [meaning for meaning in meanings_of(content.description) if _fits(content, meaning)]
    certain = bool(named) and (named[0].firm or named[0].role in (Role.WEIGHT, Role.HOUSEHOLD))
    if named and described and named[0].role == Role.QUASI and described[0].role == Role.INSENSITIVE:
        certain = True
    if not described or described[0].vague or described[0].weak or certain:
        ranked = named or described
    else:
        ranked = [*described, *named]
    said = {meaning.what for text in (content.name, content.description) for meaning in meanings_of(text)}
    if said.intersection(BORN) and content.kind != Kind.DATE and (not ranked or ranked[0].what == WAVE):
        return [meaning_named(BIRTH_PART), *ranked]  # a day or month of birth, an age in months
    return ranked


def judge_column(content: Content, meaning: Meaning | None) -> Judgement:
    """Judge one column by itself."""
    if _is_running(content) and (meaning is None or meaning.weak or meaning.design or meaning.what == "place"):
        reason = "the numbers of the rows, one after the other: they say nothing of the people"
        return Judgement(Role.IDENTIFIER, reason, None, "row number")
    if content.distinct <= 1:
        if content.missing and content.filled:
            return _judge_flag(content, meaning)
        return Judgement(Role.INSENSITIVE, "one value only: it distinguishes no records")
    form = recognise(content.values, content.distinct)
    if form and (form[0].checked or meaning is None or meaning.weak or meaning.role in (Role.IDENTIFIER, Role.PERSON)):
        pattern, share = form
        reason = f"{percent(share)} of the values look like: {pattern.name}"
        return Judgement(Role.IDENTIFIER, reason, pattern.hipaa, pattern.name)
    if content.kind != Kind.DATE:
        written = _judge_text(content, meaning)
        if written:
            return written
    numbered = meaning is not None and _is_numbered_record(content, meaning)
    if meaning is not None and not meaning.weak and not meaning.vague and not numbered:
        return _judge_by_name(content, meaning)
    return _by_power(content, meaning)


def _judge_flag(content: Content, meaning: Meaning | None) -> Judgement:
    """Judge a column with one value and empty cells: a missing value counts as a value."""
    if meaning is not None and not meaning.weak and not meaning.vague and meaning.role != Role.INSENSITIVE:
        return _judge_by_name(content, meaning)
    reason = f"one value in {content.filled} records, the others are empty: a person with it differs from the rest"
    return Judgement(Role.QUASI, reason, unknown=True)


def _fits(content: Content, meaning: Meaning) -> bool:
    """Return whether the cells are compatible with the name."""
    numeric = content.low is not None
    what = meaning.what
    named = meaning.role in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD, Role.WEIGHT)
    if content.coded and (named or meaning.free):
        return False
    if numeric and not content.whole and meaning.kind == Kind.NOMINAL:
        return False
    if meaning.design and (content.distinct > DESIGN or (numeric and not content.whole)):
        return False
    if meaning.measure and content.text and content.distinction > OWN_WORDS and content.distinct > MANY_TEXTS:
        return False
    if content.kind == Kind.DATE:
        return what in ("birth date", "date of an event")
    if meaning.date or what == "birth date":
        return False
    if meaning.role == Role.WEIGHT:
        return numeric and content.distinct > 2
    if meaning.role == Role.HOUSEHOLD:
        kinds = content.distinct <= KINDS and content.repeats >= MANY_EACH
        return content.repeats >= REPEATED and not kinds
    if meaning.free:
        return not numeric and (content.words >= 2 or content.distinction > 0.5)
    if what == "grade or evaluation":
        return numeric or content.distinct <= 30
    if what == "money":
        return numeric or content.number_format is not None or content.distinct <= 30 or _mostly_digits(content)
    if what == "sex":
        return content.distinct <= 12
    if what == "age":
        return not numeric or (content.high or 0) <= 130
    if what == "birth year":
        return numeric and (content.low or 0) >= 1800
    if what == "postcode":
        return any(c.isdigit() for value in content.values[:20] for c in value) and (content.whole or not numeric)
    if meaning.role in (Role.IDENTIFIER, Role.PERSON) and not meaning.weak:
        # A flag (yes, no), an amount or a few kinds identify no person, whatever the column is called.
        amount = numeric and not content.whole and what != "address"
        flag = content.distinct <= 2 and content.filled > 6
        kinds = meaning.role == Role.PERSON and content.distinct <= KINDS and content.repeats >= MANY_EACH
        postcode = what == "address" and content.code_length == 5 and content.values[0].isdigit()
        return not (amount or flag or kinds or postcode)
    return True


def _mostly_digits(content: Content) -> bool:
    """Return whether most values are digits, and some a mark for missing."""
    return sum(number(value) is not None for value in content.values) >= 0.8 * len(content.values)


def _expands(content: Content) -> bool:
    """Return whether weights cannot be body weights, between 0.3 and 700 pounds, and so expand a sample.

    Weights with the mean 1 are those of a sample, scaled to its size.
    """
    low, high = content.low or 0.0, content.high or 0.0
    plain = content.name.lower() in ("weight", "weights", "peso", "pes", "poids", "gewicht")
    scaled = not content.whole and abs((content.mean or 0.0) - 1) < 0.05 and high < 20
    return plain and content.kind == Kind.NUMERIC and (high > 700 or low > 300 or scaled)


def _is_school_grade(content: Content) -> bool:
    """Return whether grades are those of a school, one after the other, and not marks."""
    plain = content.name.lower() in ("grade", "grades", "schoolgrade")
    whole = content.whole and content.low is not None and 0 <= content.low <= 6
    return (
        plain
        and whole
        and 5 < (content.high or 0) <= 20
        and content.distinct >= (content.high or 0) - (content.low or 0)
    )


def _is_running(content: Content) -> bool:
    """Return whether the cells are the numbers of the rows."""
    if content.low is None or content.high is None or not content.whole or content.missing or content.rows < FEW_ROWS:
        return False
    return content.distinct == content.rows and content.high - content.low <= 1.02 * content.rows


def _two_sexes(content: Content) -> bool:
    """Return whether the values are the two sexes."""
    values = {value.strip().lower().replace("ó", "o").replace("ä", "a") for value in content.values[:10]}
    return content.distinct <= 10 and values in SEX


def _judge_text(content: Content, meaning: Meaning | None) -> Judgement | None:
    """Judge what people wrote: sentences, or names of people."""
    named = meaning is not None and meaning.role in (Role.IDENTIFIER, Role.PERSON) and not meaning.free
    own = content.distinction > OWN_WORDS or content.distinct > MANY_TEXTS
    if meaning is not None and meaning.free:
        return Judgement(Role.IDENTIFIER, "free text: the name says so", 18, "free text", free=True)
    if not named and content.words >= SENTENCE and own and content.distinct > 5:
        reason = f"free text: {content.words:.0f} words a cell, {percent(content.distinction)} of them occur once"
        return Judgement(Role.IDENTIFIER, reason, 18, "free text", free=True)
    if content.text and (meaning is None or meaning.weak) and mostly_names(content.values):
        return Judgement(Role.IDENTIFIER, "most of the values are names of people", 1, "name of a person")
    return None


def _judge_by_name(content: Content, meaning: Meaning) -> Judgement:
    """Judge by a name that leaves no doubt."""
    source = "the values say"
    said = {meaning.what, *(BORN if meaning.what == BIRTH_PART else ())}
    if said.intersection(each.what for each in meanings_of(content.name)):
        source = "the name says"
    elif said.intersection(each.what for each in meanings_of(content.description)):
        source = "the description says"
    reason = f"{source}: {meaning.what}"
    if content.kind == Kind.DATE and meaning.what == "date of an event":
        reason = "the cells are dates"
    if meaning.role == Role.QUASI:
        reason += f"; alone it {_power(content)}"
    role = Role.IDENTIFIER if meaning.role == Role.PERSON else meaning.role
    return Judgement(role, reason, meaning.hipaa, meaning.what)


def _is_numbered_record(content: Content, meaning: Meaning) -> bool:
    """Return whether a column named after something sensitive holds record numbers: *procedure 2024/00317*."""
    single = content.distinction >= OWN_NUMBER and content.distinct > 20
    if not single or meaning.role == Role.QUASI:
        return False
    coded = content.low is None and _is_code(content, None)
    called = meaning_named("number or code of its own") in meanings_of(content.name)
    return (meaning.role == Role.SENSITIVE and coded) or (called and _is_code(content, meaning))


def _by_power(content: Content, meaning: Meaning | None) -> Judgement:
    """Judge by how well the column distinguishes records."""
    own = "number or code of its own"
    if _is_code(content, meaning) and content.distinct > 20:
        named = " and the name says so" if meaning else ""
        if content.distinction >= OWN_NUMBER:
            reason = f"{percent(content.distinction)} of the values occur once: a number or code of its own{named}"
            return Judgement(Role.IDENTIFIER, reason, 18, own)
        if content.distinction > 0.05 and _uses_few_codes(content):
            reason = f"codes of one form, few of the possible ones in use: a number or code of its own{named}"
            return Judgement(Role.IDENTIFIER, reason, 18, own)
        if meaning is not None and content.distinction > 0.2:
            return Judgement(Role.IDENTIFIER, f"the name says: {meaning.what}; {content.distinct} values", 18, own)
    if content.separation < LITTLE_POWER:
        reason = f"it {_power(content)}, hardly any, but a person with a rare value differs from the rest"
        return Judgement(Role.QUASI, reason, unknown=True)
    reason = f"its meaning is unknown; it {_power(content)}, so an intruder who knows it can single records out"
    return Judgement(Role.QUASI, reason, unknown=True)


def _is_code(content: Content, meaning: Meaning | None) -> bool:
    """Return whether the values are codes and not amounts: text, a running number, or whole numbers of one length."""
    if content.low is None or content.high is None:
        return content.kind == Kind.NOMINAL and content.number_format is None and content.words < 2
    if not content.whole:
        return False
    running = content.high - content.low <= 2 * content.rows
    return meaning is not None or running or content.code_length >= 6


def _uses_few_codes(content: Content) -> bool:
    """Return whether codes of one form use few of the values that it allows: areas are numbered in sequence, people are
    not.
    """
    if not content.code_length or not any(c.isdigit() for c in content.values[0]):
        return False
    values = [value.strip() for value in content.values]
    free = sum(len(set(signs)) >= 5 for signs in zip(*values, strict=True))
    return 10.0**free >= THIN * content.distinct


def _power(content: Content) -> str:
    """Describe how well a column distinguishes records."""
    return f"distinguishes {percent(content.separation)} of the pairs of records"


def percent(share: float) -> str:
    """Write a share so that 99.97 % does not read as all.

    >>> percent(0.99996), percent(1.0), percent(0.0004)
    ('> 99.9 %', '100 %', '< 0.1 %')
    """
    if 0.999 < share < 1:
        return "> 99.9 %"
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %".replace(".0 %", " %")
