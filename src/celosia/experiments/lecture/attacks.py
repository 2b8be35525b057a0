"""Attacks, carried out: against plain SQL they succeed, against the gateway they do not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import CelosiaError
from celosia.mathematics.budget.noise import LaplaceNoise

if TYPE_CHECKING:
    from celosia.experiments.lecture.people import People
    from celosia.gateway.gateway import Gateway

TRIES = 30


def differencing(table: People, gateway: Gateway) -> dict[str, Any]:
    """Two sums that differ by one person."""
    whole, without = "SELECT SUM(age) FROM person", "SELECT SUM(age) FROM person WHERE name <> 'Alan Brito'"
    plain = int(table.sql(whole)[0][0] - table.sql(without)[0][0])
    differences = [
        gateway.ask(whole, epsilon=0.1, fresh=True).value() - gateway.ask(without, epsilon=0.1, fresh=True).value()
        for _ in range(TRIES)
    ]
    scale = gateway.explain(whole, epsilon=0.1).numbers[0]["scale"]
    return {
        "name": "differencing",
        "story": "The sum of all ages minus the sum without Alan Brito is his age. Both sums are about large groups.",
        "plain SQL": plain,
        "gateway": [int(x) for x in differences[:6]],
        "spread of the gateway's difference": float(np.std(differences)),
        "expected spread": 2 * scale,  # two Laplace noises of scale b: variance 4 b^2
        "why": "an age moves the sum by at most 90, so at epsilon 0.1 each sum carries noise of scale 900",
    }


def selective(table: People, gateway: Gateway) -> dict[str, Any]:
    """A count about one person and one sensitive value."""
    sql = "SELECT COUNT(*) FROM person WHERE name = 'Alan Brito' AND target = '<=50K'"
    answers = [gateway.ask(sql, epsilon=0.1, fresh=True).value() for _ in range(6)]
    try:
        misspelt = str(gateway.ask(sql.replace("K'", "k'"), epsilon=0.1).value())
    except CelosiaError as refusal:
        misspelt = str(refusal)
    return {
        "name": "selective count",
        "story": "A count that only Alan can fulfil: 0 or 1 is his secret.",
        "plain SQL": int(table.sql(sql)[0][0]),
        "gateway": [int(x) for x in answers],
        "with '<=50k'": misspelt,
        "why": "the answer is useless, as it should be; a value that cannot occur is unanswerable, not zero",
    }


def averaging(gateway: Gateway, runs: int = 60) -> dict[str, Any]:
    """Repeat the selective count until the mean tells it."""
    b, z = 10.0, 1.959964
    needed = math.ceil(2 * (z * b / 0.5) ** 2)  # sd of the mean of n answers is b sqrt(2 / n)
    draws = np.array(LaplaceNoise(b).add([1] * (needed * runs)), dtype=float).reshape(runs, needed)
    succeeding = float(np.mean(np.round(draws.mean(axis=1)) == 1))
    sql = "SELECT COUNT(*) FROM person WHERE name = 'Alan Brito' AND target = '<=50K'"
    answers = [gateway.ask(sql, epsilon=0.1) for _ in range(10)]
    return {
        "name": "averaging",
        "story": "Repeat a noisy question and average: the noise goes away.",
        "repetitions needed": needed,
        "attacks that succeed without a ledger": succeeding,
        "different answers of the gateway to ten repetitions": len({answer.value() for answer in answers}),
        "cost of the nine repetitions": sum(answer.cost.loss for answer in answers[1:]),
        "cost of that many fresh answers": round(needed * 0.1, 3),
        "why": "the same question gets the same stored answer; fresh noise is charged, and the budget ends first",
    }
