"""``celosia reproduce``: the experiments of the source documents."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli.bases.options import Json, names

if TYPE_CHECKING:
    from celosia_reproduce import Experiment


def reproduce(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="The experiment; without a name they are listed.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="The data file, where the experiment needs one; with --all their directory.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Directory for the results and their index.")] = Path("reproduced"),
    everything: Annotated[bool, typer.Option("--all", help="Run all experiments whose data are there.")] = False,
    json: Json = False,
) -> None:
    """Repeat an experiment of the source documents, side by side with the printed numbers.

    Each experiment has settings of its own, such as --k 3; the list tells them.
    """
    from celosia.errors import ParameterError
    from celosia_reproduce import declared, experiments

    if everything:
        if context.args or name is not None:
            raise ParameterError("reproduce --all runs every experiment as it is: leave out names and settings.")
        for each in map(declared, experiments()):
            file = (data or Path()) / each.data
            if each.data and not file.is_file():
                _said(f"{each.name}: left out, there is no {each.data} in {data or 'this directory'}.")
            else:
                _run(each, file if each.data else None, out, {}, json=json)
    elif name is None:
        _list(json=json)
    else:
        chosen = declared(name)
        _run(chosen, data, out, _settings(chosen, context.args), json=json)


def _run(chosen: Experiment, data: Path | None, out: Path, settings: dict[str, Any], *, json: bool) -> None:
    from celosia.cli.bases.show import print_json, progress
    from celosia.errors import ParameterError
    from celosia_reproduce.index import run

    takes = inspect.signature(chosen.reproduce).parameters
    if "data" in takes and takes["data"].default is inspect.Parameter.empty and data is None:
        raise ParameterError(f"{chosen.name} needs its data file: give it with --data.")
    out.mkdir(parents=True, exist_ok=True)
    if "data" in takes and data is not None:
        settings = {"data": data, **settings}
    with progress() as report_progress:
        result = run(chosen.name, out, progress=report_progress, **settings)
    if json:
        print_json(result)
        return
    for key, value in result.items():
        if not isinstance(value, Mapping | list):
            _said(f"{key}: {value}")
        elif key == "conclusions":
            for row in value:
                _said(f"  {'holds' if row['holds'] else 'does not hold'}: {row['conclusion']} ({row['here']})")
    _said(f"Written to {out}")


def _said(text: str) -> None:
    from celosia.cli.bases.show import console

    console().print(text)


def _whole(text: str) -> list[int]:
    """Parse whole numbers and ranges: ``2,5,8-10``."""
    ends = [part.split("-") if part.count("-") == 1 and part[0] != "-" else [part] for part in names(text)]
    return [number for end in ends for number in range(int(end[0]), int(end[-1]) + 1)]


def _decimal(text: str) -> list[float]:
    return [float(part) for part in names(text)]


KINDS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "Sequence[int]": _whole,
    "Sequence[float]": _decimal,
    "Sequence[str]": names,
}
"""Parser of a setting by its annotation; parameters of other types are not settings."""


def _kinds(chosen: Experiment) -> dict[str, Callable[[str], Any]]:
    """Return the settings of an experiment: the parameters that can be parsed from text."""
    kinds = {
        name: str(parameter.annotation).removesuffix(" | None")
        for name, parameter in inspect.signature(chosen.reproduce).parameters.items()
    }
    return {name: KINDS[kind] for name, kind in kinds.items() if kind in KINDS}


def _settings(chosen: Experiment, words: list[str]) -> dict[str, Any]:
    """Parse the settings after the name: ``--k 3 --columns a,b``."""
    from celosia.errors import ParameterError, UnknownName

    kinds, given = _kinds(chosen), {}
    pieces = [piece for word in words for piece in (word.split("=", 1) if word.startswith("--") else [word])]
    if len(pieces) % 2:
        raise ParameterError(f"{pieces[-1]}: a setting is given as --name value.")
    for option, text in zip(pieces[::2], pieces[1::2], strict=True):
        setting = option.removeprefix("--").replace("-", "_")
        if not option.startswith("--") or setting not in kinds:
            raise UnknownName.of(f"setting of {chosen.name}", option, [f"--{name}" for name in kinds])
        try:
            given[setting] = kinds[setting](text)
        except ValueError:
            raise ParameterError(f"{option} of {chosen.name} takes numbers, got {text!r}.") from None
    return given


def _list(*, json: bool) -> None:
    """List the experiments with their summaries and settings."""
    from celosia.cli.bases.show import print_json
    from celosia_reproduce import declared, experiments

    listed = [declared(name) for name in experiments()]
    if json:
        print_json({"experiments": {each.name: each.about for each in listed}})
        return
    for each in listed:
        _said(f"{each.name}: {each.about}")
        settings = " ".join(f"--{name}" for name in _kinds(each))
        if settings:
            _said(f"  settings: {settings}")
