"""k-anonymity, distinct l-diversity and t-closeness by pycanon."""

from __future__ import annotations

from child import main
from levels import KEYS


def classes(path: str) -> dict[str, float]:
    import pandas as pd
    from pycanon import anonymity

    data = pd.read_csv(path)
    keys, pay = list(KEYS), ["pay"]
    return {
        "k-anonymity": anonymity.k_anonymity(data, keys),
        "l-diversity": anonymity.l_diversity(data, keys, pay),
        "t-closeness": anonymity.t_closeness(data, keys, pay),
    }


if __name__ == "__main__":
    main({"classes": classes}, "pycanon")
