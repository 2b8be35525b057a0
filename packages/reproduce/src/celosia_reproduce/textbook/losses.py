"""Tables 11, 13, 25 and 26: what was lost, by distances and by use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.loss import AbsoluteError, RelativeError, SquaredError
from celosia_reproduce.statements import Statement, consistent, derived, printed
from celosia_reproduce.textbook.disclosure import numbers_of

if TYPE_CHECKING:
    import polars as pl

    from celosia.loss.numbers.mean_error import _MeanError

MEASURES: dict[str, type[_MeanError]] = {"MSE": SquaredError, "MAE": AbsoluteError, "MRE": RelativeError}
ON = {"Id": "data", "Cov": "covariance", "Corr": "correlation"}
ROUNDED = "the protected files are printed with two decimals, which moves the measure by up to 5 %"


def statements(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """All of them."""
    return [*divergence(tables), *iris(tables), *exercise_two(tables)]


def divergence(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 11: a printed divergence that is none, and losses that are."""
    where, files = "Table 11", numbers_of(tables["table11"], "xyz")
    x, y, z = (table.polars().to_numpy() for table in files.values())

    def mean(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
        return float(((a + b) / 2).mean())

    return [
        printed(where, "div(X, X')", 2563.01, mean(x, y), within=0.005),
        printed(where, "div(X, X'')", 2722.62, mean(x, z), within=0.005),
        derived(where, "div(X, X)", 2578.1733, mean(x, x), within=1e-4, why="not 0: it adds where it should subtract"),
        derived(where, "mean squared error of X' and X''", [9908.351333, 1463558.990667],
                [SquaredError().value(files["x"], files[k]) for k in "yz"], within=1e-5),
        derived(where, "mean absolute error of X' and X''", [41.673333, 337.28],
                [AbsoluteError().value(files["x"], files[k]) for k in "yz"], within=1e-5),
        derived(where, "mean relative error of X' and X''", [0.1945038, 0.2743333],
                [RelativeError().value(files["x"], files[k]) for k in "yz"], within=1e-6),
    ]  # fmt: skip


def iris(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 13: trees on Iris and on noisy copies of it."""
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    where, frame = "Table 13", tables["table13"]
    data = load_iris()
    width = data.data[:, [3, 1]]  # the widths of petal and sepal
    tree = DecisionTreeClassifier(min_samples_split=20, min_samples_leaf=7, max_depth=2, random_state=0)
    asked = np.array(frame.select("Petal.Width", "Sepal.Width").rows(), dtype=np.float64)
    species = [str(data.target_names[i]) for i in tree.fit(width, data.target).predict(asked)]
    columns = {name: frame[name].to_list() for name in ("M", "M'", "M''")}
    why = {2: "a petal of 2.7 is wider than any: the columns of this row seem to be exchanged"}
    disagree = [sum(a != b for a, b in zip(columns["M"], columns[m], strict=True)) / 8 for m in ("M'", "M''")]
    rng = np.random.default_rng(13)

    def flipped(p: float) -> float:
        """Mean disagreement of trees on noisy copies with the tree on the original."""
        noisy = [width + rng.normal(size=width.shape) * np.sqrt(p * width.var(axis=0)) for _ in range(60)]
        guesses = [tree.fit(copy, data.target).predict(asked) for copy in noisy]
        truth = [list(data.target_names).index(name) for name in species]
        return float(np.mean([guess != truth for guess in guesses]))

    small, full = flipped(0.01), flipped(1.0)
    return [
        *(
            printed(where, f"row {i + 1}, tree on the original", stated, computed, why=why.get(i, ""))
            for i, (stated, computed) in enumerate(zip(columns["M"], species, strict=True))
        ),
        consistent(where, "printed disagreement of M' and M'' with M", [1 / 8, 3 / 8], disagree),
        derived(where, "noise of 1 % of the variance explains M''", False, small > disagree[1] / 2,
                why=f"trees disagree on {small:.0%} of the rows at p = 0.01, on {full:.0%} at p = 1: p is a factor"),
    ]  # fmt: skip


def exercise_two(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Tables 25 and 26: six measures of two files."""
    files = numbers_of(tables["table25"], "xyz")
    compared = []
    for name, *stated in tables["table26"].rows():
        _, on, measure = name.split("_")
        loss = MEASURES[measure](on=ON[on])
        for file, number in zip("yz", stated, strict=True):
            value = loss.value(files["x"], files[file])
            rounding = 0.0101 if on == "Corr" else 0.0
            compared.append(
                printed(
                    "Table 26",
                    f"{name} of X{chr(39) * (1 if file == 'y' else 2)}",
                    float(number),
                    value,
                    within=0.0101 if on == "Id" else 0.0,
                    relative=rounding,
                    why=ROUNDED if on == "Corr" else "",
                )
            )
    values, structure = (SquaredError(on=on) for on in ("data", "correlation"))
    return [
        *compared,
        printed("Table 26", "X'' loses more in values, X' in correlations", [True, True],
                [values.value(files["x"], files["z"]) > values.value(files["x"], files["y"]),
                 structure.value(files["x"], files["y"]) > structure.value(files["x"], files["z"])]),
    ]  # fmt: skip
