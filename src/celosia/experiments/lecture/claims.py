"""What the sources print, each number computed again."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from celosia.mathematics.budget.cost import Cost, parallel, sequential
from celosia.mathematics.budget.neighbours import distance, of_count
from celosia.mathematics.budget.noise import LaplaceNoise
from celosia.mathematics.budget.scales import laplace
from celosia.mechanisms.randomised_response import RandomisedResponse

if TYPE_CHECKING:
    from celosia.experiments.lecture.people import People
    from celosia.gateway.gateway import Gateway

AGES = [42, 12, 28, 51, 23, 68, 30, 46, 55, 62]
EMPERORS = {"Caracalla": 1, "Nerva": 0, "Commodus": 1, "Trajan": 0, "Hadrian": 0, "Tiberius": 1, "Vespasian": 0}
DRAWS = (14211.230613, 14265.917434, 14265.770017, 14209.093826)
MALICIOUS = (18.475044, 15.158466, -0.688716, -2.115105, -0.203654, 13.167499)


@dataclass(frozen=True)
class Claim:
    """One printed number and what comes out."""

    what: str
    printed: Any
    found: Any
    agrees: bool
    note: str = ""

    def data(self) -> dict[str, Any]:
        """The claim as plain data."""
        return asdict(self)


def same(what: str, printed: Any, found: Any, tolerance: float = 0.0, note: str = "") -> Claim:
    """A claim that holds when both are equal, numbers within a tolerance."""
    if isinstance(printed, int | float) and isinstance(found, int | float):
        return Claim(what, printed, found, abs(found - printed) <= tolerance, note)
    return Claim(what, printed, found, printed == found, note)


def small_examples() -> list[Claim]:
    """Table 7, Table 20, the Laplace scales, composition and the coin of randomised response."""
    without = {victim: [a for a in AGES if a != victim] for victim in (42, 12)}
    means = {victim: sum(rest) / len(rest) for victim, rest in without.items()}
    names = [n for n in EMPERORS if n not in ("Tiberius", "Vespasian")]
    d1, d2, d3, d4 = names, ["Tiberius", *names], names[1:], ["Vespasian", *names]
    distances = [distance(a, b) for a, b in ((d1, d2), (d1, d3), (d1, d4), (d3, d4), (d2, d4))]
    coin = RandomisedResponse()
    return [
        same("mean of the ten ages (Table 7)", 41.7, sum(AGES) / 10, 1e-9),
        same("mean without 42", 41.67, means[42], 0.005),
        same("mean without 12", 45.0, means[12], 1e-9),
        same("age recovered from the two means", 42, round(10 * 41.7 - 9 * means[42], 9), 1e-6),
        same("age recovered from the other two", 12, round(10 * 41.7 - 9 * means[12], 9), 1e-6),
        same("distances of the emperors' data sets (Table 20)", [1, 1, 1, 2, 2], distances),
        same("counts", [2, 3, 1, 2], [sum(EMPERORS[n] for n in d) for d in (d1, d2, d3, d4)]),
        same("global sensitivity of a count", 1, of_count().l1),
        same("scale at epsilon 0.1", 10, laplace(1, 0.1), 1e-9),
        same("scale of each of four answers under a total of 0.1", 40, laplace(1, 0.1 / 4), 1e-9),
        same("four answers at a quarter of epsilon cost", 0.1, sequential([Cost.of("pure", 0.1, shares=4)] * 4).loss),
        same("variance of Laplace noise at epsilon 0.1, 0.5, 1, 3", [200, 8, 2, 0.2222], _variances()),
        Claim(
            "a noisy count of Ford 'within ±1'",
            "±1",
            round(LaplaceNoise(10.0, discrete=False).within(1), 4),
            False,
            "not a promise: 9.5 % at epsilon 0.1; 95 % needs epsilon of at least ln 20 = 2.996",
        ),
        same("32 disjoint cells cost, in epsilon", 1, parallel([Cost.pure(1)] * 32).loss),
        same("32 overlapping counts would cost", 32, sequential([Cost.pure(1)] * 32).loss),
        same("a histogram under change-one neighbours costs", 2, of_count("change-one", cells=32).l1),
        same("truthful answer is so many times as likely (Quixote)", 3, round((3 / 4) / (1 / 4), 9)),
        same("epsilon of that", 1.1, round(coin.epsilon(), 4), 0.002, "ln 3; one place prints 'ln e'"),
        same("share behind 40 % of yes", 0.3, round(coin.estimate(0.4), 9), 1e-9, "2Y - 1/2"),
    ]


def _variances() -> list[float]:
    return [round(LaplaceNoise(1 / e, discrete=False).variance, 4) for e in (0.1, 0.5, 1, 3)]


def on_adult(table: People) -> list[Claim]:
    """The exact numbers of the lecture's table, and how plausible its printed noise is."""
    (whole,), (without,) = (
        table.sql("SELECT SUM(age) FROM person")[0],
        table.sql("SELECT SUM(age) FROM person WHERE name <> 'Alan Brito'")[0],
    )
    older = table.sql("SELECT COUNT(*) FROM person WHERE age >= 40")[0][0]
    cells = table.sql("SELECT education, sex, COUNT(*) FROM person GROUP BY education, sex")
    small = table.sql("SELECT COUNT(*) FROM person WHERE name = 'Alan Brito' AND target = '<=50k'")[0][0]
    right = table.sql("SELECT COUNT(*) FROM person WHERE name = 'Alan Brito' AND target = '<=50K'")[0][0]
    noise = [draw - 14237 for draw in DRAWS]
    chance = math.exp(-min(map(abs, noise)) / 10) ** 4  # all four at least as large as the smallest
    return [
        same("sum of all ages", 1256257, int(whole)),
        same("sum without Alan Brito", 1256218, int(without)),
        same("their difference: his age", 39, int(whole - without)),
        same("people of 40 and more", 14237, older),
        same("cells of education by sex", 32, len(cells)),
        same("people in them", 32561, sum(row[2] for row in cells)),
        Claim(
            "four printed draws at epsilon 0.1",
            "Lap(10)",
            round(sum(map(abs, noise)) / 4, 2),
            False,
            f"mean absolute noise 27.84 where 10 is expected; four draws all that large have probability {chance:.1e}",
        ),
        same("mean of the six printed answers to the malicious count", 7.298922, round(sum(MALICIOUS) / 6, 6), 1e-6),
        Claim(
            "the malicious count with target = '<=50k'",
            1,
            small,
            small == 1,
            f"the data say '<=50K', with which it is {right}; case matters in most databases",
        ),
    ]


def through_the_gateway(gateway: Gateway) -> list[Claim]:
    """The same questions, explained by the gateway."""
    count = gateway.explain("SELECT COUNT(*) FROM person WHERE age >= 40", epsilon=0.1).numbers[0]
    cells = gateway.explain("SELECT education, sex, COUNT(*) FROM person GROUP BY education, sex", epsilon=1.0)
    return [
        same("sensitivity that the gateway derives for the count", 1, count["sensitivity"]),
        same("its scale at epsilon 0.1", 10, count["scale"], 1e-9),
        same("its error with 95 %", 30, count["half width"], 0.5, "the lecture gives the scale only"),
        same("cells of the histogram, empty ones included", 32, cells.cells),
        same("its scale at epsilon 1, once for all cells", 1, cells.numbers[0]["scale"], 1e-9),
    ]
