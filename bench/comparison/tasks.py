"""What is compared, and who takes part."""

from __future__ import annotations

from dataclasses import dataclass

PEOPLE = "people"
NUMBERS = "numbers"
OURS = "Celosia"
DECADES = (10_000, 100_000, 1_000_000, 10_000_000)


@dataclass(frozen=True)
class Contestant:
    """Who does a task: its name in the results, the environment (a peer's; none is this one), the file and the job."""

    who: str
    file: str
    job: str
    peer: str | None = None
    call: tuple[str, ...] = ()
    """How the file is called where that is not by Python."""
    floor: bool = False
    sizes: tuple[int, ...] = DECADES
    """One that needs minutes for ten thousand rows begins with fewer."""


@dataclass(frozen=True)
class Task:
    """A task that all contestants do on the same tables."""

    name: str
    title: str
    what: str
    contestants: tuple[Contestant, ...]
    table: str = PEOPLE
    limit: float | None = None
    """The largest exponent of time over rows that Celosia is held to, where one is stated."""


def ours(job: str, who: str = OURS, sizes: tuple[int, ...] = DECADES) -> Contestant:
    return Contestant(who, "ours.py", job, sizes=sizes)


def peer(name: str, job: str, sizes: tuple[int, ...] = DECADES) -> Contestant:
    return Contestant(name, f"with_{name.replace('-', '_')}.py", job, peer=name, sizes=sizes)


def bare(engine: str, who: str) -> Contestant:
    return Contestant(who, "bare.py", engine, floor=True)


SLOW = (1_000, 10_000, 100_000)
MILLION = DECADES[:3]

TASKS = (
    Task(
        "classes",
        "k-anonymity, l-diversity and t-closeness",
        "Eight quasi-identifiers and a sensitive column, from a Parquet file (peers: CSV). The floor is one "
        "group-by of the nine columns by the bare engine.",
        (
            bare("polars", "Polars group-by"),
            bare("duckdb", "DuckDB group-by"),
            bare("spark", "Spark group-by"),
            ours("classes"),
            ours("classes-duckdb", "Celosia, DuckDB"),
            peer("openmed", "classes"),
            peer("pycanon", "classes", SLOW),
        ),
        limit=1.05,
    ),
    Task(
        "generalise",
        "Full-domain generalisation",
        "k = 5, at most 5 % of the records suppressed, the same hierarchies for all. anjana takes the first "
        "transformation that it meets; Celosia finds the best one and proves it.",
        (ours("generalise"), peer("anjana", "generalise", SLOW)),
    ),
    Task(
        "mondrian",
        "Mondrian",
        "k = 5 on eight quasi-identifiers.",
        (ours("mondrian"), peer("anonypy", "mondrian", SLOW)),
        limit=1.2,
    ),
    Task(
        "trees",
        "Synthesis by trees",
        "Nine columns, each made from those before it; as many rows as were read.",
        (ours("trees", sizes=MILLION), peer("synthpop-py", "trees", SLOW), peer("python-synthpop", "trees", SLOW)),
    ),
    Task(
        "copula",
        "Synthesis by a Gaussian copula",
        "Nine columns; as many rows as were read.",
        (ours("copula", sizes=MILLION), peer("sdv", "copula", SLOW)),
    ),
    Task(
        "private-synthesis",
        "Differentially private synthesis",
        "Five columns, ε = 1, by marginals.",
        (ours("private-synthesis", sizes=MILLION), peer("smartnoise-synth", "private-synthesis", SLOW)),
    ),
    Task(
        "private-query",
        "A hundred differentially private counts",
        "People by school and sex, ε = 0.5 each: the gateway with its ledger against SmartNoise SQL.",
        (ours("private-query", sizes=MILLION), peer("smartnoise-sql", "private-query", MILLION)),
    ),
    Task(
        "microaggregate",
        "Microaggregation",
        "MDAV in scale mode, five numeric columns, groups of at least three.",
        (ours("microaggregate"),),
        table=NUMBERS,
        limit=1.15,
    ),
    Task("rank-swap", "Rank swapping", "Five numeric columns, window 5 %.", (ours("rank-swap"),), table=NUMBERS),
    Task(
        "linkage",
        "Distance-based record linkage",
        "Every record of a noisy file of five numeric columns is looked for among all of the original.",
        (ours("linkage", sizes=MILLION),),
        table=NUMBERS,
    ),
    Task("suda", "SUDA", "Special uniques of eight quasi-identifiers.", (ours("suda"),)),
    Task("individual-risk", "Individual risk", "Of every record, eight quasi-identifiers.", (ours("individual-risk"),)),
    Task(
        "local-generalise",
        "Local generalisation",
        "k = 5, no record suppressed, every class at the finest levels that it can have.",
        (ours("local-generalise", sizes=MILLION),),
    ),
)
