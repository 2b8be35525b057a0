"""Random streams: one per step of a run, with independent draws per record.

A stream is a key derived from the seed, a name and the content of the table to protect; record ``i`` draws from counter
``i`` of a Philox generator with that key (Salmon et al. 2011). So a record has the same draws on every engine, in every
order and block of rows, and other ones if the data change: two releases with one seed have independent noise, so that
their difference does not disclose cells.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED_BITS = 128
LARGEST_SEED = (1 << 512) - 1
SPARSE = 8
"""Largest range of ids per id for which numpy draws the whole range; otherwise each id is drawn separately."""


def fresh_seed() -> int:
    """Return 128 random bits from the operating system."""
    return secrets.randbits(SEED_BITS)


@dataclass(frozen=True)
class Stream:
    """Source of random numbers that depends on a seed, a name and a table.

    >>> int(Stream(1).child("noise").rng().integers(100)) == int(Stream(1).child("noise").rng().integers(100))
    True
    >>> bool((Stream(1).uniform(np.array([5, 7])) == Stream(1).uniform(np.array([7, 5]))[::-1]).all())
    True
    """

    seed: int = field(repr=False)
    path: tuple[str, ...] = field(default=(), repr=False)
    content: Callable[[], bytes] | None = field(default=None, repr=False, compare=False)
    """Returns a digest of the table; called by the first draw."""

    @classmethod
    def of(cls, seed: int | None, content: Callable[[], bytes]) -> Stream:
        """Return the stream for a table; another table gets independent numbers with the same seed.

        Without a seed the stream is random.
        """
        return cls(fresh_seed()) if seed is None else cls(seed, content=content)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the digest of the table instead of the table."""
        return _restore, (self.seed, self.path, None if self.content is None else self.content())

    def child(self, *names: object) -> Stream:
        """Return the stream of a step, column or purpose within this one."""
        return replace(self, path=(*self.path, *map(str, names)))

    def with_digest(self) -> Stream:
        """Compute the digest of the table now, as a query that draws cannot start the query for the digest."""
        return self if self.content is None else replace(self, content=partial(bytes, self.content()))

    def key(self) -> bytes:
        """Derive 256 bits from the seed, the path and the content."""
        text = "\x1f".join(("celosia", *self.path)).encode()
        table = b"" if self.content is None else b"\x1e" + self.content()
        seed = self.seed.to_bytes(64, "little", signed=False)
        return hashlib.blake2b(text + table, key=seed, digest_size=32).digest()

    def rng(self) -> np.random.Generator:
        """Return a generator for choices that do not belong to single records."""
        return np.random.Generator(np.random.PCG64DXSM(int.from_bytes(self.key(), "little")))

    def words(self, records: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Four 64-bit words per record id."""
        return keyed_words(self.key(), records)

    def uniform(self, records: NDArray[np.int64], draw: int = 0) -> NDArray[np.float64]:
        """One uniform number in [0, 1) per record id; ``draw`` selects one of four independent ones."""
        return np.asarray((self.words(records)[:, draw] >> np.uint64(11)) * 2.0**-53, dtype=np.float64)

    def normal(self, records: NDArray[np.int64]) -> NDArray[np.float64]:
        """One standard normal number per record id (Box–Muller)."""
        words = self.words(records)
        u = ((words[:, 0] >> np.uint64(11)) + 0.5) * 2.0**-53
        v = (words[:, 1] >> np.uint64(11)) * 2.0**-53
        return np.asarray(np.sqrt(-2.0 * np.log(u)) * np.cos(2.0 * np.pi * v), dtype=np.float64)


def keyed_words(key: bytes, records: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Four 64-bit words per record id by the key of a stream."""
    if len(records) == 0:
        return np.empty((0, 4), dtype=np.uint64)
    halves = np.frombuffer(key[:16], dtype=np.uint64)
    first, last = int(records.min()), int(records.max())
    if last - first > SPARSE * len(records):
        return _philox(halves, records)
    block = np.random.Philox(key=halves, counter=first).random_raw(4 * (last - first + 1)).reshape(-1, 4)
    if last - first + 1 == len(records) and np.array_equal(records, np.arange(first, last + 1)):
        return block
    return np.ascontiguousarray(block[records - first])


def _restore(seed: int, path: tuple[str, ...], digest: bytes | None) -> Stream:
    return Stream(seed, path, None if digest is None else lambda: digest)


_MULTIPLIERS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_WEYL = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ROUNDS = 10


def _philox(key: NDArray[np.uint64], records: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Philox4x64-10 (Salmon et al. 2011) at single counters; numpy starts at one, so that record 0 has counter 1."""
    zero = np.zeros(len(records), dtype=np.uint64)
    a, b, c, d = records.astype(np.uint64) + np.uint64(1), zero, zero, zero
    first, second = key[0:1], key[1:2]  # arrays: their sums wrap without a warning
    for _ in range(_ROUNDS):
        (high, low), (higher, lower) = _product(_MULTIPLIERS[0], a), _product(_MULTIPLIERS[1], c)
        a, b, c, d = higher ^ b ^ first, lower, high ^ d ^ second, low
        first, second = first + _WEYL[0], second + _WEYL[1]
    return np.column_stack((a, b, c, d))


def _product(factor: np.uint64, x: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the upper and lower 64 bits of a product, by products of 32-bit halves."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    low, high = factor & mask, factor >> half
    x_low, x_high = x & mask, x >> half
    middle = x_low * high + ((x_low * low) >> half)  # below 2^64: the largest halves leave room for a carry
    other = x_high * low + (middle & mask)
    return x_high * high + (middle >> half) + (other >> half), x * factor
