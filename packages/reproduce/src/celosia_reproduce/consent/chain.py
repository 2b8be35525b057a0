"""Figure 1.3: a first name, a surname and an age become a card, a degree, courses, rooms and hours.

Two registers are published, each harmless alone: the electoral register (names, age, canton) and the university's roll
(full names, card, degree); the study plans and the guide of timetables are public anyway. An intruder joins them. The
registers hold the people that the figure prints, among generated ones of other names. Then the same is tried on every
generated student, with the roll as it is and with a roll in which nobody's name is shared by fewer than five.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia_reproduce.statements import Section, Statement, derived, printed

if TYPE_CHECKING:
    import polars as pl

FIRST, SURNAME, AGES = "Vladimir", "Aguilar", (17, 27)
"""What the intruder of the figure knows."""
PEOPLE = (("Corrales", "Aserrí", 23), ("Cascante", "Osa", 20), ("Portilla", "La Unión", 22))
"""Who the electoral register has under that name and age."""
CARD, DEGREE, YEAR = "B50120", "420703", 2016
COURSES = ("CI-1312", "CI-1310", "CI-1453")
NAME = ["surname", "second", "first"]
K = 5


@dataclass(frozen=True)
class Registers:
    """Public registers."""

    electoral: pl.DataFrame
    roll: pl.DataFrame
    plans: pl.DataFrame
    timetable: pl.DataFrame


def section(rng: np.random.Generator, people: int = 20_000, students: int = 4_000) -> Section:
    """Attack the person of the figure, then everybody."""
    from celosia.show.charts import bars

    registers = generated(rng, people, students)
    steps = attack(registers, FIRST, SURNAME, AGES)
    plain = candidates(registers, registers.roll)
    hidden = candidates(registers, protected(registers.roll))
    labels = ["after the electoral register", "after the roll", f"after a roll with k = {K}"]
    alone = [float((column == 1).mean()) for column in (plain[:, 0], plain[:, 1], hidden[:, 1])]
    facts = {
        "people in the electoral register": len(registers.electoral),
        "students in the roll": len(registers.roll),
        "candidates for the person of the figure, step by step": " → ".join(map(str, steps.candidates)),
        "what is found": f"{len(steps.courses)} courses, {len(steps.rooms)} rooms and hours",
    }
    story = (__doc__ or "").partition("\n\n")[2]
    figure = bars(
        "Students of whom one candidate is left, when first name, surname and age are known", labels, [("share", alone)]
    )
    return Section(
        "Figure 1.3: the chained attack", story, (figure,), facts, statements=tuple(_statements(steps, hidden))
    )


@dataclass(frozen=True)
class Steps:
    """Results of an attack: candidates after the electoral register and after the roll, card, courses, rooms."""

    candidates: tuple[int, int]
    cards: tuple[str, ...]
    courses: tuple[str, ...]
    rooms: tuple[tuple[str, ...], ...]


def attack(registers: Registers, first: str, surname: str, ages: tuple[int, int]) -> Steps:
    """Return the steps A to F of the figure."""
    import polars as pl

    recognised = (pl.col("first") == first) & (pl.col("surname") == surname) & pl.col("age").is_between(*ages)
    named = registers.electoral.filter(recognised)  # A
    enrolled = named.join(registers.roll, on=NAME)  # B, C
    # D: the card tells the year of entry (B5…: 2015), hence the year of study
    year = YEAR - 2010 - pl.col("card").str.slice(1, 1).cast(pl.Int64) + 1
    studying = enrolled.select("card", "degree", year=year)
    taken = studying.join(registers.plans, on=["degree", "year"])  # E
    seen = taken.join(registers.timetable, on="course")  # F
    rooms = seen.select("day", "hour", "building", "room").unique().sort("day", "hour")
    return Steps(
        (len(named), len(enrolled)), tuple(enrolled["card"]), tuple(taken["course"].unique(maintain_order=True)),
        tuple(tuple(map(str, row)) for row in rooms.rows()),
    )  # fmt: skip


def candidates(registers: Registers, roll: pl.DataFrame) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """For every student whose first name, surname and age (± 5) are known: candidates left after each register.

    In a protected roll a star stands for any name.
    """
    import polars as pl

    truth = registers.roll.join(registers.electoral.select(*NAME, "age"), on=NAME).with_row_index("who")
    near = (pl.col("age") - pl.col("age_right")).abs() <= 5
    named = (
        truth.select("who", "first", "surname", "age").join(registers.electoral, on=["first", "surname"]).filter(near)
    )
    after = [named.group_by("who").len()]
    total = []
    for shown in roll.select(NAME).unique().select(star=pl.struct(pl.col(NAME) == "*")).unique().to_series():
        keys = [name for name in NAME if not shown[name]]
        same = roll.filter(pl.all_horizontal((pl.col(name) == "*") == shown[name] for name in NAME))
        if keys:
            total.append(named.select("who", *keys).unique().join(same.select(keys), on=keys).select("who"))
        else:
            total.append(named.select("who").unique().join(same.select("first"), how="cross").select("who"))
    after.append(pl.concat(total).group_by("who").len())
    left = truth.select("who")
    for number, counts in enumerate(after):
        left = left.join(counts.rename({"len": f"n{number}"}), on="who", how="left")
    return left.select(pl.col("n0", "n1").fill_null(0).cast(pl.Int64)).to_numpy()


def protected(roll: pl.DataFrame) -> pl.DataFrame:
    """Return the roll with names generalised, from surname to first name, until five persons share each."""
    import celosia

    table = celosia.read(roll, celosia.Schema.of(quasi=NAME, insensitive=["degree", "card"]))
    method = {"use": "tree-generalise", "columns": NAME, "k": K}
    return celosia.protect(table, method, seed=0).polars().select(roll.columns)


def generated(rng: np.random.Generator, people: int, students: int) -> Registers:
    """Return the registers: the people of the figure, and others of other names."""
    import polars as pl

    surnames = np.array([f"surname {n}" for n in range(1, 400)] + [SURNAME])
    firsts = np.array([f"name {n}" for n in range(1, 200)] + [FIRST])
    drawn = pl.DataFrame(
        {
            "surname": _uneven(rng, surnames, people),
            "second": _uneven(rng, surnames, people),
            "first": _uneven(rng, firsts, people),
            "canton": [f"canton {c}" for c in rng.integers(1, 82, people)],
            "age": rng.integers(17, 90, people),
        }
    )
    figure = (pl.col("first") == FIRST) & (pl.col("surname") == SURNAME)
    others = drawn.filter(~figure).unique(NAME, maintain_order=True)
    printed_ones = pl.DataFrame(
        [(SURNAME, second, FIRST, canton, age) for second, canton, age in PEOPLE], schema=others.schema, orient="row"
    )
    young = others.filter(pl.col("age") <= AGES[1]).head(students)
    entry = rng.integers(2, 7, len(young))
    degrees = rng.integers(1, 120, len(young))
    roll = young.select(NAME).with_columns(
        card=pl.Series([f"B{y}{n:04d}" for n, y in enumerate(entry, 1000)]),
        degree=pl.Series([f"{100_000 + d}" for d in degrees]),
    )
    mine = pl.DataFrame([(SURNAME, PEOPLE[0][0], FIRST, CARD, DEGREE)], schema=roll.schema, orient="row")
    own = [(DEGREE, YEAR - 2010 - int(CARD[1]) + 1, course) for course in COURSES]
    plans = [
        *own,
        *((f"{100_000 + d}", y, f"C{d}-{y}{c}") for d in range(1, 120) for y in range(1, 6) for c in range(4)),
    ]
    courses = [course for _, _, course in plans]
    timetable = pl.DataFrame(
        {
            "course": courses,
            "day": rng.choice(["L", "K", "M", "J", "V"], len(courses)),
            "hour": rng.integers(7, 20, len(courses)),
            "building": rng.choice(["CI", "FM", "IF", "LE"], len(courses)),
            "room": rng.integers(100, 400, len(courses)),
        }
    )
    return Registers(
        pl.concat([others, printed_ones]),
        pl.concat([roll, mine]),
        pl.DataFrame(plans, schema=["degree", "year", "course"], orient="row"),
        timetable,
    )


def _statements(steps: Steps, hidden: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> list[Statement]:
    where = "Figure 1.3"
    return [
        printed(where, "people of that name and age in the electoral register", 3, steps.candidates[0]),
        printed(where, "of them in the roll", 1, steps.candidates[1]),
        derived(where, "card that is found", [CARD], list(steps.cards)),
        derived(where, "courses that are found", list(COURSES), list(steps.courses)),
        derived(where, "each course has a room and an hour", True, len(steps.rooms) == len(steps.courses)),
        derived(where, f"a roll with k = {K} leaves nobody with fewer candidates", True, int(hidden[:, 1].min()) >= K),
    ]


def _uneven(rng: np.random.Generator, names: np.ndarray[tuple[int], np.dtype[np.str_]], n: int) -> list[str]:
    """Names that are as uneven as names are: the i-th is drawn like 1 / i."""
    weight = 1 / np.arange(1, len(names) + 1)
    return list(rng.choice(names, n, p=weight / weight.sum()))
