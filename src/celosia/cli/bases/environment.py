"""Variables of the environment that libraries read by themselves and that would stop them in the middle of the work."""

from __future__ import annotations

import os
from collections.abc import Mapping

from celosia.errors import InputError

SMALLEST = {"SOURCE_DATE_EPOCH": 0, "POLARS_MAX_THREADS": 1, "NUMBA_NUM_THREADS": 1}
"""The smallest whole number that each may be."""
LENIENT = {"POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"}
"""Those that are passed over, with a warning, where they are no numbers."""


def check_environment(variables: Mapping[str, str] = os.environ) -> None:
    """Raise when a variable holds what the library that reads it cannot use.

    >>> check_environment({"POLARS_MAX_THREADS": "0"})
    Traceback (most recent call last):
    celosia.errors.InputError: the variable POLARS_MAX_THREADS must be a whole number of at least 1: change or unset it.
    """
    for name, least in SMALLEST.items():
        value = variables.get(name)
        if value is None or (name in LENIENT and not value.strip().lstrip("-+").isdigit()):
            continue
        if not value.isascii() or not value.isdigit() or int(value[:30]) < least:
            raise InputError(f"the variable {name} must be a whole number of at least {least}: change or unset it.")
