"""The durable record of spent privacy budget: charged before noise is drawn, append-only, chained by hashes."""

from __future__ import annotations

from celosia.gateway.ledger.agreement import Damaged
from celosia.gateway.ledger.chain import Entry, Verification
from celosia.gateway.ledger.ledger import Allowance, Balance, Granted, Ledger, NoLedger, Share, Stored

__all__ = [
    "Allowance",
    "Balance",
    "Damaged",
    "Entry",
    "Granted",
    "Ledger",
    "NoLedger",
    "Share",
    "Stored",
    "Verification",
]
