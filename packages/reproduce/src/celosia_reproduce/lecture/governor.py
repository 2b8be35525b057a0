"""The governor's medical record: a file without names, joined with a register that has them.

The pictures of the lecture are lost, so the register of a town and the medical file of its officials are generated.
Both have birth date, postal code and sex; one has the names, the other the illnesses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import celosia
from celosia.methods import Drop
from celosia.risk import JoinAttack, Uniqueness
from celosia.risk.attacks.linking.join_attack import JoinEvidence
from celosia_reproduce.statements import Grid, Section, Statement, derived, printed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

SHARED = ("birth date", "postal code", "sex")
TOWN = (3000, 6000, 9000, 14_000, 20_000)
"""People of each postal code: our choice, the lecture names none."""
SIZES = (1000, 3000, 9000, 27_000)
"""People of one postal code for which uniqueness is drawn."""
OFFICIALS = 300
GOVERNOR = "the governor"
ILLNESSES = ("angina", "asthma", "diabetes", "fracture", "influenza", "migraine")
YOUNGEST, OLDEST, YEAR = 18, 90, 1997
FEW = 5
"""So many records or less are called a few here, and more than half a large part; the lecture gives no numbers."""


def register(sizes: tuple[int, ...] = TOWN, seed: int = 1997) -> Table:
    """Generate the voters: name, day of birth from 1907 to 1979 (fewer in earlier years), postal code and sex."""
    import polars as pl

    rng = np.random.default_rng(seed)
    n = sum(sizes)
    frame = pl.DataFrame(
        {
            "name": [GOVERNOR, *(f"voter {i}" for i in range(1, n))],
            "birth date": _birth(rng, n),
            "postal code": rng.permutation(np.repeat([f"{2138 + i:05d}" for i in range(len(sizes))], sizes)),
            "sex": np.where(rng.random(n) < 0.52, "F", "M"),
        }
    )
    return celosia.read(frame, celosia.Schema.of(identifiers=["name"], quasi=SHARED))


def _birth(rng: np.random.Generator, n: int) -> NDArray[np.datetime64]:
    """Days of birth; half as many people are 90 as are 18, in a straight line between."""
    ages = np.arange(YOUNGEST, OLDEST + 1)
    weight = np.linspace(1.0, 0.5, len(ages))
    age = rng.choice(ages, n, p=weight / weight.sum())
    day = (age * 365.25 + rng.integers(0, 365, n)).astype("timedelta64[D]")
    return np.asarray(np.datetime64(f"{YEAR}-12-31") - day)


def officials(voters: Table, count: int = OFFICIALS, seed: int = 1997) -> Table:
    """Return the medical file with names, as the publisher has it: the governor and others of the register."""
    import polars as pl

    rng = np.random.default_rng(seed)
    frame = voters.polars()
    chosen = np.concatenate([[0], 1 + rng.choice(len(frame) - 1, count - 1, replace=False)])
    own = frame[np.sort(chosen)].with_columns(illness=pl.Series(rng.choice(ILLNESSES, count)))
    return celosia.read(own, celosia.Schema.of(identifiers=["name"], quasi=SHARED, sensitive=["illness"]))


def released(patients: Table) -> Table:
    """Return the released file, without names."""
    return celosia.protect(patients, Drop(columns=("name",)))


def joined(voters: Table, patients: Table, columns: tuple[str, ...]) -> JoinEvidence:
    """Join register and file on some columns; whom that finds rightly and falsely."""
    named = voters.polars()
    # who shares no birth date with the file joins with nothing: left out before the slower join of the attack
    some = named.join(patients.polars().select("birth date").unique(), on="birth date", how="semi")
    return JoinAttack(external=some, on=columns, key="name").evidence(patients, released(patients))


def candidates(voters: Table, *columns: str) -> NDArray[np.int64]:
    """For each voter how many of the register share these columns."""
    import polars as pl

    return voters.polars().select(n=pl.len().over(columns)).to_series().to_numpy().astype(np.int64)


def profile(voters: Table) -> dict[str, float]:
    """Return the share of the register that is unique in each set of the shared columns."""
    rows = Uniqueness().profile(voters)
    return dict(zip(rows["columns"].to_list(), rows["unique"].to_list(), strict=True))


def governor(sizes: tuple[int, ...] = TOWN, count: int = OFFICIALS) -> Section:
    """Run the linkage on generated people, and count those unique in one, two, three columns."""
    voters = register(sizes)
    patients = officials(voters, count)
    alone = profile(voters)
    ways = (SHARED[:1], ("birth date", "sex"), SHARED)
    joins = {", ".join(columns): joined(voters, patients, columns) for columns in ways}
    his = {name: int(candidates(voters, *columns)[0]) for name, columns in zip(joins, ways, strict=True)}
    few = float(np.median(candidates(voters, "birth date")))
    story = (
        "Medical records of officials are given away without names; birth date, postal code and sex stay in. The "
        "register of voters has the same three columns and the names. Whoever joins the two has the names of the ill. "
        f"Register: {sum(sizes)} people in {len(sizes)} postal codes, {count} of them officials; all of them generated."
    )
    by_size = {size: list(profile(register((size,))).values()) for size in SIZES}
    rows = [
        (name, his[name], e["claimed"], e["right"], e["false"], 100 * e["right"] / count) for name, e in joins.items()
    ]
    head = ("joined on", "candidates for the governor", "claims", "right", "false", "% of the officials found")
    shares = [(name, name.count(",") + 1, 100 * share) for name, share in alone.items()]
    return Section(
        "Governor: a medical file and a register",
        story,
        (_figure(by_size),),
        why="each column halves or cuts the candidates, and three leave most people alone",
        statements=tuple(_statements(alone, joins[", ".join(SHARED)], his[", ".join(SHARED)], few)),
        grids=(
            Grid("the join of register and file", head, rows, digits=1),
            Grid(
                "per cent of the register who are alone, by columns", ("columns", "number", "alone"), shares, digits=1
            ),
        ),
    )


def _statements(alone: dict[str, float], join: JoinEvidence, his: int, few: float) -> list[Statement]:
    where, three = "Governor", ", ".join(SHARED)
    pairs = [share for name, share in alone.items() if name.count(",") == 1]
    why = (
        "the lecture gives the share for the whole USA and no data; it depends on how many people share a postal code "
        "(figure), which is our choice here"
    )
    ours = "the lecture gives no number for it: the bound is ours"
    return [
        printed(where, "alone with sex, postal code and birth date", 0.87, alone[three], within=0.005, why=why),
        derived(where, "birth date alone leaves a few records (median at most 5)", True, few <= FEW, why=ours),
        derived(where, "some two columns leave more than half alone", True, max(pairs) > 1 / 2, why=ours),
        derived(where, "people of the register who could be the governor", 1, his),
        derived(where, "most claims of the join on all three are right", True, join["right"] > join["false"], why=ours),
    ]


def _figure(by_size: dict[int, list[float]]) -> str:
    from celosia.show.charts import bars

    labels = [f"{size} people of one postal code" for size in by_size]
    return bars(
        "Share of people who are alone with birth date and sex", labels, [("share", [v[-1] for v in by_size.values()])]
    )
