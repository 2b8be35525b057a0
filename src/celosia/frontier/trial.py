"""One evaluation: protect with one candidate and one seed, measure risk and loss."""

from __future__ import annotations

import hashlib
import io
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from celosia.errors import CelosiaError
from celosia.frontier.candidates import Candidate
from celosia.parts import Loss, Threat, deciding_attacks, value_against
from celosia.release.evidence.plain_data import canonical
from celosia.release.protect import protect_table
from celosia.streams import Stream
from celosia.table import Table, read

if TYPE_CHECKING:
    import polars as pl

    from celosia.data.schema import Schema


@dataclass(frozen=True)
class Task:
    """Constant input of all evaluations; a worker receives it once."""

    frame: pl.DataFrame
    schema: Schema
    risk: Threat
    loss: Loss

    def table(self) -> Table:
        """Return the table to protect."""
        return read(self.frame, self.schema)


def trial_seed(seed: int, candidate_key: str, i: int) -> int:
    """Return the seed of the i-th evaluation of a candidate, independent of the other candidates."""
    return int.from_bytes(Stream(seed).child("explore", candidate_key, i).key()[:16], "little")


def measure(risk: Threat, loss: Loss, original: Table, protected: Table) -> dict[str, Any]:
    """Return risk and loss of a protected table, and the attacks that decided the risk where there are several."""
    measured = {"risk": float(value_against(risk, original, protected)), "loss": float(loss.value(original, protected))}
    decided = deciding_attacks(risk, original, protected)
    return {**measured, "decided": decided} if decided else measured


@dataclass(frozen=True)
class Measured:
    """Cache of results by protected table and history: a deterministic method gives the same one for every seed."""

    by_digest: dict[bytes, dict[str, Any]] = field(default_factory=dict)

    def measure(self, task: Task, original: Table, protected: Table) -> dict[str, Any]:
        """Return risk and loss, computed once for each protected table and history."""
        digest = hashlib.blake2b(digest_size=16)
        buffer = io.BytesIO()
        protected.polars().rechunk().write_ipc(buffer, compression="uncompressed")
        digest.update(buffer.getbuffer())
        digest.update(protected.ids().tobytes())
        digest.update(canonical(list(protected.history)))
        digest.update(b"new" if protected.provenance.family is not original.provenance.family else b"same")
        if digest.digest() not in self.by_digest:
            self.by_digest[digest.digest()] = measure(task.risk, task.loss, original, protected)
        return self.by_digest[digest.digest()]


def evaluate(task: Task, table: Table, candidate: Candidate, seed: int, memory: Measured) -> dict[str, Any]:
    """Return risk and loss, or the reason why there are none.

    Of an internal error only the type is kept, since its message may contain cell values; a later run tries ``again``.
    """
    import polars as pl

    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            protected = protect_table(table, candidate.methods, seed=seed)
            measured = memory.measure(task, table, protected)
    except CelosiaError as error:
        return {"reason": str(error)}
    except (Exception, pl.exceptions.PanicException) as error:
        return {"reason": f"internal error ({type(error).__name__})", "again": True}
    return {**measured, "seconds": round(time.process_time() - start, 4)}
