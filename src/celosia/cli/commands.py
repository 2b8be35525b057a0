"""The commands. Each imports what it needs when it runs, so that ``celosia --help`` stays light."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

_state: dict[str, Any] = {"code": 0}

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Engine = Annotated[str | None, typer.Option(help="Engine that holds the rows: polars or duckdb.")]
Quasi = Annotated[str | None, typer.Option(help="Quasi-identifiers, separated by commas.")]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")]
Identifiers = Annotated[str | None, typer.Option(help="Columns that name a person, separated by commas.")]
Person = Annotated[str | None, typer.Option(help="Column of person ids, when a person owns several rows.")]
Weight = Annotated[str | None, typer.Option(help="Column of sampling weights.")]
Query = Annotated[str | None, typer.Option(help="SQL query, when the source is a database URL.")]

protect_app = typer.Typer(help="Apply one method to a file: celosia protect METHOD data.csv --out safe.csv")


def exit_code() -> int:
    """The code that the last command asked for."""
    return int(_state["code"])


def end_with(code: int) -> None:
    """Ask for an exit code."""
    _state["code"] = code


def _version(value: bool) -> None:
    if value:
        from celosia import __version__
        from celosia.cli.show import say

        say(f"celosia {__version__}")
        raise typer.Exit


def common(
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Publish personal data safely: measure, protect, show what was lost, write the evidence down."""
    from celosia.cli.show import show_warnings

    end_with(0)
    show_warnings()


def demo(
    out: Annotated[Path, typer.Option(help="Directory for the demonstration.")] = Path("demo"),
    persons: Annotated[int, typer.Option(min=100, help="Number of persons in the generated population.")] = 20_000,
    json: Json = False,
) -> None:
    """Run the main job on a generated population of patients: no argument needed."""
    from celosia.cli.show import print_release, progress
    from celosia.demo import prepare
    from celosia.release.running import run as run_policy

    policy = prepare(out, persons)
    with progress() as tell:
        release = run_policy(policy, overwrite=True, progress=tell)
    print_release(release, json=json)
    end_with(0 if release.holds else 3)


def init(
    source: Annotated[str, typer.Argument(help="The data: a file, or a database URL with --query.")],
    out: Annotated[Path, typer.Option(help="Where the policy goes.")] = Path("policy.toml"),
    query: Query = None,
    safe_harbor: Annotated[bool, typer.Option(help="Prepare the steps of the HIPAA Safe Harbor rule.")] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace a policy that is there already.")] = False,
    json: Json = False,
) -> None:
    """Write a policy with suggested roles, kinds and hierarchies, each with its reason."""
    from celosia.cli.start import write_policy

    write_policy(source, out, query=query, preset=safe_harbor, overwrite=overwrite, json=json)


def assess(
    source: Annotated[str, typer.Argument(help="A file, a policy (.toml), or a database URL with --query.")],
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    identifiers: Identifiers = None,
    person: Person = None,
    weight: Weight = None,
    require: Annotated[list[str] | None, typer.Option(help="A requirement, such as 'k-anonymity(k=5)'.")] = None,
    risk: Annotated[list[str] | None, typer.Option(help="A risk to measure, such as prosecutor.")] = None,
    query: Query = None,
    engine: Engine = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the GROUP BY tests for k and l, and run them.")] = False,
    json: Json = False,
) -> None:
    """Measure requirements and risks on a table."""
    from celosia.cli.measure import assess_source

    holds = assess_source(
        source,
        roles={
            "quasi": _names(quasi),
            "sensitive": _names(sensitive),
            "identifiers": _names(identifiers),
            "person": person,
            "weight": weight,
        },
        require=require or [],
        risks=risk or [],
        query=query,
        engine=engine,
        sql=sql,
        json=json,
    )
    end_with(0 if holds else 3)


def compare(
    original: Annotated[str, typer.Argument(help="The original file, or a policy (.toml) that describes it.")],
    protected: Annotated[str, typer.Argument(help="The protected file.")],
    key: Annotated[str | None, typer.Option(help="Column of both files that names a record.")] = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    loss: Annotated[list[str] | None, typer.Option(help="A loss to measure.")] = None,
    risk: Annotated[list[str] | None, typer.Option(help="A risk or an attack to measure.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the comparison as a page as well.")] = None,
    json: Json = False,
) -> None:
    """Show what was lost between an original and a protected file."""
    from celosia.cli.measure import compare_files

    compare_files(
        original,
        protected,
        key=key,
        roles={"quasi": _names(quasi), "sensitive": _names(sensitive)},
        losses=loss or [],
        risks=risk or [],
        html=html,
        json=json,
    )


def explain_risk(
    record: Annotated[int, typer.Argument(min=1, help="The row of the original, from 1.")],
    original: Annotated[str, typer.Argument(help="The original file, or a policy (.toml) that describes it.")],
    protected: Annotated[str, typer.Argument(help="The protected file.")],
    private: Annotated[
        Path | None, typer.Option(help="The private record of the release: pairs the rows, knows the columns.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Column of both files that names a record.")] = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    risk: Annotated[list[str] | None, typer.Option(help="A further risk or attack to look at.")] = None,
    limit: Annotated[float, typer.Option(min=0, max=1, help="A chance from which a record counts as reached.")] = 0.2,
    values: Annotated[bool, typer.Option("--values", help="Show the cells of the record, too.")] = False,
    json: Json = False,
) -> None:
    """Explain the risk of one record: which attacks reach it, through which columns, what would protect it."""
    from celosia.cli.measure import explain_record

    reached = explain_record(
        record,
        original,
        protected,
        private=private,
        key=key,
        roles={"quasi": _names(quasi), "sensitive": _names(sensitive)},
        risks=risk or [],
        limit=limit,
        values=values,
        json=json,
    )
    end_with(3 if reached else 0)


def explore(
    source: Annotated[str, typer.Argument(help="A policy (.toml) or a file.")],
    quasi: Quasi = None,
    candidate: Annotated[
        list[str] | None, typer.Option(help="A method to try, such as 'noise(columns=[age], p=0.1)'.")
    ] = None,
    risk: Annotated[str | None, typer.Option(help="The risk to measure.")] = None,
    loss: Annotated[str | None, typer.Option(help="The loss to measure.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="How often each candidate is tried; 5 if not given.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the exploration repeatable.")] = None,
    max_risk: Annotated[float | None, typer.Option(help="Largest risk that is allowed.")] = None,
    max_loss: Annotated[float | None, typer.Option(help="Largest loss that is allowed.")] = None,
    budget_seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; one per core if not given.")] = None,
    store: Annotated[Path | None, typer.Option(help="Keep results in this file; a later run only adds.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the map of risk and utility as a page.")] = None,
    json: Json = False,
) -> None:
    """Try many methods and parameters; show the balance of risk and loss, and the best under limits."""
    from celosia.cli.exploring import explore_source

    settings = {
        "risk": risk,
        "loss": loss,
        "seeds": seeds,
        "max_risk": max_risk,
        "max_loss": max_loss,
        "budget_seconds": budget_seconds,
        "workers": workers,
        "store": store,
    }
    met = explore_source(
        source,
        roles={"quasi": _names(quasi)},
        candidates=candidate or [],
        settings=settings,
        seed=seed,
        html=html,
        json=json,
    )
    end_with(0 if met else 3)


def run(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    until: Annotated[str | None, typer.Option(help="Run the steps up to this one.")] = None,
    without: Annotated[list[str] | None, typer.Option(help="Leave this step out.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a release that is there already.")] = False,
    json: Json = False,
) -> None:
    """The main job: protected file, report, certificate and private record from a policy."""
    from celosia.cli.show import print_release, progress
    from celosia.release.running import run as run_policy

    with progress() as tell:
        release = run_policy(policy, until=until, without=without or (), overwrite=overwrite, progress=tell)
    print_release(release, json=json)
    end_with(0 if release.holds else 3)


def verify(
    certificate: Annotated[Path, typer.Argument(help="The certificate, or the directory of the release.")],
    data: Annotated[
        Path | None, typer.Argument(help="The released file, when it is not beside the certificate.")
    ] = None,
    record: Annotated[Path | None, typer.Option(help="The private record: opens the commitments.")] = None,
    original: Annotated[
        str | None, typer.Option(help="The original, a file or a database URL: the run is repeated (needs the record).")
    ] = None,
    catalogue: Annotated[Path | None, typer.Option(help="Inferences, to repeat a consent request.")] = None,
    store: Annotated[str, typer.Option(help="Choices of owners, to repeat a consent request.")] = "consent.db",
    html: Annotated[Path | None, typer.Option(help="Write the result as a page as well.")] = None,
    json: Json = False,
) -> None:
    """Recompute what a certificate claims."""
    from celosia.cli.show import print_checks
    from celosia.release.verifying import verify as check

    repeat = None
    if original is not None and catalogue is not None:
        from celosia.consent.commands import repeat_request

        repeat = repeat_request(original, catalogue, store)
    checks = check(certificate, data, record=record, original=original, repeat=repeat)
    print_checks(checks, certificate, html=html, json=json)
    end_with(0 if all(c.passed is not False for c in checks) else 3)


def apply(
    record: Annotated[Path, typer.Argument(help="The private record of a release.")],
    source: Annotated[str, typer.Argument(help="New records of the same schema.")],
    out: Annotated[Path, typer.Option(help="Where the protected new records go.")],
    released: Annotated[Path | None, typer.Option(help="The earlier release: requirements are judged on both.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a file that is there already.")] = False,
    json: Json = False,
) -> None:
    """Apply the transformation of a release to new records; tell which of them violate the requirements."""
    from celosia.cli.protect import apply_file

    end_with(0 if apply_file(record, source, out, released=released, overwrite=overwrite, json=json) else 3)


def reproduce(
    name: Annotated[str | None, typer.Argument(help="The experiment; without a name they are listed.")] = None,
    data: Annotated[Path | None, typer.Option(help="The data file, where the experiment needs one.")] = None,
    out: Annotated[Path, typer.Option(help="Directory for the results.")] = Path("reproduced"),
    json: Json = False,
) -> None:
    """Repeat an experiment of the source documents, side by side with the printed numbers."""
    from celosia.cli.experiments import run_experiment

    run_experiment(name, data, out, json=json)


def parts(
    kind: Annotated[str | None, typer.Argument(help="method, model, risk, loss, mechanism or hierarchy.")] = None,
    name: Annotated[str | None, typer.Argument(help="One part: its page with parameters.")] = None,
    schema: Annotated[bool, typer.Option(help="Print the JSON schema of the part.")] = False,
    json: Json = False,
) -> None:
    """List the parts there are, or show one with its parameters."""
    from celosia.cli.show import print_parts

    print_parts(kind, name, schema=schema, json=json)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
