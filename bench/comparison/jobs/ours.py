"""Celosia's side of every comparison: from the file to the measured numbers, or to the protected table in memory."""

from __future__ import annotations

from typing import Any

from child import main
from levels import KEYS, rows

NUMBERS = ("v", "w", "x", "y", "z")


def people(path: str, engine: str = "polars", *, hierarchies: bool = False) -> Any:
    import celosia

    levels = {name: rows(name) for name in KEYS} if hierarchies else {}
    schema = celosia.Schema.of(quasi=KEYS, sensitive=["pay"], hierarchies=levels)
    return celosia.read(path, schema, engine=engine)


def numbers(path: str) -> Any:
    import celosia

    return celosia.read(path, celosia.Schema.of(quasi=NUMBERS))


def protected(table: Any, method: str) -> Any:
    import celosia
    from celosia.parts import build

    result = celosia.protect(table, build("method", method), seed=1)
    result.polars()
    return result


def classes(path: str, engine: str = "polars") -> dict[str, Any]:
    import celosia

    table = people(path, engine)
    measured = celosia.assess(table, ["k-anonymity(k=5)", "l-diversity(l=2)", "t-closeness(t=0.2)"], risks=())
    return {finding.part.name: finding.value for finding in measured.models}


def generalise(path: str) -> Any:
    table = people(path, hierarchies=True)
    return protected(table, "generalise(require=k-anonymity(k=5), suppress=0.05)").suppressed()


def local_generalise(path: str) -> Any:
    return protected(people(path, hierarchies=True), "local-generalise(require=k-anonymity(k=5))").suppressed()


def mondrian(path: str) -> Any:
    return protected(people(path), "mondrian(require=k-anonymity(k=5))").history[-1]["classes"]


def microaggregate(path: str) -> Any:
    protected(numbers(path), f"microaggregate(columns=[{', '.join(NUMBERS)}], k=3, scale=true)")


def rank_swap(path: str) -> Any:
    protected(numbers(path), f"rank-swap(columns=[{', '.join(NUMBERS)}], window=0.05)")


def suda(path: str) -> Any:
    from celosia.risk.suda import Suda

    return int((Suda().records(people(path))["score"] > 0).sum())


def individual_risk(path: str) -> Any:
    from celosia.risk.individual_risk import IndividualRisk

    return float(IndividualRisk().records(people(path))["risk"].sum())


def linkage(path: str) -> Any:
    from celosia.risk.attacks.linking.distance_linkage import DistanceLinkage

    table = numbers(path)
    noisy = protected(table, f"noise(columns=[{', '.join(NUMBERS)}], p=0.3)")
    return DistanceLinkage().value(table, noisy)


def trees(path: str) -> Any:
    protected(people(path), "sequential-trees()")


def copula(path: str) -> Any:
    protected(people(path), "gaussian-copula()")


def private_synthesis(path: str) -> Any:
    import polars as pl

    frame = pl.read_parquet(path, columns=["sex", "race", "status", "school", "pay"])
    values = {name: frame[name].unique().sort().to_list() for name in frame.columns}
    import celosia
    from celosia.methods.synthetic.dp_synthesis import DpSynthesis

    table = celosia.read(frame, celosia.Schema.of(quasi=frame.columns))
    celosia.protect(table, DpSynthesis(epsilon=1.0, delta=1e-9, values=values), seed=1).polars()


def private_query(path: str) -> Any:
    import tempfile
    from contextlib import closing
    from pathlib import Path

    from levels import TEXTS

    from celosia.gateway.gateway import Gateway
    from celosia.gateway.ledger import Ledger
    from celosia.gateway.metadata import DatasetFacts

    columns = {
        name: {"type": "text", "categories": [f"{name} {i:02d}" for i in range(TEXTS[name])]}
        for name in ("school", "sex")
    }
    tables = {"person": {"source": path, "columns": columns}}
    facts = DatasetFacts.of({"name": "people", "epsilon": 1000.0, "tables": tables})
    sql = "SELECT school, sex, COUNT(*) AS n FROM person GROUP BY school, sex"
    with (
        tempfile.TemporaryDirectory() as place,
        closing(Gateway(facts, Ledger.create(Path(place) / "ledger.db"))) as opened,
    ):
        return [len(opened.ask(sql, epsilon=0.5, fresh=True).rows) for _ in range(100)][-1]


JOBS = {
    "classes": classes,
    "classes-duckdb": lambda path: classes(path, "duckdb"),
    "generalise": generalise,
    "local-generalise": local_generalise,
    "mondrian": mondrian,
    "microaggregate": microaggregate,
    "rank-swap": rank_swap,
    "suda": suda,
    "individual-risk": individual_risk,
    "linkage": linkage,
    "trees": trees,
    "copula": copula,
    "private-synthesis": private_synthesis,
    "private-query": private_query,
}

if __name__ == "__main__":
    main(JOBS, "celosia")
