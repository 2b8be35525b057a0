"""Output of the commands: tables for a terminal, JSON for a pipe."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from celosia.show.blocks import search_blocks
from celosia.show.controls import CONTROL, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderHook
    from rich.segment import Segment

    from celosia.parts.progress import Progress
    from celosia.release.evidence.findings import Assessment, Comparison
    from celosia.release.evidence.release import Release
    from celosia.release.output.columns import OutputTable


class _VisibleText:
    """Renderable whose texts cannot control the terminal."""

    def __init__(self, drawn: RenderableType) -> None:
        self.drawn = drawn

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        for segment in console.render(self.drawn, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


class _VisibleTextHook:
    """Render hook that makes control characters of all output visible."""

    def process_renderables(self, renderables: list[Any]) -> list[Any]:
        return [_VisibleText(each) for each in renderables]


def console(*, stderr: bool = False) -> Console:
    """Return a console on which a name is neither markup nor a control sequence."""
    from rich.console import Console

    printer = Console(stderr=stderr, markup=False, highlight=False, soft_wrap=not sys.stdout.isatty())
    printer.push_render_hook(cast("RenderHook", _VisibleTextHook()))
    return printer


def print_text(text: str, *, end: str = "\n", error: bool = False, lines: bool = True) -> None:
    """Print a text that may contain names from data or files."""
    print(visible(text, lines=lines), end=end, file=sys.stderr if error else sys.stdout)


def announcer(what: str) -> Callable[[str], None]:
    """Return a function that prints the address of a server, unbuffered even into a pipe."""

    def announce(address: str) -> None:
        print_text(f"{what} at {address}\nIt ends with Ctrl-C.")
        sys.stdout.flush()

    return announce


def show_warnings() -> None:
    """Print each warning once, as one line on standard error."""
    printed = set()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, UserWarning) and str(message) not in printed:
            printed.add(str(message))
            print_text(f"celosia: warning: {message}", error=True, lines=False)

    warnings.showwarning = show


@contextlib.contextmanager
def progress() -> Iterator[Progress]:
    """Show a progress bar on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), *times)
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda what, share: bar.update(task, description=visible(what, lines=False), completed=share)


def print_json(data: Mapping[str, Any]) -> None:
    """Print plain data as JSON."""
    import json

    from celosia.release.evidence.plain_data import plain

    text = json.dumps(plain(data), indent=2, ensure_ascii=False)
    print(CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text))


def print_rows(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print texts as a table with a title."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*(visible(cell, lines=False) for cell in row))
    console().print(table)


def print_assessment(assessment: Assessment, *, guessed: bool, details: bool = False) -> None:
    """Print an assessment."""
    from celosia.show.blocks import assessment_blocks, to_rich

    out = console()
    if guessed:
        out.print("The roles of the columns were guessed; declare them with --quasi or a policy (celosia init).")
        if assessment.models:
            out.print("So no requirement is said to be met.")
    out.print(to_rich(assessment_blocks(assessment, details=details)))


def print_comparison(comparison: Comparison, *, details: bool = False) -> None:
    """Print a comparison."""
    from celosia.show.blocks import comparison_blocks, to_rich

    console().print(to_rich(comparison_blocks(comparison, details=details)))


def print_release(release: Release, *, json: bool, details: bool = False) -> None:
    """Print the verdict, the measurements before and after, and the file to open."""
    from celosia.show.blocks import short_release_blocks, to_rich

    if json:
        print_json(release.spec())
        return
    console().print(release if details else to_rich(short_release_blocks(release)))
    if details and "report" in release.paths:
        print_text(f"open {release.paths['report']}")


def print_step(entry: Mapping[str, Any], before: int, after: int) -> None:
    """Print the result of a method."""
    out = console()
    out.print(f"{entry['step']}: {before} records read, {after} written to {entry['files']['out']}")
    for name, value in entry.items():
        if name not in {"step", "parameters", "files"} and not isinstance(value, Mapping | list):
            out.print(f"  {name}: {value}")
    if entry.get("converged") is False:
        out.print(
            "Warning: the method has not converged, so that its result depends on where it stopped. Raise "
            "max_iterations, or accept a larger tolerance."
        )
    for block in search_blocks([entry]):
        out.print(block.title)


def print_left_out(
    leaving: OutputTable, advice: str = "--keep-columns keeps a column; a role such as --sensitive declares it."
) -> None:
    """Print the columns that were left out, those that the guard reports, and those that were kept on request."""
    out = console()
    if leaving.left_out:
        named = ", ".join(f"{name} ({what})" for name, what in leaving.left_out.items())
        out.print(f"Left out: {named}. {advice}")
    for sighting in leaving.sightings:
        answer = (
            f"Acknowledged: {sighting.acknowledged}"
            if sighting.acknowledged
            else f"Not acknowledged: {sighting.advice}"
        )
        out.print(f"Guard: {sighting}. {answer}.")
    for kept in leaving.kept:
        values = kept.values_of_original
        out.print(f"Kept on purpose: {kept.column} ({kept.what}); values of the original: {values}.")
