"""Sizes of memory as text: ``2GB``, ``512 MiB``, or a number of bytes."""

from __future__ import annotations

import re

from celosia.errors import ParameterError

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
LEAST = 256 * 10**6
"""Bytes that every engine needs."""


def bytes_of(size: str | int) -> int:
    """Parse a size of memory.

    >>> bytes_of("2GB"), bytes_of("512 MiB"), bytes_of(10**9)
    (2000000000, 536870912, 1000000000)
    """
    read = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(size))
    if read is None or read[2].upper() not in UNITS:
        raise ParameterError(f"memory: a size is written as 2GB, 500MB or 1GiB, got {size!r}.")
    wanted = int(float(read[1]) * UNITS[read[2].upper()])
    if wanted < LEAST:
        raise ParameterError(f"memory: at least {LEAST // 10**6}MB are needed, got {size!r}.")
    return wanted


def format_bytes(size: int) -> str:
    """Format a number of bytes, rounded up.

    >>> format_bytes(10**9), format_bytes(6_400_000_001), format_bytes(256_000_000)
    ('1GB', '7GB', '256MB')
    """
    unit, factor = ("GB", 10**9) if size >= 10**9 else ("MB", 10**6)
    return f"{-(-size // factor)}{unit}"
