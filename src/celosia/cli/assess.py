"""``celosia assess``: requirements and risks of a table."""

from __future__ import annotations

from typing import Annotated

import typer

from celosia.cli.bases.options import (
    Details,
    Engine,
    Header,
    Identifiers,
    Json,
    Memory,
    Person,
    Quasi,
    Query,
    Sensitive,
    Weight,
    end_with,
    names,
)


def assess(
    source: Annotated[
        str, typer.Argument(help="A file (- is standard input), a policy (.toml), or a database URL with --query.")
    ],
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    identifiers: Identifiers = None,
    person: Person = None,
    weight: Weight = None,
    require: Annotated[list[str] | None, typer.Option(help="A requirement, such as 'k-anonymity(k=5)'.")] = None,
    risk: Annotated[list[str] | None, typer.Option(help="A risk to measure, such as prosecutor.")] = None,
    query: Query = None,
    header: Header = None,
    engine: Engine = None,
    memory: Memory = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the GROUP BY tests for k and l, and run them.")] = False,
    details: Details = False,
    json: Json = False,
) -> None:
    """Measure requirements and risks on a table."""
    roles = {
        "quasi": names(quasi),
        "sensitive": names(sensitive),
        "identifiers": names(identifiers),
        "person": person,
        "weight": weight,
    }
    if sql:
        from celosia.cli.bases.group_by import assess_by_sql

        end_with(0 if assess_by_sql(source, roles, require or [], query=query, json=json) else 3)
        return
    from celosia.cli.bases.show import print_assessment, print_json
    from celosia.cli.bases.sources import guess_schema, open_source
    from celosia.release.assess import assess_table
    from celosia.release.policy.policy import MEASURED_RISKS
    from celosia.release.run import check_input

    table, policy = open_source(source, roles, query=query, engine=engine, memory=memory, header=header)
    guessed = not table.schema.quasi and policy is None
    if guessed:
        table = table.with_schema(guess_schema(table))
    check_input(table)
    models = require or (policy.require if policy else ())
    risks = risk or (policy.risks if policy else MEASURED_RISKS)
    assessment = assess_table(table, models, risks, guessed=guessed and bool(models))
    if json:
        print_json({**assessment.spec(), "guessed": guessed})
    else:
        print_assessment(assessment, guessed=guessed, details=details)
    end_with(0 if assessment.holds or not models else 3)
