"""How tables, assessments, comparisons and releases look in a terminal and in a notebook.

Each is described once as blocks; a terminal gets them through rich, a notebook as HTML.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from celosia.show.controls import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from celosia.data.schema import Column
    from celosia.release.evidence.certificate import GuardEntry
    from celosia.release.evidence.findings import Assessment, Comparison, Finding
    from celosia.release.evidence.release import Release
    from celosia.table import Table
    from celosia.table.changes import ColumnChange

NUMBERS = {"value", "measured", "unchanged", "guessing", "before", "after", "cells changed"}
"""Headings of columns that hold numbers: they stand to the right."""


@dataclass(frozen=True)
class Block:
    """A paragraph, or a table with a title."""

    title: str
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


class Shown:
    """Base of classes with ``blocks()``: adds how they look in a terminal and in a notebook."""

    def blocks(self) -> list[Block]:
        """Return the blocks to show."""
        raise NotImplementedError

    def __rich__(self) -> RenderableType:
        return to_rich(self.blocks())

    def __repr__(self) -> str:
        return to_text(self.blocks())

    def _repr_html_(self) -> str:
        return to_html(self.blocks())


def assessment_blocks(assessment: Assessment, *, details: bool = True) -> list[Block]:
    """Return the blocks of an assessment: table, requirements, risks and, with details, the parts of each risk."""
    table = assessment.table
    counted = "persons" if table.schema.person else "records"
    head = (
        f"{len(table):,} rows, {table.suppressed():,} suppressed; classes count {counted}. "
        f"Quasi-identifiers: {', '.join(table.schema.quasi)}."
    )
    blocks = [Block(head)]
    if assessment.guessed:
        blocks.append(Block("The roles of the columns were guessed: NOT a verdict. Give a schema to have one."))
    if assessment.models:
        from celosia.parts import describe

        rows = [
            (f.part.name, describe(f.part), number(f.value), "yes" if f.holds and not assessment.guessed else "NO")
            for f in assessment.models
        ]
        blocks.append(Block("Requirements", ("model", "wanted", "measured", "holds"), rows))
        open_columns = "; ".join(f"{', '.join(names)} ({why})" for why, names in assessment.unchecked.items())
        if open_columns:
            blocks.append(Block(f"Not checked by any requirement: {open_columns}."))
    blocks.append(Block("Risks", ("measure", "value", "what it means"), [_row(f) for f in assessment.risks]))
    for finding in assessment.risks if details else ():
        blocks += _details(finding)
    return blocks


def comparison_blocks(comparison: Comparison, *, details: bool = True) -> list[Block]:
    """Return the blocks of a comparison: losses next to their identity value, attacks next to their baseline, and what
    was not measured.

    Without details the numbers alone, and of what does not apply the names.
    """
    lost = [f for f in comparison.losses if f.value is not None]
    silent = [f for f in (*comparison.losses, *comparison.risks) if f.value is None]
    blocks = []
    if lost:
        head = ("loss", "value", "unchanged", "", "what it means")
        rows = [_loss_row(f, comparison) for f in lost]
        blocks.append(_without_explanation(Block("What was lost (lower is better)", head, rows), details=details))
    blocks += _attack_blocks(comparison, details=details)
    if silent and not details:
        blocks.append(Block(f"Not measured: {', '.join(map(_label, silent))}. --details says why."))
    elif silent:
        reasons = dict.fromkeys(f.reason for f in silent)
        rows = [(", ".join(_label(f) for f in silent if f.reason == reason), reason) for reason in reasons]
        blocks.append(Block("Not measured", ("measure", "why"), rows))
    return blocks


def _attack_blocks(comparison: Comparison, *, details: bool) -> list[Block]:
    """Return the block of the attacks with their baselines, or none where no attack was measured."""
    head = ("attack or risk", "value", "guessing", "", "what it means")
    rows = [_attack_row(f) for f in comparison.risks if f.value is not None]
    return (
        [_without_explanation(Block("What an intruder can do (lower is better)", head, rows), details=details)]
        if rows
        else []
    )


def _without_explanation(block: Block, *, details: bool) -> Block:
    """Return a table without its last column, the explanation, unless details are wanted."""
    return block if details else Block(block.title, block.headings[:-1], [row[:-1] for row in block.rows])


def _identity_value(finding: Finding, comparison: Comparison) -> float | None:
    """Return the loss of an unchanged table, or None where it is not defined."""
    from celosia.errors import CelosiaError

    try:
        return float(finding.part.identity_value(comparison.original))
    except CelosiaError:
        return None


def _loss_row(finding: Finding, comparison: Comparison) -> tuple[str, ...]:
    """Return a loss with an arrow that compares it with the loss of an unchanged table."""
    least = _identity_value(finding, comparison)
    shown = [value_of(finding, value) for value in (finding.value, least)]
    return _label(finding), *shown, _arrow(finding.value, least), _plain_summary(finding)


def _attack_row(finding: Finding) -> tuple[str, ...]:
    """Return a risk with an arrow that compares it with the baseline."""
    guess = finding.evidence.get("baseline")
    guess = guess if isinstance(guess, int | float) else None
    shown = [value_of(finding, value) for value in (finding.value, guess)]
    return _label(finding), *shown, _arrow(finding.value, guess), _plain_summary(finding)


def _plain_summary(finding: Finding) -> str:
    """Summary of the measure as plain text."""
    from celosia.parts import summary

    return summary(finding.part).replace("``", "")


def _label(finding: Finding) -> str:
    """Return the measure with the parameters that differ from its defaults."""
    from celosia.parts import grammar, public_spec  # not needed for what a terminal shows first

    written = grammar.show(_whole(public_spec(finding.part)))
    return written if len(written) <= 60 else str(finding.part.name)


def _whole(written: object) -> object:
    """Convert whole floats to integers, so that 3.0 is shown as 3."""
    if isinstance(written, Mapping):
        return {name: _whole(value) for name, value in written.items()}
    if isinstance(written, list | tuple):
        return [_whole(value) for value in written]
    return int(written) if isinstance(written, float) and written.is_integer() else written


def value_of(finding: Finding, value: object) -> str:
    """Format a value of a risk, an attack or a loss: a share as a percentage, others in their unit."""
    from celosia.parts import is_share

    return share(value) if is_share(finding.part) and isinstance(value, int | float) else number(value)


def _arrow(value: float | None, base: float | None) -> str:
    if value is None or base is None:
        return ""
    return "=" if math.isclose(value, base, abs_tol=1e-12) else ("↑" if value > base else "↓")


def _change(after: Finding, before: float | None) -> str:
    """Return the direction of a change with its meaning: safer, less safe, less useful or more useful."""
    arrow = _arrow(after.value, before)
    if arrow in {"", "="}:
        return arrow
    wanted = "↑" if after.part.kind == "model" and after.part.direction == "at least" else "↓"
    better, worse = ("more useful", "less useful") if after.part.kind == "loss" else ("safer", "less safe")
    return f"{arrow} {better if arrow == wanted else worse}"


def release_blocks(release: Release, changes: Sequence[Block] = ()) -> list[Block]:
    """Return the blocks of a release: verdict, changes of columns, measurements, files."""
    seen = [
        (entry.column, entry.what, _guard_cells(entry), entry.acknowledged or "NOT acknowledged")
        for entry in release.public.guard
    ]
    written = [(name, str(path)) for name, path in release.paths.items()]
    return [
        *map(Block, _verdict_sentences(release)),
        *changes,
        *risk_blocks(release),
        *search_blocks(release.table.history),
        *assessment_blocks(release.assessment),
        *comparison_blocks(release.comparison),
        *([Block("Guard", ("column", "what", "cells", "reason to release it"), seen)] if seen else []),
        *([Block("Written", ("what", "where"), written)] if written else []),
    ]


def short_release_blocks(release: Release) -> list[Block]:
    """Return the blocks of a release in short: verdict, before and after, attacks, warnings of the guard, the file to
    open.
    """
    stated = release.public.release
    size = f"{stated.rows:,} records"
    if stated.suppressed:
        size += f", {stated.suppressed:,} of them suppressed ({share(stated.suppressed / stated.rows)})"
    guard = [Block(_guard_message(entry)) for entry in release.public.guard]
    shown = release.paths.get("report") or release.paths.get("data")
    return [
        *map(Block, _verdict_sentences(release)),
        *risk_blocks(release, losses=True),
        *_attack_blocks(release.comparison, details=False),
        Block(f"{size}. {_remaining_sentence(release)}"),
        *search_blocks(release.table.history),
        *guard,
        *([Block(f"open {shown}")] if shown else []),
    ]


def _guard_cells(entry: GuardEntry) -> str:
    """Format the number of cells of a finding, which is not published where it depends on the original."""
    return "some" if entry.cells is None else f"{entry.cells:,} of {entry.of:,}"


def _guard_message(entry: GuardEntry) -> str:
    """Describe a column that the guard reports, with the reason of its acknowledgement or the advice."""
    finding = f"Guard: {_guard_cells(entry)} cells in {entry.column!r} hold {entry.what}."
    if entry.acknowledged:
        return f"{finding} Acknowledged: {entry.acknowledged.removesuffix('.')}."
    acknowledge = f'[guard] acknowledge = {{"{entry.column}" = "the reason"}}'
    return f"{finding} Transform the column, or acknowledge it: {acknowledge}."


def _verdict_sentences(release: Release) -> list[str]:
    """Return the verdict, sensitive columns without a requirement, and what became of the columns to keep."""
    sentences = [_verdict(release)]
    if release.assessment.models and release.unprotected:
        named, add = ", ".join(release.unprotected), requirement_to_add(release.unprotected[0])
        sentences.append(f"No requirement limits what a class discloses about: {named}. Add: {add}")
    kept = keep_outcomes(release)
    wanted = (("as they were", kept["same"]), ("coarser or changed", kept["changed"]), ("LOST", kept["lost"]))
    outcomes = [f"{outcome}: {', '.join(names)}" for outcome, names in wanted if names]
    return [*sentences, *([f"Columns to keep, {'; '.join(outcomes)}."] if outcomes else [])]


def requirement_to_add(column: str) -> str:
    """Return the requirement of a policy that protects a sensitive column from being inferred.

    >>> requirement_to_add("illness")
    '[[require]] use = "l-diversity", l = 2, column = "illness"'
    """
    return f'[[require]] use = "l-diversity", l = 2, column = "{column}"'


def keep_outcomes(release: Release) -> dict[str, list[str]]:
    """Return the columns that analysts must keep, by what became of them: same, changed, lost.

    A column is lost if it is left out or no record shows a value of it.
    """
    outcomes: dict[str, list[str]] = {"same": [], "changed": [], "lost": []}
    by_name = {change.name: change for change in release.changes}
    for name in release.keep:
        change = by_name[name]
        lost = change.after.form in ("gone", "nothing")
        outcomes["lost" if lost else "same" if change.after == change.before else "changed"].append(name)
    return outcomes


def _remaining_sentence(release: Release) -> str:
    """Return how many columns are left out or empty, and which share of all cells changed or is as it was."""
    left = release.remaining
    out = f" ({', '.join(left.dropped)})" if left.dropped else ""
    parts = [f"Of {left.columns} columns {len(left.dropped)} left out{out}, {len(left.empty)} with nothing left"]
    if left.changed is not None and left.unchanged is not None:
        parts.append(f"of all cells {share(left.changed)} changed, {share(left.unchanged)} as they were")
    return f"{'; '.join(parts)}."


def _verdict(release: Release) -> str:
    if not release.assessment.models:
        return "No requirement was set."
    if not release.holds:
        return "A requirement does NOT hold: do not publish."
    empty = release.remaining.empty
    if release.is_empty:
        return (
            "The requirements hold only because nothing is left: every quasi-identifier of every record is suppressed "
            f"({', '.join(empty)}). Ask for less: a smaller k, fewer quasi-identifiers, or finer hierarchies."
        )
    left = f" Nothing is left of: {', '.join(empty)} (every cell is suppressed)." if empty else ""
    return f"Every requirement holds.{left}"


ADVICE = {
    "columns": "fewer quasi-identifiers",
    "hierarchies": "hierarchies with fewer levels, or levels to choose from (levels)",
    "suppression": "a share of records that may be suppressed (suppress)",
    "time": "more time (budget_seconds)",
}


def search_blocks(history: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return a sentence for each search that stopped early: its result, the bound on the distance to the optimum, and
    advice.
    """
    blocks = []
    for entry in history:
        search = entry.get("search")
        if not search or search["complete"]:
            continue
        distance = "how far it is from the best is unknown"
        if search["gap"] is not None:
            least = f"nothing loses less than {search['bound']:.4g}"
            distance = f"{least}, so it is at most {search['gap']:.4g} above the best"
        score = search["score"]
        result = f"The loss found is {score:.4g}" if isinstance(score, float) else "A result was found"
        helps = "; ".join(ADVICE[name] for name in search["advice"])
        blocks.append(
            Block(
                f"{entry['step']} stopped before the search was complete: {search['judged']:,} of {search['nodes']:,} "
                f"combinations of levels were judged. {result}; {distance}. What would help: {helps}."
            )
        )
    return blocks


def change_blocks(changes: Sequence[ColumnChange], sentences: dict[str, str]) -> list[Block]:
    """Return the table of changed columns: detail before and after, an example, the share of changed cells."""
    rows = []
    for change in changes:
        levels = change.before.sentence(sentences), change.after.sentence(sentences)
        changed = "—" if change.altered is None else share(change.altered)
        rows.append((change.name, *levels, change.shown_example(), changed))
    head = ("column", "from", "to", "example", "cells changed")
    return [Block("What happened to the columns", head, rows)] if rows else []


def risk_blocks(release: Release, *, losses: bool = False) -> list[Block]:
    """Return the table of requirements, risks and, if wanted, losses of input and release side by side."""
    pairs = [
        *zip(release.before.models, release.assessment.models, strict=True),
        *zip(release.before.risks, release.assessment.risks, strict=True),
    ]
    rows = [(_label(f), value_of(f, was.value), value_of(f, f.value), _change(f, was.value)) for was, f in pairs]
    for lost in [f for f in release.comparison.losses if f.value is not None] if losses else ():
        least = _identity_value(lost, release.comparison)
        rows.append((_label(lost), value_of(lost, least), value_of(lost, lost.value), _change(lost, least)))
    suppressed = release.table.suppressed()
    rows.append(("suppressed records", number(release.original.suppressed()), number(suppressed), ""))
    return [Block("Before and after", ("measure", "before", "after", ""), rows)]


def column_block(columns: Sequence[Column]) -> Block:
    """Columns with their roles, kinds and hierarchies."""
    rows = [
        (
            c.name,
            ", ".join(sorted(map(str, c.roles))) if c.declared else "none: left out of a release",
            str(c.kind or ""),
            "yes" if c.hierarchy is not None else "",
        )
        for c in columns
    ]
    return Block("Columns", ("name", "roles", "kind", "hierarchy"), rows)


def table_blocks(table: Table, title: str, changes: Sequence[Block] = ()) -> list[Block]:
    """Return the blocks of a table: its columns and steps, never a value of a record."""
    blocks = [Block(f"{title}."), column_block(table.schema.columns)]
    if table.history:
        steps = [(str(i + 1), str(entry.get("step", ""))) for i, entry in enumerate(table.history)]
        blocks.append(Block("Steps", ("", "method"), steps))
    return [*blocks, *changes, *search_blocks(table.history)]


def to_rich(blocks: Sequence[Block]) -> RenderableType:
    """Render blocks for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    shown: list[RenderableType] = []
    for block in blocks:
        if not block.headings:
            shown.append(Text(visible(block.title, lines=False), style="bold" if "NOT" in block.title else ""))
            continue
        page = Table(title=Text(visible(block.title, lines=False)), title_justify="left", title_style="bold")
        for heading in block.headings:
            page.add_column(heading, justify="right" if heading in NUMBERS else "left")
        for row in block.rows:
            page.add_row(*(Text(visible(cell, lines=False), style="bold red" if cell == "NO" else "") for cell in row))
        shown.append(page)
    return Group(*shown)


def to_text(blocks: Sequence[Block]) -> str:
    """Render blocks as plain text."""
    import io

    from rich.console import Console

    page = io.StringIO()
    Console(file=page, width=120, no_color=True, force_terminal=False).print(to_rich(blocks))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


def to_html(blocks: Sequence[Block]) -> str:
    """Render blocks for a notebook."""
    out = []
    for block in blocks:
        if not block.headings:
            out.append(f"<p>{escape(block.title)}</p>")
            continue
        head = "".join(f"<th style='text-align:left'>{escape(h)}</th>" for h in block.headings)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in block.rows
        )
        out.append(
            f"<table><caption style='text-align:left;font-weight:600'>{escape(block.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
    return "<div>" + "".join(out) + "</div>"


def share(value: float) -> str:
    """Format a share as a percentage."""
    from celosia.show.formats import number as written  # Babel is not needed for what a terminal shows first

    return written(value, percent=True)


def number(value: object) -> str:
    """Format a number.

    >>> number(0.2), number(12918227.0), number(None), number(float("inf"))
    ('0.2', '12,918,227', '—', '∞')
    """
    if not isinstance(value, int | float):
        return "—"
    if not math.isfinite(value):
        return "∞" if value > 0 else "—"
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _row(finding: Finding) -> tuple[str, str, str]:
    if finding.value is None:
        return finding.part.name, "—", f"not measured: {finding.reason}"
    meaning = f"{_plain_summary(finding)} ↓ lower is better"
    return finding.part.name, value_of(finding, finding.value), meaning


def _details(finding: Finding) -> list[Block]:
    """Return the parts of a risk that are plain numbers, as a small table."""
    flat: list[tuple[str, str]] = []
    for name, value in finding.evidence.items():
        if name == "value":
            continue
        if isinstance(value, dict):
            flat += [(f"{name} {k}", number(v)) for k, v in value.items() if isinstance(v, int | float)]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            flat.append((name, number(value)))
        elif isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(v, int | float) for v in value):
            flat.append((name, f"{number(value[0])} – {number(value[1])}"))
    return [Block(f"{finding.part.name} in detail", ("", "value"), flat)] if flat and len(flat) <= 20 else []
