"""The verb explore: measure candidates, keep the best, build the frontier."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from celosia.data.schema import Schema
from celosia.errors import ParameterError, explain_failures
from celosia.frontier.candidates import Candidate, candidates_of, is_generalisable
from celosia.frontier.points import Estimate, Frontier, Point, pareto_layers
from celosia.frontier.store import Store, fingerprint, key
from celosia.frontier.trial import Measured, Task, evaluate, measure, trial_seed
from celosia.frontier.workers import Job, results
from celosia.parts import Loss, Threat, build
from celosia.parts.progress import Progress
from celosia.release.plan import check_columns
from celosia.release.policy.sections import refuse_seed
from celosia.show.notebook import progress_bar
from celosia.streams import fresh_seed
from celosia.table import Table, read

ALONE = 2.0  # seconds of work in this process before others are started: starting one takes about as long

MOST_SEEDS, MOST_WORKERS = 10_000, 1_024


@explain_failures()
def explore(
    table: object,
    candidates: Sequence[Any] | None = None,
    *,
    schema: Schema | None = None,
    risk: Threat | str | Mapping[str, Any] | None = None,
    loss: Loss | str | Mapping[str, Any] | None = None,
    seeds: int = 5,
    seed: int | None = None,
    max_risk: float | None = None,
    max_loss: float | None = None,
    budget_seconds: float | None = None,
    workers: int | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
) -> Frontier:
    """Try many methods and parameters, measure the risk and the loss of each, and find the best balance.

    ``table`` is a table, or a frame or file that ``schema`` describes.
    Candidates are methods, pipelines (lists of methods) or mappings that ``vary`` parameters; without any the
    catalogue proposes some for the kinds of the columns. Each is evaluated with several seeds. ``max_risk`` and
    ``max_loss`` are the limits that :meth:`Frontier.best` keeps. With ``store`` (a path) results are kept and a later
    run only adds what is missing. With ``budget_seconds`` every candidate is tried once, then the better half with
    more seeds, and so on, until the time is over. Same seed, same points, with any number of workers.

    >>> import numpy as np, polars as pl, celosia
    >>> x = np.random.default_rng(1).normal(size=(50, 2))
    >>> table = celosia.read(pl.DataFrame(x, schema=["a", "b"]))
    >>> tried = [{"use": "noise", "vary": {"p": [0.1, 1.0]}}, "rank-swap(columns=[a, b], window=0.2)"]
    >>> frontier = explore(table, tried, seeds=2, seed=1)
    >>> len(frontier.points), frontier.best(max_risk=1.0) in frontier.frontier
    (3, True)
    """
    refuse_seed(seed)
    for name, given, most in (("seeds", seeds, MOST_SEEDS), ("workers", workers, MOST_WORKERS)):
        if given is not None and not 1 <= given <= most:
            raise ParameterError(f"explore: {name} must be at least 1 and at most {most}, got {given}.")
    table = read(table, schema)
    tried = candidates_of(table, candidates)
    chosen_risk, chosen_loss = measures(table, risk, loss)
    check_columns(table, [chosen_risk, chosen_loss, *(c.methods[0] for c in tried)])
    kept = Store(None if store is None else Path(store))
    first = seed if seed is not None else (kept.seed if kept.seed is not None else fresh_seed())
    kept.begin(first)
    task = Task(table.polars(), table.schema, chosen_risk, chosen_loss)
    with progress_bar(progress) as listener:
        search = _Search(task, tried, kept, fingerprint(table), first, workers, listener, budget_seconds)
        search.run(seeds)
    own = task.table()
    points, failed = search.collect(seeds)
    unchanged = measure(chosen_risk, chosen_loss, own, own)
    return Frontier(
        points,
        (unchanged["risk"], unchanged["loss"]),
        chosen_risk,
        chosen_loss,
        failed,
        max_risk,
        max_loss,
        search.evaluated,
        search.recalled,
    )


def measures(
    table: Table, risk: Threat | str | Mapping[str, Any] | None, loss: Loss | str | Mapping[str, Any] | None
) -> tuple[Threat, Loss]:
    """Return the given measures, or those that suit the quasi-identifiers (all columns where none is declared).

    Numbers: disclosure risk and probabilistic loss. Columns with hierarchies: the mean re-identification risk and the
    entropy that is lost. Others: disclosure risk, by Gower distance, and the same entropy.
    """
    schema = table.schema
    special = {*schema.identifiers, schema.weight, schema.household, schema.person, schema.stratum}
    names = list(schema.quasi) or [name for name in table.names if name not in special]
    numbers = all(str(schema[name].kind) == "numeric" for name in names)
    if is_generalisable(table):
        # Entropy sees generalised and blanked cells alike.
        default: tuple[Any, Any] = "marketer", {"use": "entropy-loss", "columns": names}
    elif numbers:
        default = {"use": "disclosure-risk", "columns": names}, {"use": "probabilistic-loss", "columns": names}
    else:
        default = {"use": "disclosure-risk", "columns": names}, {"use": "entropy-loss", "columns": names}
    built_risk: Threat = build("risk or attack", default[0] if risk is None else risk)
    built_loss: Loss = build("loss", default[1] if loss is None else loss)
    return built_risk, built_loss


@dataclass
class _Search:
    """State of an exploration: stored results and the time budget."""

    task: Task
    tried: list[Candidate]
    store: Store
    table: bytes
    seed: int
    workers: int | None
    progress: Progress | None
    budget: float | None
    started: float = field(init=False)
    evaluated: int = 0
    recalled: int = 0
    _own: Table | None = None
    _measured: Measured = field(default_factory=Measured)

    def __post_init__(self) -> None:
        self.started = time.monotonic()

    def run(self, seeds: int) -> None:
        """Evaluate all candidates with all seeds, or by successive halving under a time budget."""
        if self.budget is None:
            self._evaluate(self.tried, range(seeds))
            return
        alive, done = _alternate_families(self.tried), 0
        while alive and done < seeds and not self._is_out_of_time():
            rung = min(seeds, max(1, 2 * done))
            self._evaluate(alive, range(done, rung))
            done = rung
            alive = self._better_half(alive)

    def collect(self, seeds: int) -> tuple[tuple[Point, ...], dict[str, str]]:
        """Return the points, and the candidates that could not be measured."""
        points, failed = [], {}
        for candidate in self.tried:
            outcomes = [r for i in range(seeds) if (r := self._result(candidate, i)) is not None]
            reasons = [r["reason"] for r in outcomes if "reason" in r]
            values = [(r["risk"], r["loss"]) for r in outcomes if "risk" in r]
            if values:
                risks, losses = zip(*values, strict=True)
                deciding = Counter(" and ".join(r.get("decided", ())) for r in outcomes if "risk" in r)
                decided = deciding.most_common(1)[0][0]
                points.append(Point(candidate, Estimate.of(risks), Estimate.of(losses), len(values), decided))
            else:
                failed[candidate.label] = reasons[0] if reasons else "the time budget was spent before it was tried"
        return tuple(points), failed

    def _key(self, candidate: Candidate, i: int) -> tuple[str, int]:
        seed = trial_seed(self.seed, candidate.text, i)
        return key(self.table, candidate, seed, (self.task.risk, self.task.loss)), seed

    def _result(self, candidate: Candidate, i: int) -> Mapping[str, Any] | None:
        return self.store.results.get(self._key(candidate, i)[0])

    def _evaluate(self, chosen: Sequence[Candidate], seeds: range) -> None:
        """Evaluate what is not in the store: every candidate with the first seed, then the second, and so on."""
        jobs: list[Job] = []
        keys: list[tuple[str, str]] = []
        for i in seeds:
            for candidate in chosen:
                name, seed = self._key(candidate, i)
                if name in self.store.results:
                    self.recalled += 1
                    continue
                jobs.append((len(keys), candidate, seed))
                keys.append((name, candidate.label))
        for finished, (number, result) in enumerate(self._results(jobs)):
            self.store.add(keys[number][0], result, keys[number][1])
            self.evaluated += 1
            if self.progress:
                self.progress(keys[number][1].split("(")[0], self._share(finished + 1, len(jobs)))

    def _results(self, jobs: list[Job]) -> Iterator[tuple[int, Any]]:
        """Yield results in any order, first from this process, then from workers when much is left."""
        cores = self.workers or len(os.sched_getaffinity(0))
        begin = time.monotonic()
        left = list(jobs)
        while left and not self._is_out_of_time():
            spent = time.monotonic() - begin
            given = self.workers is not None and self.workers > 1
            if cores > 1 and len(left) > 1 and (given or spent > ALONE):
                yield from results(self.task, left, cores, self._is_out_of_time)
                return
            number, candidate, seed = left.pop(0)
            yield number, evaluate(self.task, self._table(), candidate, seed, self._measured)

    def _better_half(self, alive: Sequence[Candidate]) -> list[Candidate]:
        """Return the half in the outer layers; inside a layer those with the smaller sum of ranks in risk and loss."""
        measured: list[Candidate] = []
        means: list[tuple[float, float]] = []
        for candidate in alive:
            i, measurements = 0, []
            while (result := self._result(candidate, i)) is not None:
                if "risk" in result:
                    measurements.append((result["risk"], result["loss"]))
                i += 1
            if measurements:
                risk, loss = np.mean(measurements, axis=0)
                measured.append(candidate)
                means.append((float(risk), float(loss)))
        if not measured:
            return []
        places = np.argsort(np.argsort(np.array(means), axis=0, kind="stable"), axis=0, kind="stable").sum(axis=1)
        order = np.lexsort((places, pareto_layers(means)))
        kept = {measured[i].text for i in order[: max(1, (len(measured) + 1) // 2)]}
        return [candidate for candidate in measured if candidate.text in kept]

    def _table(self) -> Table:
        if self._own is None:
            self._own = self.task.table()
        return self._own

    def _is_out_of_time(self) -> bool:
        return self.budget is not None and time.monotonic() - self.started >= self.budget

    def _share(self, done: int, of: int) -> float:
        if self.budget is not None:
            return min(1.0, (time.monotonic() - self.started) / self.budget)
        return done / max(1, of)


def _alternate_families(tried: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates one per family in turn, so that a short budget tries every method."""
    families: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in tried:
        families[candidate.family].append(candidate)
    longest = max((len(members) for members in families.values()), default=0)
    return [members[i] for i in range(longest) for members in families.values() if i < len(members)]
