"""``celosia reproduce``: the experiments of the source documents."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from celosia.cli.options import Json


def reproduce(
    name: Annotated[str | None, typer.Argument(help="The experiment; without a name they are listed.")] = None,
    data: Annotated[Path | None, typer.Option(help="The data file, where the experiment needs one.")] = None,
    out: Annotated[Path, typer.Option(help="Directory for the results.")] = Path("reproduced"),
    json: Json = False,
) -> None:
    """Repeat an experiment of the source documents, side by side with the printed numbers."""
    if name is None:
        _list(json=json)
        return
    from celosia.cli.show import console, print_json, progress
    from celosia.errors import ParameterError
    from celosia.experiments import experiment

    function = experiment(name)
    takes = inspect.signature(function).parameters
    if "data" in takes and takes["data"].default is inspect.Parameter.empty and data is None:
        raise ParameterError(f"{name} needs its data file: give it with --data.")
    out.mkdir(parents=True, exist_ok=True)
    with progress() as tell:
        offered: dict[str, Any] = {"data": data, "out": out, "progress": tell}
        given = {key: value for key, value in offered.items() if key in takes and value is not None}
        result = function(**given)
    if json:
        print_json(result)
        return
    shown = console()
    for key, value in result.items():
        if not isinstance(value, Mapping | list):
            shown.print(f"{key}: {value}")
    shown.print(f"Written to {out}")


def _list(*, json: bool) -> None:
    """The names of the experiments with the first line that each says of itself."""
    from celosia.cli.show import console, print_json
    from celosia.experiments import experiment, experiments

    about = {
        name: (inspect.getdoc(inspect.getmodule(experiment(name))) or "").partition("\n")[0] for name in experiments()
    }
    if json:
        print_json({"experiments": about})
        return
    for name, text in about.items():
        console().print(f"{name}: {text}")
