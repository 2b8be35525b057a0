"""Redaction of free text: names, numbers, addresses, places and days become a tag in brackets.

It takes too much rather than too little: any number of six digits is an identifier, any capitalised word beside a name
belongs to it. Only regular expressions, so that millions of notes take seconds; no model of a language is needed.
"""

from __future__ import annotations

import functools
import re
import tomllib
from importlib import resources
from typing import TYPE_CHECKING

from celosia.proposals.recognition.names import PLAIN, name_words
from celosia.proposals.recognition.traces import TRACES

if TYPE_CHECKING:
    import polars as pl

WORD = r"[A-ZÀ-ÖØ-Þ][\w'’·-]*"
PARTICLE = r"(?:(?:de la|de los|de las|de les|del|dels|de|dos|da|do|di|i|y|van der|van|von|la|el|mac) |d'|d’|o')?"
MORE = rf"(?:[ ]{PARTICLE}{WORD}| [A-Z]\.)*"
TITLES = (
    r"(?:Sr|Sra|Srta|Sres|Dr|Dra|Drs|D|Dª|Don|Doña|En|Na|Mr|Mrs|Ms|Miss|Sir|Prof|Senyor|Senyora|Señor|Señora|"
    "Doctor|Doctora)"
)
#: Words after which a capitalised word is a person.
PERSONS = (
    r"(?:hij[oa]s?|herman[oa]s?|madre|padre|abuel[oa]|niet[oa]|espos[oa]|marido|mujer|pareja|vecin[oa]|cuidadora?|"
    r"enfermer[oa]|amig[oa]|prim[oa]|t[ií][oa]|suegr[oa]|llamad[oa]|apellid[oa]|nombre|paciente|firmad[oa]|firma|"
    r"atiende|avisar a|con|fill|filla|germ[aà]|germana|mare|pare|avi|àvia|n[eé]t|n[eé]ta|marit|dona|parella|ve[ií]|"
    r"veïna|infermera?|amiga?|cosina?|oncle|tieta|sogra?|anomenada?|nom|pacient|signat|signa|atén|avisar|amb|per|en|na|"
    r"daughter|son|wife|husband|mother|father|sister|brother|aunt|uncle|neighbou?r|friend|carer|nurse|doctor|named|"
    r"called|name|patient|signed|by|with|cousin|grand(?:son|daughter|mother|father)|ask|ring|call|contact)"
)
#: Words after which a capitalised word is a place.
DWELLING = (
    r"(?:vive|reside|residente|trabaja|nacid[oa]|natural|vecin[oa]|procede|procedente|trasladad[oa]|derivad[oa]|viaj[eé]|viene|"
    r"viu|resideix|treballa|nascuda?|natural|ve[ií]na?|procedent|traslladada?|derivada?|ve|"
    r"lives?|living|resident|works?|working|born|from|moved|travelled|transferred|comes|based)"
)
TOWARDS = r"(?: (?:en|de|desde|a|al|del|la|el|in|at|to|from|near|cerca de|prop de|des de))+ "
STREETS = (
    r"(?i:calle|c/|avenida|avda\.?|avinguda|av\.|plaza|pza\.?|plaça|pl\.|paseo|passeig|pg\.|carrer|carretera|ctra\.?|camino|"
    r"camí|ronda|travesía|travessera|rambla|urbanización|barrio|barri)"
)
MONTHS = (
    r"(?i:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|"
    r"gener|febrer|març|abril|maig|juny|juliol|agost|setembre|octubre|novembre|desembre|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)


@functools.cache
def rules() -> tuple[tuple[str, str], ...]:
    """Return the tags and the forms that they replace, in order (no look-around)."""
    forms = {trace.what: trace.form for trace in TRACES}
    mail, phone = forms.pop("e-mail address"), forms.pop("telephone number")
    return (
        ("e-mail", mail),
        ("address", r"(?i)\b(?:https?://|www\.)\S+"),
        ("date", _dates()),
        *(("id", form) for form in forms.values()),
        ("telephone", phone + r"|\b\d{2,4}(?:[ .-]\d{2,4}){2,4}\b"),
        ("id", r"(?i)\b[A-Z]{0,4}[-/]?\d{5,}(?:[-/]?[A-Z0-9]+)?\b"),
        *(("place", form) for form in _places()),
        ("name", rf"\b{TITLES}\.? {PARTICLE}{WORD}{MORE}"),
        ("name", rf"(?P<cue>\b{PERSONS}(?: se llama| es diu| is)?[,:]? (?:la |el |en |na |l')?){WORD}{MORE}"),
    )


def redact(texts: pl.Series) -> tuple[pl.Series, dict[str, int]]:
    """Return texts with identifying parts replaced by tags, and the number of texts with each tag.

    >>> import polars as pl
    >>> note = "Acude el 3 de mayo con su hija Zuleika Pérez (tel. 612 345 678), vive en la calle Mayor 3"
    >>> redact(pl.Series([note]))[0].to_list()
    ['Acude el [date] con su hija [name] (tel. [telephone]), vive en la [place]']
    """
    import polars as pl

    counts: dict[str, int] = {}
    texts = texts.clone()  # scatter works in place
    for tag, form in rules():
        had = texts.str.contains(form).fill_null(value=False).arg_true()
        if len(had):
            counts[tag] = counts.get(tag, 0) + len(had)
            # the words before a name or a place stay
            put = f"${{cue}}[{tag}]" if "?P<cue>" in form else f"[{tag}]"
            texts = texts.scatter(had, texts.gather(had).str.replace_all(form, put))
    redacted = pl.Series(
        texts.name, [None if text is None else _redact_listed(text) for text in texts.to_list()], dtype=pl.String
    )
    counts["name"] = counts.get("name", 0) + int((redacted != texts).sum())
    return redacted, counts


def _redact_listed(text: str) -> str:
    """Replace the names and places of the lists, and adjacent capitalised words."""
    return _LOWER.sub(_in_lower_case, _SPAN.sub(_tag_for, text))


#: Capitalised words that name nobody.
CAPITALISED = frozenset(
    """i monday tuesday wednesday thursday friday saturday sunday english spanish alzheimer parkinson crohn hodgkin
    covid lunes martes miércoles jueves viernes sábado domingo dilluns dimarts dimecres dijous divendres dissabte
    diumenge dr dra sr sra mr mrs ms""".split()  # noqa: SIM905
)
_PROPER = re.compile(r"[A-ZÀ-ÖØ-Þ][a-zß-ÿ'’·-]+")
_BEGINS = re.compile(r"(?:^|[.!?:;\n-])[\s\"'(¿¡]*$")
_SPAN = re.compile(rf"{WORD}(?:,? {PARTICLE}{WORD}| [A-Z]\.)*")
_LOWER = re.compile(r"[^\W\d_]{3,}(?: [^\W\d_]{2,})+")


def _tag_for(match: re.Match[str]) -> str:
    """Return the tag for a run of capitalised words, or the words where they may stay.

    In a sentence a capitalised word is a proper name, unless the sentence begins with it or it is one of a few.
    """
    span = match.group()
    words = re.findall(r"[\w'’·]+", _fold(span))
    every, strict = name_words()
    if any(word in _place_words() for word in words) and not any(word in strict for word in words):
        return "[place]"
    if any(word in strict for word in words) or (len(words) > 1 and any(word in every for word in words)):
        return "[name]"
    proper = [word for word in _PROPER.findall(span) if word.lower() not in CAPITALISED]
    begins = _BEGINS.search(match.string[: match.start()]) is not None
    return "[name]" if len(proper) > begins else span


def _in_lower_case(match: re.Match[str]) -> str:
    """Two words of names in a row, however they are written."""
    words = match.group().split(" ")
    every, strict = name_words()
    folded = [_fold(word) for word in words]
    if not any(word in strict for word in folded):
        return match.group()

    def pair(i: int, j: int) -> bool:
        both = min(i, j) >= 0 and max(i, j) < len(words) and folded[i] in every and folded[j] in every
        return both and (folded[i] in strict or folded[j] in strict)

    kept = ["[name]" if pair(i - 1, i) or pair(i, i + 1) else word for i, word in enumerate(words)]
    return " ".join(word for i, word in enumerate(kept) if word != "[name]" or kept[i - 1 : i] != ["[name]"])


def _fold(text: str) -> str:
    return text.lower().translate(_PLAIN)


_PLAIN = str.maketrans(PLAIN)


@functools.cache
def _place_words() -> frozenset[str]:
    """Return the most specific word of each place of the list: the longest one."""
    _redact_listed = tomllib.loads((resources.files("celosia.proposals") / "places.toml").read_text("utf-8"))
    places = [_fold(place.strip()) for place in _redact_listed["places"]["names"].replace("\n", " ").split(",")]
    return frozenset(max(re.findall(r"\w+", place), key=len) for place in places if place)


def _dates() -> str:
    of = r"(?: de | del | d'| d’| of |-|/|\. | )"
    year = r"(?:(?: de | del |, | |-|/)\d{2,4})?"
    return (
        r"\b\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d{2})\b|\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?\b"
        rf"|\b\d{{1,2}}(?:st|nd|rd|th)?{of}{MONTHS}\b{year}|\b{MONTHS} \d{{1,2}}(?:st|nd|rd|th)?\b{year}"
        rf"|\b{MONTHS}(?: de | del | )\d{{4}}\b"
    )


def _places() -> tuple[str, ...]:
    """Return the forms of streets with their number, postcodes, and places after a phrase such as "lives in"."""
    number = r"(?:,? (?:n[ºo°]\.? ?|núm\. ?|number )?\d{1,4}\w?(?:,? ?\d{1,2}[ºªo]?(?: ?-? ?\w)?\b)?)?"
    return (
        rf"\b\d{{1,4}} {WORD}(?: {WORD})? (?:Street|Road|Avenue|Lane|Square|Drive|Close|Way|Court|St|Rd|Ave)\b",
        rf"{STREETS} {PARTICLE}{WORD}{MORE}{number}",
        r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b|\b(?:CP|C\.P\.) ?\d{5}\b",
        rf"(?P<cue>\b{DWELLING}{TOWARDS}){WORD}{MORE}",
    )
