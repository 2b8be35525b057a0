"""Rare values of released columns, and cells that a step declared to overwrite but left as they were.

Rarity is decided on the released file: a count of the original would show what a suppressed or deleted cell held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.data.engines.lazy_frames import PERSONS, RECORD, ROWS, as_text, group_counts
from celosia.release.output.column_profile import Frame
from celosia.table.columns import count_values, has_many_values
from celosia.table.derive import with_record_ids
from celosia.table.pairing import is_spread, nearly_same_numbers, paired_counts

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

    from celosia.table import Table

FEW = 3
"""A value shared by fewer persons singles them out: the threshold of official statistics."""
_PERSON = "__person__"
ACCENTS = {
    "a": "àáâãäåāăą",
    "c": "çćč",
    "d": "ďđ",
    "e": "èéêëēėęě",
    "g": "ğģ",
    "i": "ìíîïīįı",
    "l": "ļłľĺ",
    "n": "ñńňņ",
}
ACCENTS |= {"o": "òóôõöøōő", "r": "řŕ", "s": "śšşș", "t": "ťţț", "u": "ùúûüūůűų", "y": "ýÿ", "z": "źžż"}
SIMILAR = 0.8
"""A text is almost unchanged if so large a share of its characters stays at its beginning and its end."""
PAIRS = 2000
"""Size of the sample of records whose texts are compared character by character."""


def rare_values(original: Table, released: Table, name: str, *, untouched: bool, values: pl.DataFrame | None) -> Frame:
    """Values of the original that fewer than ``FEW`` persons hold in the release, as texts with their released rows.

    ``values`` are the released values with their rows if they are in memory; the frame is then one of Polars.
    """
    import narwhals as nw

    engine, person = released.engine, original.schema.person
    before, fold, paired = None, False, released.provenance.family is original.provenance.family
    if not untouched or not paired:
        if not paired:  # rows of a synthesis, or of counts: a value must be rare in the original too
            counted = nw.from_native(group_counts(original.rows.frame, [name], person=person))
            counted = counted.filter(nw.col(PERSONS if person else ROWS) < FEW)
            counted = counted if values is None else nw.from_native(engine.collect(counted.to_native()))
        elif values is not None and not has_many_values(original, name):
            counted = nw.from_native(count_values(original, name))
        else:
            counted = nw.from_native(group_counts(original.rows.frame, [name]))
            counted = counted if values is None else nw.from_native(engine.collect(counted.to_native()))
        fold = paired and _are_texts(original, released, name)
        before = _with_texts(counted.filter(~nw.col(name).is_null()), name, fold=fold).select(name).unique()
        after = _with_texts(nw.from_native(values), name, fold=fold) if values is not None else None
        if after is not None and not len(kept := after.join(before, on=[name])):
            return kept
    if person is not None and paired:
        same = untouched and len(original) == len(released) and _are_all_cells(original, name, values)
        after, by = _count_persons(original, original if same else released, name, person), PERSONS
    else:
        whole = group_counts(released.rows.frame, [name]) if values is None else values
        after, by = nw.from_native(whole), ROWS
    rare = _with_texts(after.filter(~nw.col(name).is_null() & (nw.col(by) < FEW)), name, fold=fold)
    rare = rare.filter(nw.col(name) != "*")
    if values is not None and isinstance(rare, nw.LazyFrame):
        rare = nw.from_native(engine.collect(rare.to_native()))
    return rare if before is None else rare.join(before, on=[name], how="semi")


def _are_all_cells(original: Table, name: str, values: pl.DataFrame | None) -> bool:
    """Whether no cell was suppressed, given the released values with their rows."""
    if values is None or has_many_values(original, name):
        return False
    before = count_values(original, name).drop_nulls(name)
    return bool(before[ROWS].sum() == values[ROWS].sum())


def _count_persons(original: Table, released: Table, name: str, person: str) -> Frame:
    """Count rows and persons of the released values of a column."""
    import narwhals as nw

    if released is original:
        return nw.from_native(group_counts(original.rows.frame, [name], person=person))
    cells, ids = (nw.from_native(with_record_ids(table).rows.frame) for table in (released, original))
    persons = ids.select(RECORD, nw.col(person).alias(_PERSON))
    joint = cells.select(RECORD, name).join(persons, on=[RECORD], how="inner")
    return nw.from_native(group_counts(joint.select(name, _PERSON).to_native(), [name], person=_PERSON))


def count_rare_cells(original: Table, released: Table, name: str, *, untouched: bool) -> int:
    """Count, in the engine, the released cells with a rare value."""
    import narwhals as nw

    rare = rare_values(original, released, name, untouched=untouched, values=None)
    return int(released.engine.collect(rare.select(nw.col(ROWS).sum()).to_native()).item() or 0)


def has_tolerance(original: Table, released: Table, name: str) -> bool:
    """Whether a column is compared with a tolerance: decimals before or after, or numbers of a wide range."""
    sides = [table.rows.types[name] for table in (original, released)]
    whole = all(side.is_integer() for side in sides)
    return all(side.is_numeric() for side in sides) and (not whole or is_spread(original, name))


def count_unchanged(original: Table, released: Table, name: str) -> int:
    """Count the records whose value is unchanged: a step that may overwrite a column need not do so."""
    import narwhals as nw

    if released.provenance.family is not original.provenance.family:
        return 0
    if has_tolerance(original, released, name):
        return _count_unchanged_numbers(original, released, name)
    fold = _are_texts(original, released, name)
    pairs = None if fold else paired_counts(original, released, [name])
    if pairs is not None and name not in pairs.changed:
        return int(count_values(released, name).drop_nulls(name)[ROWS].sum())
    if pairs is not None:
        present = pairs.before.column(name).masked[pairs.kept] >= 0
        return int(pairs.rows[pairs.unchanged_cells(name) & present].sum())

    def cells(table: Table) -> Frame:
        frame = nw.from_native(with_record_ids(table).rows.frame)
        text = as_text(name, frame.collect_schema()[name])
        return frame.select(nw.col(RECORD), (fold_text(text) if fold else text).alias(name)).drop_nulls()

    same = cells(released).join(cells(original), on=[RECORD, name], how="semi")
    return released.engine.rows(same.to_native())  # where the rows are


def _count_unchanged_numbers(original: Table, released: Table, name: str) -> int:
    """Count the records whose number is unchanged but for rounding or a negligible change."""
    import narwhals as nw

    def cells(table: Table, alias: str) -> Frame:
        frame = nw.from_native(with_record_ids(table).rows.frame)
        return frame.select(nw.col(RECORD), nw.col(name).cast(nw.Float64).alias(alias)).drop_nulls()

    both = cells(released, "after").join(cells(original, "before"), on=[RECORD], how="inner")
    near = nearly_same_numbers(original, name, nw.col("before"), nw.col("after"))
    return released.engine.rows(both.filter(near).to_native())


def _with_texts(counted: Frame, name: str, *, fold: bool = False) -> Frame:
    """Values as texts, with their rows: a step may have given a column another type."""
    import narwhals as nw

    text = as_text(name, counted.collect_schema()[name])
    return counted.select((fold_text(text) if fold else text).alias(name), nw.col(ROWS))


def _are_texts(original: Table, released: Table, name: str) -> bool:
    """Whether a column has texts before and after the steps."""
    types = [table.rows.types[name] for table in (original, released)]
    return not any(side.is_numeric() or side.is_temporal() or side.is_boolean() for side in types)


def fold_text(text: nw.Expr) -> nw.Expr:
    """Return texts without case, accents, spaces and punctuation; ``*`` and texts of signs only stay as they are.

    >>> import narwhals as nw, polars as pl
    >>> names = nw.from_native(pl.DataFrame({"x": ["Àna  Puig ", "ana-puig", "**", "—"]}))
    >>> names.select(fold_text(nw.col("x")))["x"].to_list()
    ['anapuig', 'anapuig', '**', '—']
    """
    import narwhals as nw

    plain = text.str.to_lowercase()
    for letter, accented in ACCENTS.items():
        plain = plain.str.replace_all(f"[{accented}]", letter)
    plain = plain.str.replace_all(r"[^\p{L}\p{N}*]", "")
    return nw.when(plain.str.len_chars() > 0).then(plain).otherwise(text)


def is_almost_unchanged(original: Table, released: Table, name: str) -> bool:
    """Whether most texts of a sample of records keep nearly all characters, and not by chance like those of others."""
    import narwhals as nw

    if released.provenance.family is not original.provenance.family or not _are_texts(original, released, name):
        return False
    step = max(1, len(released) // PAIRS)

    def cells(table: Table, alias: str) -> Frame:
        frame = nw.from_native(with_record_ids(table).rows.frame)
        text = as_text(name, frame.collect_schema()[name])
        return frame.filter(nw.col(RECORD) % step == 0).select(RECORD, text.alias(alias)).drop_nulls()

    joint = cells(released, "after").join(cells(original, "before"), on=[RECORD], how="inner")
    pairs = released.engine.collect(joint.to_native()).sort(RECORD)
    before, after = pairs["before"].to_list(), pairs["after"].to_list()
    if not before:
        return False
    similar, by_chance = (
        sum(map(_are_similar, before, others)) / len(before) for others in (after, after[1:] + after[:1])
    )
    return similar >= 0.5 and by_chance <= 0.5 * similar


def _are_similar(before: str, after: str) -> bool:
    start = _shared_start(before, after)
    return start + _shared_start(before[start:][::-1], after[start:][::-1]) >= SIMILAR * max(len(before), len(after))


def _shared_start(text: str, other: str) -> int:
    """Count the characters at the beginning that two texts share."""
    shorter = min(len(text), len(other))
    return next((place for place in range(shorter) if text[place] != other[place]), shorter)
