"""``celosia doctor``: what Celosia finds on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli.bases.options import Json

if TYPE_CHECKING:
    from rich.table import Table


Compile = Annotated[
    bool, typer.Option("--compile", help="Compile the kernels now, by small jobs, and not when they are first used.")
]


def doctor(compile_now: Compile = False, json: Json = False) -> None:
    """Show versions, optional libraries, engines, memory and caches: what a bug report needs."""
    from celosia.cli.bases.show import console, print_json
    from celosia.data.surroundings import surroundings

    if compile_now:
        _compile()
    facts = surroundings()
    if json:
        print_json(facts)
        return
    printer = console()
    printer.print(_page(facts))
    for extra, libraries in facts["extras"].items():
        absent = [name for name, version in libraries.items() if version is None]
        if absent:
            printer.print(f"Not installed: {', '.join(absent)}. To add: pip install 'celosia[{extra}]'.")


def _compile() -> None:
    """Compile the kernels and print one line per job."""
    import time

    from celosia.demo.first_use import compile_kernels

    begun = time.process_time()
    for name in compile_kernels():
        typer.echo(f"{time.process_time() - begun:6.1f} s  {name}", err=True)


def _page(facts: Mapping[str, Any]) -> Table:
    from rich.table import Table

    page = Table(show_header=False, box=None)
    for name in ("celosia", "python", "system", "cores"):
        page.add_row(name, str(facts[name]))
    memory = facts["memory"]
    page.add_row("memory", f"{_gigabytes(memory['total'])}, of which free {_gigabytes(memory['free'])}")
    page.add_row("space for temporary files", _gigabytes(facts["free_temporary_space"]))
    engines = [name if there else f"{name} (not installed)" for name, there in facts["engines"].items()]
    page.add_row("engines", ", ".join(engines))
    page.add_row("plug-ins", ", ".join(facts["plug_ins"]) or "none")
    page.add_row("java", "found" if facts["java"] else "not found: the engine spark needs it")
    kernels = facts["kernels"]
    kept = "cached" if kernels["cached"] else "not cached: compiled again in each process"
    page.add_row("kernels", f"{kernels['compiled']} compiled, {kept}; each is compiled at its first use")
    for extra, libraries in {"needed": facts["libraries"], **facts["extras"]}.items():
        stated = ", ".join(f"{name} {version}" for name, version in libraries.items() if version is not None)
        page.add_row(extra, stated or "not installed")
    return page


def _gigabytes(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 2**30:.1f} GB"
