"""Differentially private counts by SmartNoise SQL."""

from __future__ import annotations

from child import main


def private_query(path: str) -> int:
    import pandas as pd
    from snsql import Privacy, from_connection

    frame = pd.read_csv(path, usecols=["school", "sex"])
    columns = {name: {"type": "string"} for name in frame.columns}
    table = {"row_privacy": True, "censor_dims": False, "clamp_counts": False, "rows": len(frame), **columns}
    privacy = Privacy(epsilon=0.5, delta=1e-9)
    reader = from_connection(frame, privacy=privacy, metadata={"": {"": {"person": table}}})
    sql = "SELECT school, sex, COUNT(*) AS n FROM person GROUP BY school, sex"
    return [len(reader.execute(sql)) - 1 for _ in range(100)][-1]


if __name__ == "__main__":
    main({"private-query": private_query}, "smartnoise-sql")
