"""Mondrian by anonypy."""

from __future__ import annotations

from child import main
from levels import KEYS


def mondrian(path: str) -> int:
    import anonypy
    import pandas as pd

    data = pd.read_csv(path)
    for name in data.columns:
        if name != "age":
            data[name] = data[name].astype("category")
    rows = anonypy.Preserver(data, list(KEYS), "pay").anonymize_k_anonymity(k=5)
    return len({tuple(str(row[name]) for name in KEYS) for row in rows})


if __name__ == "__main__":
    main({"mondrian": mondrian}, "anonypy")
