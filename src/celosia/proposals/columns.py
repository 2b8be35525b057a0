"""From names and content to a proposal for every column, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from celosia.data.schema import Kind, Role, Schema
from celosia.proposals.content import Content, contents_of, numbered
from celosia.proposals.hierarchies import hierarchy_for
from celosia.proposals.meanings import Meaning
from celosia.proposals.patterns import recognised
from celosia.proposals.vocabulary import meaning_of

if TYPE_CHECKING:
    import polars as pl

#: From this share of distinct values on, a code is taken as a record's own number.
OWN_NUMBER = 0.9
#: Below this share of separated pairs a column hardly helps to single anyone out.
LITTLE_POWER = 0.01
#: Records per person from which a person column is proposed, and the share of persons whose fixed traits must agree.
REPEATED = 1.1
AGREEING = 0.95


@dataclass(frozen=True)
class ColumnSuggestion:
    """A proposal for one column: role, kind, hierarchy and bounds, and why.

    ``hipaa`` is the number (1 to 18) of the HIPAA Safe Harbor identifier that the column is. The reason names
    counts and shares, never a value.
    """

    name: str
    role: Role
    kind: Kind
    reason: str
    hierarchy: dict[str, Any] | None = None
    hierarchy_reason: str = ""
    bounds: tuple[float, float] | None = None
    hipaa: int | None = None
    meaning: str | None = None
    distinction: float = 0.0
    separation: float = 0.0
    #: Steps that a preset wants for the column, in the grammar of a policy.
    steps: tuple[dict[str, Any], ...] = ()


def suggest(frame: pl.DataFrame | pl.LazyFrame) -> list[ColumnSuggestion]:
    """Propose a role, a kind and a hierarchy for every column of a table.

    Direct identifiers are found by name (English, Spanish, Catalan) and by the form of the values, with check digits
    where there are some; sensitive columns by name; quasi-identifiers by name and by how well they tell
    records apart; the person column by repetition. A proposal is a beginning, not a decision.

    >>> import polars as pl
    >>> table = pl.DataFrame({"nom": ["Ana", "Pau", "Ona", "Jan"], "edat": [34, 51, 34, 60],
    ...                       "diagnòstic": ["A", "B", "A", "A"]})
    >>> [(s.name, str(s.role)) for s in suggest(table)]
    [('nom', 'identifier'), ('edat', 'quasi'), ('diagnòstic', 'sensitive')]
    """
    contents = contents_of(frame)
    meanings = {name: _meaning(name, contents) for name in contents}
    proposed = [_propose(content, meanings[name]) for name, content in contents.items()]
    return _with_person(frame, _once(proposed), contents, meanings)


def schema_of(suggestions: list[ColumnSuggestion]) -> Schema:
    """Return the schema that the suggestions describe.

    >>> import polars as pl
    >>> schema_of(suggest(pl.DataFrame({"age": [30, 41, 52], "city": ["a", "b", "b"]}))).quasi
    ('age', 'city')
    """
    with_role = {role: [s.name for s in suggestions if s.role == role] for role in Role}
    person = next(iter(with_role[Role.PERSON]), None)
    return Schema.of(
        identifiers=with_role[Role.IDENTIFIER],
        quasi=with_role[Role.QUASI],
        sensitive=with_role[Role.SENSITIVE],
        insensitive=with_role[Role.INSENSITIVE],
        weight=next(iter(with_role[Role.WEIGHT]), None),
        household=next(iter(with_role[Role.HOUSEHOLD]), None),
        stratum=next(iter(with_role[Role.STRATUM]), None),
        person=person,
        kinds={s.name: str(s.kind) for s in suggestions},
        bounds={s.name: s.bounds for s in suggestions if s.bounds},
        hierarchies={s.name: s.hierarchy for s in suggestions if s.hierarchy},
    )


def _meaning(name: str, contents: dict[str, Content]) -> Meaning | None:
    """Return what the name means, after the content had its say."""
    meaning = meaning_of(name)
    content = contents[name]
    if meaning is None:
        return None
    if meaning.what == "body" and name.lower() in ("weight", "weights", "peso", "pes"):
        # A file has body weights between 0.3 and 300 kg; what lies elsewhere expands a sample.
        low, high = content.low or 0.0, content.high or 0.0
        if content.kind == Kind.NUMERIC and (high > 300 or low > 110):
            return meaning_of("sampling weight")
    if meaning.role == Role.WEIGHT and (content.kind == Kind.DATE or not content.values or content.low is None):
        return None
    if meaning.role == Role.HOUSEHOLD and content.repeats < REPEATED:
        return None
    return meaning


def _propose(content: Content, meaning: Meaning | None) -> ColumnSuggestion:
    """Propose for one column, looking at nothing but itself."""
    kind = _kind(content, meaning)
    role, reason, hipaa, what = _role(content, meaning)
    suggestion = ColumnSuggestion(
        content.name,
        role,
        kind,
        reason,
        bounds=meaning.bounds if meaning and kind == Kind.NUMERIC else None,
        hipaa=hipaa,
        meaning=what,
        distinction=content.distinction,
        separation=content.separation,
    )
    if role != Role.QUASI:
        return suggestion
    hierarchy, why = hierarchy_for(content, kind, meaning)
    return replace(suggestion, hierarchy=hierarchy, hierarchy_reason=why)


def _kind(content: Content, meaning: Meaning | None) -> Kind:
    """Return the kind by content, or by name where the content cannot tell."""
    if meaning is None or meaning.kind is None or content.kind in (Kind.DATE, Kind.ORDINAL):
        return content.kind
    if meaning.kind == Kind.NUMERIC and content.low is None:
        return content.kind  # "age" that holds texts such as "30-39"
    if meaning.kind == Kind.DATE:
        return content.kind
    return meaning.kind


def _role(content: Content, meaning: Meaning | None) -> tuple[Role, str, int | None, str | None]:
    """Return the role, the reason, the HIPAA type and the meaning."""
    if content.distinct <= 1:
        return Role.INSENSITIVE, "one value only: it tells nobody apart", None, None
    found = recognised(content.values, content.distinct)
    if found and not (meaning and meaning.role not in (Role.IDENTIFIER, Role.PERSON) and not found[0].checked):
        pattern, share = found
        return (
            Role.IDENTIFIER,
            f"{_percent(share)} of the values look like: {pattern.name}",
            pattern.hipaa,
            pattern.name,
        )
    if meaning is not None and not meaning.weak and not (meaning.role == Role.PERSON and content.distinct < 3):
        if meaning.role == Role.PERSON:
            return Role.IDENTIFIER, f"the name says: {meaning.what}", meaning.hipaa, meaning.what
        reason = f"the name says: {meaning.what}"
        if meaning.role == Role.QUASI:
            reason += f"; alone it {_power(content)}"
        return meaning.role, reason, meaning.hipaa, meaning.what
    if content.text and content.distinction > 0.5:
        return Role.IDENTIFIER, "free text, which can hold names and anything else", 18, "free text"
    code = _is_code(content, meaning)
    if code and content.distinction >= OWN_NUMBER and content.distinct > 20:
        named = " and the name says so" if meaning else ""
        reason = f"{_percent(content.distinction)} of the values occur once: a number or code of its own{named}"
        return Role.IDENTIFIER, reason, 18, "number or code of its own"
    if meaning is not None and meaning.weak and code and content.distinction > 0.2:
        return Role.IDENTIFIER, f"the name says: {meaning.what}; {content.distinct} values", 18, meaning.what
    if content.separation < LITTLE_POWER:
        return Role.INSENSITIVE, f"it {_power(content)}, hardly any", None, None
    return Role.QUASI, f"it {_power(content)}, so who knows it can single records out", None, None


def _once(proposed: list[ColumnSuggestion]) -> list[ColumnSuggestion]:
    """Leave each role that one column can have to the first; a further household number is an identifier."""
    seen: set[Role] = set()
    result = []
    for s in proposed:
        if s.role in seen:
            other = Role.IDENTIFIER if s.role == Role.HOUSEHOLD else Role.INSENSITIVE
            s = replace(s, role=other, reason=f"{s.reason}, but another column is taken as that")
        elif s.role in (Role.WEIGHT, Role.HOUSEHOLD, Role.STRATUM):
            seen.add(s.role)
        result.append(s)
    return result


def _is_code(content: Content, meaning: Meaning | None) -> bool:
    """Say whether the values are codes and not amounts: text, a running number, or whole numbers of one length."""
    if content.low is None or content.high is None:
        return content.kind == Kind.NOMINAL
    if not content.whole:
        return False
    named = meaning is not None and meaning.weak
    running = content.high - content.low <= 2 * content.rows
    lengths = {len(value) for value in content.values}
    return named or running or (len(lengths) == 1 and min(lengths) >= 6)


def _with_person(
    frame: pl.DataFrame | pl.LazyFrame,
    proposed: list[ColumnSuggestion],
    contents: dict[str, Content],
    meanings: dict[str, Meaning | None],
) -> list[ColumnSuggestion]:
    """Propose a person column where the same identifier stands on several rows."""
    candidates = [
        s
        for s in proposed
        if s.role == Role.IDENTIFIER
        and s.hipaa in (7, 8, 9, 18)
        and contents[s.name].repeats >= REPEATED
        and contents[s.name].distinct > 2
    ]
    fixed = [name for name, meaning in meanings.items() if meaning and meaning.fixed]
    best: tuple[int, float, ColumnSuggestion, str] | None = None
    for candidate in candidates:
        traits = [name for name in fixed if name != candidate.name]
        agree = _agreement(frame, candidate.name, traits) if traits else None
        meaning = meanings[candidate.name]
        named = meaning is not None and meaning.role == Role.PERSON
        if (agree is not None and agree < AGREEING) or (agree is None and not named):
            continue
        repeats = contents[candidate.name].repeats
        why = f"{candidate.reason}; {repeats:.1f} rows per value"
        if agree is not None:
            why += f", and {', '.join(traits[:3])} stay the same in {_percent(agree)} of the repeated ones"
        rank = (int(named) + (agree is not None), -repeats)
        if best is None or rank > best[:2]:
            best = (*rank, candidate, why + ": a person may own several rows")
    if best is None:
        return proposed
    chosen = replace(best[2], role=Role.PERSON, reason=best[3])
    return [chosen if s.name == chosen.name else s for s in proposed]


def _agreement(frame: pl.DataFrame | pl.LazyFrame, person: str, traits: list[str]) -> float | None:
    """Return the share of repeated persons for whom all fixed traits stay the same."""
    import polars as pl

    fixed = [f"c{i + 1}" for i in range(len(traits))]
    grouped = (
        numbered(frame, [person, *traits])
        .drop_nulls("c0")
        .group_by("c0")
        .agg(pl.len().alias("__n__"), *(pl.col(t).drop_nulls().n_unique().alias(t) for t in fixed))
        .filter(pl.col("__n__") > 1)
        .select(pl.all_horizontal(pl.col(t) <= 1 for t in fixed).mean())
    )
    share = grouped.collect(engine="streaming").item()
    return None if share is None else float(share)


def _power(content: Content) -> str:
    """Say how well a column tells records apart."""
    return f"tells {_percent(content.separation)} of the pairs of records apart"


def _percent(share: float) -> str:
    """Write a share so that 99.97 % does not read as all.

    >>> _percent(0.99996), _percent(1.0), _percent(0.0004)
    ('> 99.9 %', '100 %', '< 0.1 %')
    """
    if 0.999 < share < 1:
        return "> 99.9 %"
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %".replace(".0 %", " %")
