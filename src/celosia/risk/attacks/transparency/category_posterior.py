"""Posterior of randomised categories, given the transition matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.parts import DisclosesValue
from celosia.risk.bases.linking_attack import _ColumnAttack, strata
from celosia.risk.bases.transparency import PublicStep, Success

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

ROUNDS, ENOUGH = 2000, 1e-12  # EM steps for the prior, and the change at which it has converged
TIE = 1e-9  # probabilities nearer than this to each other are equal


class CategoryPosterior(DisclosesValue, _ColumnAttack):
    r"""The share of original categories that an intruder who knows the transition matrix guesses rightly.

    She knows which record is the person's. From the released counts and the matrix she estimates how frequent the true
    categories are, and takes for each released one the true category of the greatest probability:

    .. math:: P(x = i \mid \tilde x = j) = \frac{\pi_i R_{ij}}{\sum_l \pi_l R_{lj}}

    It often differs from the released one: a rare released category probably comes from a frequent one. The evidence
    has, by column, the share of ``right`` guesses and the share that the posterior ``expects``.

    She reads: the matrix of ``pram`` as published; the truth probability (or epsilon) and the categories of
    ``randomised-response``. Where no matrix was published (``within``, or a file without its evidence) she takes that
    of ``diagonal`` and the released margin, stratum by stratum. The baseline guesses the likeliest category for
    everybody; the ``control`` takes the released category as it is. Columns are guessed one by one, ties are shared,
    missing values are left out; with a person column the share is over persons.

    References: Agrawal & Srikant (2000); Gouweleeuw et al. (1998).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"ill": ["no"] * 900 + ["yes"] * 100}))
    >>> protected = celosia.protect(table, "randomised-response(columns=[ill], q=0.5, categories={ill=[no, yes]})")
    >>> evidence = CategoryPosterior().evidence(table, protected)
    >>> evidence["value"] > evidence["control"]
    True
    """

    reads: ClassVar[tuple[str, ...]] = ("pram", "randomised-response")
    examples: ClassVar = (
        {"method": {"use": "pram", "columns": ["c"], "diagonal": 0.6}},
        {"method": {"use": "pram", "columns": ["c"], "diagonal": 0.7, "within": ["p"]}},
        {"method": {"use": "randomised-response", "columns": ["c"], "q": 0.6, "categories": {"c": ["a", "b"]}}},
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Guess the category of the highest posterior probability."""
        from celosia.table.pairing import positions

        rows = positions(original, protected)
        last = {name: steps[-1] for name, steps in self.changed_columns(original, protected).items()}
        hits: dict[str, list[Floats]] = {"guess": [], "blind": [], "released": []}
        right, expected = {}, {}
        for name, step in last.items():
            labels, x, y = _encode_categories(original, protected, name, step)
            group = strata(original, protected, step.parameters.get("within", ()))[1]
            guess, blind, sure = _guess_categories(step, name, labels, x[rows], y, group)
            hits["guess"].append(guess)
            hits["blind"].append(blind)
            hits["released"].append(np.where(np.isnan(guess), np.nan, x[rows] == y))
            right[name], expected[name] = (float(np.nanmean(part)) for part in (guess, sure))
        chance = {what: self._shares(original, rows, columns) for what, columns in hits.items()}
        return Success(
            chance["guess"],
            float(self._by_person(original, chance["blind"]).mean()),
            chance["released"],
            {},
            {"right": right, "expects": expected, "columns": list(last)},
        )

    def _shares(self, original: Table, rows: Ints, columns: list[Floats]) -> Floats:
        """Return the mean over the known cells of each record of the original; 0 where there is none."""
        cells = np.column_stack(columns)
        filled = ~np.isnan(cells)
        shares = np.zeros(len(original))
        shares[rows] = np.where(filled, cells, 0.0).sum(axis=1) / np.maximum(filled.sum(axis=1), 1)
        return shares


def _encode_categories(original: Table, protected: Table, name: str, step: PublicStep) -> tuple[list[str], Ints, Ints]:
    """Return all categories, and the columns of both tables as codes of them; -1 is missing."""
    encoded = [table.codes(name) for table in (original, protected)]
    declared = step.parameters.get("categories", {}).get(name, ())
    published = [label for entry in step.evidence.get("matrices", {}).get(name, ()) for label in entry["categories"]]
    texts = [[str(value) for value in values] for _, values in encoded]
    labels = list(dict.fromkeys([*published, *declared, *texts[1], *texts[0]]))
    place = {label: i for i, label in enumerate(labels)}
    x, y = (
        np.array([*(place[text] for text in text_of), -1], dtype=np.int64)[codes]
        for text_of, (codes, _) in zip(texts, encoded, strict=True)
    )
    return labels, x, y


def _guess_categories(
    step: PublicStep, name: str, labels: Sequence[str], truth: Ints, y: Ints, group: Ints
) -> tuple[Floats, Floats, Floats]:
    """Return for each record the chance of a right guess with its released category, without it, and the posterior.

    All are NaN where the true or the released category is missing.
    """
    guess, blind, sure = (np.full(len(y), np.nan) for _ in range(3))
    for stratum in np.unique(group):
        here = (group == stratum) & (y >= 0)
        counts = np.bincount(y[here], minlength=len(labels)).astype(np.float64)
        rows = np.flatnonzero(here & (truth >= 0))
        if len(rows) == 0:
            continue
        matrix = _matrix(step, name, labels, counts)
        shares = prior(counts, matrix)
        after = posterior(shares, matrix)
        guess[rows] = _likeliest(after.T)[y[rows], truth[rows]]
        blind[rows] = _likeliest(shares[None, :])[0, truth[rows]]
        sure[rows] = after.max(axis=0)[y[rows]]
    return guess, blind, sure


def _matrix(step: PublicStep, name: str, labels: Sequence[str], counts: Floats) -> Floats:
    """Return the transition matrix over all labels; a category that is not in it stays as it is."""
    from celosia.kernels.perturbation.response import response_matrix, truth
    from celosia.kernels.perturbation.transition import toward_margin

    size = len(labels)
    if step.method == "randomised-response":
        many = int(step.evidence.get("columns", {}).get(name, {}).get("categories", size))
        q = step.parameters["q"]
        answers = int(step.parameters.get("rows_per_person", 1))
        honesty = truth(float(step.parameters["epsilon"]) / answers, many) if q is None else float(q)
        return response_matrix(honesty, size)
    whole = np.eye(size)
    published = step.evidence.get("matrices", {}).get(name)
    if published:
        place = [labels.index(label) for label in published[0]["categories"]]
        whole[np.ix_(place, place)] = np.asarray(published[0]["matrix"], dtype=np.float64)
        return whole
    place = np.flatnonzero(counts).tolist()
    here = counts[place]
    diagonal = max(float(step.parameters["diagonal"]), float(here.min() / here.sum()))
    whole[np.ix_(place, place)] = toward_margin(here, diagonal)
    return whole


def _likeliest(chances: Floats) -> Floats:
    """Return for each row equal shares of the categories of the greatest probability."""
    best = chances >= chances.max(axis=1, keepdims=True) - TIE
    return np.asarray(best / best.sum(axis=1, keepdims=True), dtype=np.float64)


def prior(counts: Floats, matrix: Floats) -> Floats:
    r"""Return the maximum-likelihood shares of the true categories, given the counts of the randomised ones.

    .. math:: \pi_i \leftarrow \sum_j \frac{t_j}{n}\, \frac{\pi_i R_{ij}}{\sum_l \pi_l R_{lj}}

    Steps of expectation and maximisation from equal shares: unlike the unbiased estimate it is never negative, and it
    exists for a singular matrix. References: Agrawal & Srikant (2000).

    >>> prior(np.array([70.0, 30.0]), np.array([[0.9, 0.1], [0.3, 0.7]])).round(4).tolist()
    [0.6667, 0.3333]
    """
    share = counts / counts.sum()
    shares = np.full(len(matrix), 1 / len(matrix))
    for _ in range(ROUNDS):
        reached = shares @ matrix
        weight = np.divide(share, reached, out=np.zeros_like(share), where=reached > 0)
        after = shares * (matrix @ weight)
        after = after / after.sum()
        if np.abs(after - shares).max() < ENOUGH:
            return np.asarray(after, dtype=np.float64)
        shares = after
    return shares


def posterior(shares: Floats, matrix: Floats) -> Floats:
    r"""Return the probability of each true category (rows) given each randomised one (columns).

    .. math:: P(x = i \mid \tilde x = j) = \frac{\pi_i R_{ij}}{\sum_l \pi_l R_{lj}}

    The column of a randomised category of probability 0 is the prior.

    >>> posterior(np.array([0.5, 0.5]), np.array([[0.75, 0.25], [0.25, 0.75]])).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    joint = shares[:, None] * matrix
    reached = joint.sum(axis=0)
    return np.asarray(np.where(reached > 0, joint / np.where(reached > 0, reached, 1.0), shares[:, None]))
