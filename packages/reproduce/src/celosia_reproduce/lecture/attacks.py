"""Attacks, carried out: against plain SQL they succeed, against the gateway they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import CelosiaError
from celosia.kernels.budget.noise import LaplaceNoise
from celosia.kernels.disclosure.background import repetitions
from celosia_reproduce.lecture.noise import EPSILON
from celosia_reproduce.statements import Statement, derived, printed

if TYPE_CHECKING:
    from celosia.gateway.gateway import Gateway
    from celosia_reproduce.lecture.people import People

TRIES = 30


def differencing(table: People, gateway: Gateway) -> dict[str, Any]:
    """Two sums that differ by one person."""
    whole, without = "SELECT SUM(age) FROM person", "SELECT SUM(age) FROM person WHERE name <> 'Alan Brito'"
    plain = int(table.sql(whole)[0][0] - table.sql(without)[0][0])
    differences = [
        gateway.ask(whole, epsilon=EPSILON, fresh=True).value()
        - gateway.ask(without, epsilon=EPSILON, fresh=True).value()
        for _ in range(TRIES)
    ]
    scale = gateway.explain(whole, epsilon=EPSILON).numbers[0]["scale"]
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
    """Return a count about one person and one sensitive value."""
    sql = "SELECT COUNT(*) FROM person WHERE name = 'Alan Brito' AND target = '<=50K'"
    answers = [gateway.ask(sql, epsilon=EPSILON, fresh=True).value() for _ in range(6)]
    try:
        misspelt = str(gateway.ask(sql.replace("K'", "k'"), epsilon=EPSILON).value())
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


def averaging(table: People, gateway: Gateway, runs: int = 60) -> dict[str, Any]:
    """Repeat the selective count until the mean reveals it or the ledger stops it; the noise is the gateway's."""
    sql = "SELECT COUNT(*) FROM person WHERE name = 'Alan Brito' AND target = '<=50K'"
    truth = int(table.sql(sql)[0][0])
    scale = gateway.explain(sql, epsilon=EPSILON).numbers[0]["scale"]
    needed = repetitions(scale)
    draws = np.array(LaplaceNoise(scale).add([truth] * (needed * runs)), dtype=float).reshape(runs, needed)
    answers = [gateway.ask(sql, epsilon=EPSILON) for _ in range(10)]
    fresh = gateway.ask(sql, epsilon=EPSILON, fresh=True)
    return {
        "name": "averaging",
        "story": "Repeat a noisy question and average: the noise goes away.",
        "repetitions needed": needed,
        "what the mean of all repetitions tells": int(np.round(draws.mean())),
        "attacks that succeed without a ledger": float(np.mean(np.round(draws.mean(axis=1)) == truth)),
        "different answers of the gateway to ten repetitions": len({answer.value() for answer in answers}),
        "cost of the nine repetitions": sum(answer.cost.loss for answer in answers[1:]),
        "cost of that many fresh answers": round(needed * fresh.cost.loss, 3),
        "why": "the same question gets the same stored answer; fresh noise is charged, and the budget ends first",
    }


def statements(averaged: dict[str, Any]) -> list[Statement]:
    """Check the statements of the lecture on repetition with the attack."""
    where, share = "Repetition", averaged["attacks that succeed without a ledger"]
    return [
        printed(where, "what many repetitions tell", 1, averaged["what the mean of all repetitions tells"]),
        derived(where, "attacks that so many answers let succeed", 0.95, share, within=0.1),
    ]
