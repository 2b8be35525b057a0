"""k-anonymity, l-diversity and t-closeness by the risk report of OpenMed."""

from __future__ import annotations

import csv
from typing import Any

from child import main
from levels import KEYS


def classes(path: str) -> dict[str, Any]:
    from openmed.risk.kanon import kanon_report

    with open(path, newline="", encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    report = kanon_report(records, quasi_identifiers=list(KEYS), sensitive_attributes=["pay"])
    diversity = report["l_diversity"]["pay"]["min_distinct"]
    return {"k-anonymity": report["k"], "l-diversity": diversity, "t-closeness": report["t_closeness"]["pay"]}


if __name__ == "__main__":
    main({"classes": classes}, "openmed")
