"""The public name of the mathematics of fuzzy sets, such as ``celosia.fuzzy.FuzzySet``."""

from celosia.kernels.fuzzy import *  # noqa: F403
from celosia.kernels.fuzzy import __all__ as __all__  # noqa: PLC0414
