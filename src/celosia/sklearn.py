"""A scikit-learn transformer that protects features, for training and prediction on protected data.

Import it by its own name: ``from celosia.sklearn import Protector``. It needs ``pip install 'celosia[learn]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.data.frames import is_frame
from celosia.data.schema import Schema
from celosia.errors import DataError, MissingExtra, ParameterError
from celosia.parts import Method, build
from celosia.release.evidence.plain_data import plain
from celosia.release.plan import Plan
from celosia.table import Table, read

if TYPE_CHECKING:
    from sklearn.utils import Tags

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import get_tags
    from sklearn.utils._set_output import _get_output_config
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra.of("the transformer of scikit-learn", "learn") from None

OBJECTS = {"method", "tables", "aside"}
"""Private evidence of a step that replaying it does not need."""
Frame = Any
"""A frame that :func:`celosia.read` accepts, a numpy array, or a list of rows."""


class Protector(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Protect the features of a pipeline: fit the transformation on training rows, replay it on new ones.

    ``methods`` are one or several methods in any form that :func:`celosia.protect` takes; they must keep every row.
    ``schema`` describes the columns; without one every column is a quasi-identifier, and the columns of an array are
    named ``x0``, ``x1``, and so on. With ``seed`` the same rows give the same result.

    New rows are transformed as by :func:`celosia.apply`, with the same levels and cuts; a row without a matching class
    is suppressed (``*``); requirements are not checked for new rows. A method that uses all records at once
    (microaggregation, swapping) is applied to the new rows alone. A fitted transformer stores the recorded parameters
    of each step, which may disclose values of the training rows: keep it as confidential as the data.

    >>> import numpy as np
    >>> ages = np.array([[31.0], [33.0], [47.0], [49.0]])
    >>> Protector("microaggregate(k=2)", seed=1).fit_transform(ages).ravel().tolist()
    [32.0, 32.0, 48.0, 48.0]
    """

    def __init__(self, methods: object = (), *, schema: Schema | None = None, seed: int | None = None) -> None:
        self.methods = methods
        self.schema = schema
        self.seed = seed

    def fit(self, X: Frame, y: object = None) -> Protector:
        """Protect the training rows and record the transformation."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Frame, y: object = None, **_: object) -> Frame:  # noqa: ARG002
        """Protect the training rows, record the transformation, and return the protected rows."""
        table = self._table(X, reset=True)
        plan = Plan.resolve(table, self._build_methods(), seed=self.seed)
        self.methods_ = [step.method for step in plan.steps]
        done = plan.run()
        secrets = done.private_history[len(table.private_history) :]
        self.recorded_ = [plain({k: v for k, v in secret.items() if k not in OBJECTS}) for secret in secrets]
        self.history_ = list(done.history)
        self.names_out_ = list(done.names)
        return self._as_output(done, X)

    def transform(self, X: Frame) -> Frame:
        """Replay the recorded transformation on new rows."""
        check_is_fitted(self, "recorded_")
        plan = Plan.resolve(self._table(X, reset=False), self.methods_, seed=self.seed)
        return self._as_output(plan.replay(self.recorded_, refit=True).table, X)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the output columns."""
        check_is_fitted(self, "names_out_")
        return np.asarray(self.names_out_, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = get_tags(super())
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.non_deterministic = self.seed is None
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _build_methods(self) -> list[Method]:
        several = self.methods if isinstance(self.methods, Sequence) and not isinstance(self.methods, str) else None
        built: list[Method] = [build("method", each) for each in ([self.methods] if several is None else several)]
        for method in built:
            if method.rows != "same":
                raise ParameterError(f"{method.name} removes or creates rows: the transformer must keep every row.")
        return built

    def _table(self, X: Frame, *, reset: bool) -> Table:
        """Return the features as a table; arrays and lists are validated by scikit-learn."""
        import polars as pl

        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            bare = read(X)
            if len(bare) == 0:
                raise DataError("Found array with 0 sample(s) while a minimum of 1 is required.")
        else:
            cells = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
            names = [f"x{i}" for i in range(cells.shape[1])]
            columns = [pl.Series(name, _infer_type(cells[:, i]), nan_to_null=True) for i, name in enumerate(names)]
            bare = read(pl.DataFrame(columns))
        return bare.with_schema(self.schema or Schema.of(quasi=bare.names))

    def _as_output(self, table: Table, X: Frame) -> Frame:
        """Return the rows in the format of ``set_output``, or of the input."""
        wanted = _get_output_config("transform", self)["dense"]
        if is_frame(X):
            frame = table.frame
            if wanted == "polars" or (wanted == "pandas" and table.origin.library != "pandas"):
                return table.polars() if wanted == "polars" else table.polars().to_pandas()
            return frame
        if wanted in {"pandas", "polars"}:
            return table.polars().to_pandas() if wanted == "pandas" else table.polars()
        return table.polars().to_numpy()


def _infer_type(cells: NDArray[Any]) -> NDArray[Any]:
    """Convert an array of objects to the type of its values."""
    return cells if cells.dtype != object else np.asarray(cells.tolist())


__all__ = ["Protector"]
