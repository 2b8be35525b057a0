"""The query gateway: SQL queries, answers with noise, and a budget that cannot be overspent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celosia.gateway.gateway import Gateway
    from celosia.gateway.ledger import Ledger
    from celosia.gateway.metadata import DatasetFacts

__all__ = ["DatasetFacts", "Gateway", "Ledger"]

_HOMES = {"DatasetFacts": "metadata", "Gateway": "gateway", "Ledger": "ledger"}


def __getattr__(name: str) -> object:
    import importlib

    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
