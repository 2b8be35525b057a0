"""Entries of the ledger and the hash chain that ties each one to all before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

Kind = Literal["open", "share", "charge", "answer", "repeat", "refusal", "failure"]
GENESIS = "0" * 64


@dataclass(frozen=True)
class Entry:
    """One line of the ledger; ``hash`` covers every other field, the hash of the entry before included."""

    dataset: str
    seq: int
    at: str
    kind: Kind
    analyst: str
    question: str
    request: str
    loss: int
    delta: int
    charge: int
    answer: str
    previous: str
    hash: str = ""

    def with_hash(self) -> Entry:
        """Return the entry with its hash."""
        return replace(self, hash=self.digest())

    def digest(self) -> str:
        r"""Compute :math:`h_i = \mathrm{SHA256}(\text{fields of } i, h_{i-1})`."""
        content = [getattr(self, field.name) for field in fields(self) if field.name != "hash"]
        return hashlib.sha256(json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


def shown_times(entries: Iterable[Entry]) -> dict[int, str]:
    """Return the times of entries for an analyst, by number: to the minute, of an answer or failure that of its charge.

    When an answer was ready depends on the data. One whose charge is not among the entries has no time.
    """
    listed = list(entries)
    minutes = {entry.seq: f"{entry.at[:16]}Z" for entry in listed}
    late = ("answer", "failure")
    times = {entry.seq: minutes.get(entry.charge if entry.kind in late else entry.seq) for entry in listed}
    return {seq: at for seq, at in times.items() if at is not None}


@dataclass(frozen=True)
class Verification:
    """Result of checking a chain; ``problem`` is empty when everything agrees."""

    dataset: str
    entries: int
    charges: int
    answers: int
    loss_units: int
    delta_units: int
    head: str
    problem: str = ""

    @property
    def holds(self) -> bool:
        """Whether the chain is whole and its sums agree with the balance."""
        return not self.problem


def walk(entries: Iterable[Entry]) -> Iterator[tuple[Entry, str]]:
    """Yield the entries of the chain with the problem of each one's link, or the empty text.

    >>> first = Entry("d", 1, "2026-01-01T00:00:00Z", "open", "", "", "", 0, 0, 0, "", GENESIS).with_hash()
    >>> [problem for _, problem in walk([first])]
    ['']
    """
    previous, seq = GENESIS, 0
    for entry in entries:
        seq += 1
        if entry.seq != seq:
            yield entry, f"entry {seq} is missing"
        elif entry.previous != previous:
            yield entry, f"entry {seq} does not follow the entry before it"
        elif entry.digest() != entry.hash:
            yield entry, f"entry {seq} was altered"
        else:
            yield entry, ""
        previous, seq = entry.hash, entry.seq


class Audit:
    """Sums of a whole chain, and their comparison with the stored balance."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.kinds: dict[str, int] = {}
        self.loss = self.delta = self.length = 0
        self.head, self.problem = GENESIS, ""
        self.declared: dict[str, str | int] = {}
        self.sums: dict[tuple[str, str], tuple[int, int]] = {}
        self.heads: set[str] = set()
        for entry, problem in walk(entries):
            self.problem = self.problem or problem
            self.kinds[entry.kind] = self.kinds.get(entry.kind, 0) + 1
            if entry.kind == "charge":
                self._add(entry)
            elif entry.kind == "open":
                self.declared = json.loads(entry.request)
            self.length, self.head = entry.seq, entry.hash
            self.heads.add(entry.hash)

    def _add(self, entry: Entry) -> None:
        self.loss, self.delta = self.loss + entry.loss, self.delta + entry.delta
        for label in ("life", entry.at[:4], entry.at[:7], entry.at[:10]):
            loss, delta = self.sums.get((entry.analyst, label), (0, 0))
            self.sums[entry.analyst, label] = (loss + entry.loss, delta + entry.delta)

    def verdict(
        self, balance: Mapping[str, Any], booked: Mapping[tuple[str, str], tuple[int, int]], anchor: str
    ) -> Verification:
        """Compare with the stored balance ``balance`` and the stored sums per analyst ``booked``."""
        problem = self.problem or self._disagreement(balance, booked)
        if not problem and anchor and anchor not in self.heads:
            problem = "the anchor is not part of this chain: entries were replaced or cut off"
        charges, answers = self.kinds.get("charge", 0), self.kinds.get("answer", 0)
        return Verification(
            balance["dataset"], self.length, charges, answers, self.loss, self.delta, self.head, problem
        )

    def _disagreement(self, balance: Mapping[str, Any], booked: Mapping[tuple[str, str], tuple[int, int]]) -> str:
        if not self.declared or any(balance[key] != value for key, value in self.declared.items()):
            return "the total was changed after the budget was opened"
        if (balance["loss_spent"], balance["delta_spent"]) != (self.loss, self.delta):
            return "the balance does not equal the sum of the charges"
        if self.loss > balance["loss_total"] or self.delta > balance["delta_total"]:
            return "more was charged than the total allows"
        if (balance["length"], balance["head"]) != (self.length, self.head):
            return "entries at the end of the chain are missing"
        if dict(booked) != self.sums:
            return "the sums per analyst do not equal the charges"
        return ""
