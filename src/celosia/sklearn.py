"""A transformer of scikit-learn, so that a model can be trained and asked on protected features.

Import it by its own name: ``from celosia.sklearn import Protector``. It needs ``pip install 'celosia[learn]'``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from celosia.data.frames import is_frame
from celosia.data.schema import Schema
from celosia.errors import DataError, MissingExtra, ParameterError
from celosia.parts import Method, build
from celosia.release.evidence.plain_data import plain
from celosia.release.plan import Plan
from celosia.table import Table, read

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import get_tags
    from sklearn.utils._set_output import _get_output_config
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra.of("the transformer of scikit-learn", "learn") from None

OBJECTS = {"method", "tables", "aside"}
"""What a table keeps of its steps that new records do not need."""


class Protector(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Protect the features of a pipeline: learn what is done from the training rows, do the same to new ones.

    ``methods`` are one or several methods in any form that :func:`celosia.protect` takes; they must keep every row.
    ``schema`` describes the columns; without one every column is a quasi-identifier, and the columns of an array are
    named ``x0``, ``x1``, and so on. With ``seed`` the same rows give the same result.

    New rows get what the training rows got, as :func:`celosia.apply` does it: the same levels, the same cuts; a row
    that has no place there shows stars; whether requirements hold for new rows is not judged. A method that looks at
    all records at once (microaggregation, swapping) is applied to the new rows by themselves. A fitted transformer
    holds what each step found, which may tell values of the training rows: keep it as you keep them.

    >>> import numpy as np
    >>> ages = np.array([[31.0], [33.0], [47.0], [49.0]])
    >>> Protector("microaggregate(k=2)", seed=1).fit_transform(ages).ravel().tolist()
    [32.0, 32.0, 48.0, 48.0]
    """

    def __init__(self, methods: Any = (), *, schema: Schema | None = None, seed: int | None = None) -> None:
        self.methods = methods
        self.schema = schema
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Protector:
        """Protect the training rows and remember what was done."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:  # noqa: ARG002
        """Protect the training rows, remember what was done, and give them."""
        table = self._table(X, reset=True)
        plan = Plan.resolve(table, self._built(), seed=self.seed)
        self.methods_ = [step.method for step in plan.steps]
        done = plan.run()
        secrets = done.secrets[len(table.secrets) :]
        self.recorded_ = [plain({k: v for k, v in secret.items() if k not in OBJECTS}) for secret in secrets]
        self.history_ = list(done.history)
        self.names_out_ = list(done.names)
        return self._given(done, X)

    def transform(self, X: Any) -> Any:
        """Do to these rows what was done to those of the training."""
        check_is_fitted(self, "recorded_")
        plan = Plan.resolve(self._table(X, reset=False), self.methods_, seed=self.seed)
        return self._given(plan.replay(self.recorded_, refit=True).table, X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """The names of the columns that are left."""
        check_is_fitted(self, "names_out_")
        return np.asarray(self.names_out_, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = get_tags(super())
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.non_deterministic = self.seed is None
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _built(self) -> list[Method]:
        several = isinstance(self.methods, Sequence) and not isinstance(self.methods, str | Mapping)
        built: list[Method] = [build("method", each) for each in (self.methods if several else [self.methods])]
        for method in built:
            if method.rows != "same":
                raise ParameterError(f"{method.name} leaves out rows or makes new ones: features must keep every row.")
        return built

    def _table(self, X: Any, *, reset: bool) -> Table:
        """The features as a table; arrays and lists of numbers are checked as scikit-learn does."""
        import polars as pl

        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            bare = read(X)
            if len(bare) == 0:
                raise DataError("Found array with 0 sample(s) while a minimum of 1 is required.")
        else:
            cells = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
            names = [f"x{i}" for i in range(cells.shape[1])]
            columns = [pl.Series(name, _typed(cells[:, i]), nan_to_null=True) for i, name in enumerate(names)]
            bare = read(pl.DataFrame(columns))
        return bare.with_schema(self.schema or Schema.of(quasi=bare.names))

    def _given(self, table: Table, X: Any) -> Any:
        """The rows in the kind that was asked for (``set_output``), or as they came."""
        wanted = _get_output_config("transform", self)["dense"]
        if is_frame(X):
            frame = table.frame
            if wanted == "polars" or (wanted == "pandas" and table.origin != "pandas"):
                return table.polars() if wanted == "polars" else table.polars().to_pandas()
            return frame
        if wanted in {"pandas", "polars"}:
            return table.polars().to_pandas() if wanted == "pandas" else table.polars()
        return table.polars().to_numpy()


def _typed(cells: Any) -> Any:
    """A column of an array of objects by the type of what is in it."""
    return cells if cells.dtype != object else np.asarray(cells.tolist())


__all__ = ["Protector"]
