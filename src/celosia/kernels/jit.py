"""The decorator that compiles a kernel, with a cache where the machine allows one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(*, parallel: bool = False, fastmath: bool = False) -> Callable[[F], F]:
    """Compile a function to machine code without the interpreter lock.

    The compiled code is cached next to the package or in the user's cache directory. With a read-only installation and
    no writable home the kernel is compiled in each process.
    """

    def decorate(function: F) -> F:
        options = {"nogil": True, "parallel": parallel, "fastmath": fastmath, "error_model": "numpy"}
        try:
            return cast("F", numba.njit(cache=True, **options)(function))
        except RuntimeError:  # "cannot cache function …: no locator available"
            return cast("F", numba.njit(cache=False, **options)(function))

    return decorate
