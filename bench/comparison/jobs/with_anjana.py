"""Full-domain generalisation to k-anonymity by anjana."""

from __future__ import annotations

from child import main
from levels import KEYS, levels


def generalise(path: str) -> int:
    import pandas as pd
    from anjana.anonymity import k_anonymity

    data = pd.read_csv(path)
    hierarchies = {}
    for name in KEYS:
        table = {value: levels(name, value) for value in data[name].unique()}
        known = [table[value] for value in data[name]]
        hierarchies[name] = {i: pd.Series([row[i] for row in known]).values for i in range(len(known[0]))}
        data[name] = hierarchies[name][0]
    return len(data) - len(k_anonymity(data, [], list(KEYS), 5, 5, hierarchies))


if __name__ == "__main__":
    main({"generalise": generalise}, "anjana")
