"""Synthesis with differential privacy."""

from __future__ import annotations

import itertools
import math
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.data.schema import Schema
from celosia.errors import ParameterError
from celosia.kernels.budget.neighbours import Neighbours
from celosia.methods.bases.domain import Domain, canonical_texts, domain, with_declared_kind
from celosia.methods.bases.features import need_publishable, new_rows, publishable
from celosia.methods.private.dp_marginals import agree
from celosia.parts import Columns, Explored, Formal, Method, PersonUnit
from celosia.parts.method import Rows
from celosia.table import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from celosia.kernels.budget.cost import Cost
    from celosia.kernels.budget.noise import Noise
    from celosia.methods.synthetic.tree_model import Pair
    from celosia.streams import Stream
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MARGINS, CHOICE = (
    0.3,
    0.2,
)  # shares of the budget for one-way tables and for choosing pairs; two-way tables get the rest
MOST_CELLS = 20_000  # of a two-way table: safe noise takes its time


class DpSynthesis(Formal, Method):
    r"""Make synthetic records from noisy one-way and two-way tables, with differential privacy.

    .. math:: p(x) = p(x_r) \prod_{(a \to b) \in T} p(x_b \mid x_a), \qquad
              \varepsilon = \varepsilon_{\text{margins}} + \varepsilon_{\text{choice}} + \varepsilon_{\text{pairs}}

    The pairs form a tree T over the columns. It is chosen pair by pair with the exponential mechanism, by how far the
    two-way table is from independence less the noise it would get. With ``delta`` = 0 the noise is discrete Laplace and
    costs add up; with ``delta`` it is discrete Gaussian, accounted by zero-concentrated differential privacy. Tables
    are made to agree, without negative counts; that and the draw of the records cost nothing.

    Which values exist, and their types, must not depend on the data: they come from ``values``, from an order in the
    schema or from bounds (columns named under ``whole`` hold whole numbers, which stay as they are up to 128 values;
    others are cut into ``bins`` intervals and drawn evenly within them). Records with undeclared or missing
    values are left out of the tables of those columns (declare None as a value to keep missing ones). Dependence
    beyond the tree is lost. The noise comes from the operating system: a seed does not repeat it. Fails when a
    column has no declared values. References: Zhang et al. (2017), *PrivBayes*; McKenna, Miklau & Sheldon (2021).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"sex": ["F", "M"] * 500, "smokes": ["no", "yes"] * 500})
    >>> method = DpSynthesis(epsilon=10, values={"sex": ["F", "M"], "smokes": ["no", "yes"]})
    >>> drawn = celosia.protect(celosia.read(data), method).polars()
    >>> abs(len(drawn) - 1000) < 50, (drawn.filter(sex="F")["smokes"] == "no").mean() > 0.9
    (True, True)
    """

    epsilon: Annotated[float, Explored(0.5, 1.0, 2.0, 5.0)] = Field(
        gt=0, le=1e6, description="privacy loss of the whole synthesis"
    )
    delta: float = Field(default=0.0, ge=0, lt=1, description="chance that the promise fails; above 0 less noise")
    columns: Columns = Field(default=(), description="columns that are made; all but identifiers when empty")
    values: dict[str, tuple[Any, ...]] = Field(default_factory=dict, description="column → all values it can take")
    bins: int = Field(default=16, ge=2, description="intervals of a numeric column with declared bounds")
    whole: Columns = Field(default=(), description="columns with declared bounds that hold whole numbers")
    neighbours: Neighbours = Field(default="add-remove", description="who differs from whom by one person")
    rows_per_person: int = Field(default=1, ge=1, description="most records that one person contributes")
    size: int | None = Field(default=None, ge=1, description="number of new rows; the noisy total when not given")
    persons: ClassVar[PersonUnit] = "counted"
    rows: ClassVar[Rows] = "new"
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = (
        "its records are drawn from noisy counts of all records and stand for none of them"
    )
    examples: ClassVar = (
        {
            "columns": ["q", "s"],
            "epsilon": 1.0,
            "values": {"q": ["a", "b", "c", "d"], "s": ["flu", "cold", "hiv", "tbc"]},
        },
    )

    def privacy_loss(self) -> float:
        """Return ``epsilon``."""
        return self.epsilon

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the columns, or all that can be synthesised."""
        return self.columns or publishable(schema)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Count with noise, choose the tree, draw."""
        import polars as pl

        from celosia.methods.bases.nonnegative import nearest_nonnegative
        from celosia.methods.synthetic.tree_model import sample_tree

        names = list(self.columns) or need_publishable(self.name, table)
        if len(set(names)) != len(names):
            raise ParameterError(f"{self.name}: a column is named twice.")
        domains = [domain(self.name, table, name, self.values, self.bins, self.whole) for name in names]
        kept = self._contributions(table)
        codes = [d.codes(table.column(d.name).filter(pl.Series(kept))) for d in domains]
        spending = Spending(self._budget(), self.neighbours, self.rows_per_person)
        noisy, pairs, variances = self._measure(codes, domains, spending)
        every = [(j,) for j in range(len(domains))] + list(pairs)
        labels = tuple(tuple(str(j) for j in key) for key in every)
        agreed = agree([*noisy, *pairs.values()], labels, variances)
        total = max(float(agreed[0].sum()), 1.0)
        tidy = [nearest_nonnegative(t.ravel(), total).reshape(t.shape) for t in agreed]
        size = self.size or max(1, round(total))
        rng = stream.rng()
        drawn = sample_tree(tidy[: len(domains)], dict(zip(pairs, tidy[len(domains) :], strict=True)), size, rng)
        columns = {d.name: d.column(m, rng) for d, m in zip(domains, drawn, strict=True)}
        evidence: dict[str, object] = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": self.neighbours,
            "rows per person": self.rows_per_person,
            "budget": spending.spec(),
            "pairs": [[names[a], names[b]] for a, b in pairs],
        }
        released = new_rows(table, columns)
        own = tuple(with_declared_kind(c, columns[c.name].dtype) for c in released.schema.columns)
        return Outcome(released.with_schema(Schema(own, released.schema.rest)), evidence)

    def _budget(self) -> Cost:
        from celosia.kernels.budget.composition import zcdp_of_approximate
        from celosia.kernels.budget.cost import Cost

        if self.delta == 0:
            return Cost.pure(self.epsilon)
        return Cost.of("zcdp", zcdp_of_approximate(self.epsilon, self.delta))

    def _contributions(self, table: Table) -> NDArray[np.bool_]:
        """Mask of the records that are counted: not suppressed, and at most ``rows_per_person`` of one person."""
        kept = ~table.counts.suppressed_mask if table.schema.quasi else np.ones(len(table), np.bool_)
        person = table.schema.person
        if person is not None:
            # the choice of the rows of a person must not depend on the seed of the run, or it could be repeated
            rng = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
            who = canonical_texts(table.column(person)).rank("dense").fill_null(0).to_numpy()
            order = np.lexsort((rng.random(len(who)), ~kept, who))
            first = np.searchsorted(who[order], who[order], side="left")
            rank = np.empty(len(who), np.int64)
            rank[order] = np.arange(len(who)) - first
            kept &= rank < self.rows_per_person
        return kept

    def _measure(
        self, codes: list[Ints], domains: list[Domain], spending: Spending
    ) -> tuple[list[Floats], dict[Pair, Floats], list[float]]:
        """Measure one-way tables, choose pairs and measure their tables; also return the variances of the noise."""
        from celosia.methods.synthetic.tree_model import independence_gap, spanning_pairs, table_of

        d = len(domains)
        sizes = [cells.size for cells in domains]
        if d == 1:
            spending.last()
        share = MARGINS if d > 1 else 1.0
        noisy, variances = [], []
        for j in range(d):
            noise = spending.noise(f"table of {domains[j].name}", share / d, sizes[j])
            noisy.append(_add_noise(noise, table_of([codes[j]], [sizes[j]])))
            variances.append(noise.variance)
        candidates = [p for p in itertools.combinations(range(d), 2) if sizes[p[0]] * sizes[p[1]] <= MOST_CELLS]
        expected = spending.scale((1 - MARGINS - CHOICE) / max(d - 1, 1))
        scores = {}
        for a, b in candidates:
            gap = independence_gap(table_of([codes[a], codes[b]], [sizes[a], sizes[b]]), noisy[a], noisy[b])
            # what noise would add to the table anyway; it does not depend on the data
            scores[a, b] = gap - expected * sizes[a] * sizes[b]
        chosen = spanning_pairs(d, scores, lambda s: spending.choose("choice of a pair", CHOICE / (d - 1), s))
        pairs: dict[Pair, Floats] = {}
        for i, (a, b) in enumerate(chosen):
            if i == len(chosen) - 1:
                spending.last()
            what = f"table of {domains[a].name} × {domains[b].name}"
            noise = spending.noise(what, (1 - MARGINS - CHOICE) / (d - 1), sizes[a] * sizes[b])
            pairs[a, b] = _add_noise(noise, table_of([codes[a], codes[b]], [sizes[a], sizes[b]]))
            variances.append(noise.variance)
        return noisy, pairs, variances


@dataclass
class Spending:
    """Budget of one synthesis: the cost of each measurement, in the units of the ledger; the last one gets the rest."""

    total: Cost
    neighbours: Neighbours
    rows: int
    spent: list[tuple[str, Cost]] = field(default_factory=list)
    closing: bool = False

    def last(self) -> None:
        """Let the next measurement spend all that is left."""
        self.closing = True

    def noise(self, what: str, share: float, cells: int) -> Noise:
        """Spend a share of the budget on the noise of a table of counts."""
        from celosia.kernels.budget.neighbours import of_count
        from celosia.kernels.budget.noise import gaussian_for_zcdp, laplace_for

        cost = self._pay(what, share)
        sensitivity = of_count(self.neighbours, self.rows, cells)
        if self.total.measure == "pure":
            return laplace_for(sensitivity.l1, cost.loss)
        return gaussian_for_zcdp(sensitivity.l2, cost.loss)

    def choose(self, what: str, share: float, scores: Iterable[float]) -> int:
        """Spend a share of the budget on choosing a high score; its sensitivity is that of a table."""
        from celosia.kernels.budget import noise
        from celosia.kernels.budget.neighbours import of_count

        cost = self._pay(what, share)
        # an epsilon-private choice costs epsilon^2 / 2 in zCDP (Bun & Steinke 2016)
        epsilon = cost.loss if self.total.measure == "pure" else math.sqrt(2 * cost.loss)
        return noise.choose(list(scores), of_count(self.neighbours, self.rows, None).l1, epsilon)

    def scale(self, share: float) -> float:
        """Compute the expected absolute noise of a cell for a share of the budget."""
        loss = self.total.loss * share
        if self.total.measure == "pure":
            return self.rows / loss
        return self.rows / math.sqrt(2 * loss) * math.sqrt(2 / math.pi)

    def spec(self) -> dict[str, object]:
        """Return the cost of each measurement and their sum."""
        from celosia.kernels.budget.cost import sequential

        total = sequential(cost for _, cost in self.spent)
        return {
            "measure": self.total.measure,
            "total": total.loss,
            "parts": [{"what": what, "loss": cost.loss} for what, cost in self.spent],
        }

    def _pay(self, what: str, share: float) -> Cost:
        from celosia.kernels.budget.cost import Cost, sequential

        left = self.total.minus(sequential(c for _, c in self.spent)) if self.spent else self.total
        cost = left if self.closing else Cost.of(self.total.measure, self.total.loss * share)
        self.spent.append((what, cost))
        return cost


def _add_noise(noise: Noise, counts: Floats) -> Floats:
    return np.array(noise.add(counts.ravel().astype(np.int64).tolist()), dtype=np.float64).reshape(counts.shape)
