"""The floor: one group-by of the nine columns by the bare engine, from which every class measure could be computed."""

from __future__ import annotations

from child import main

KEYS = ("sex", "age", "race", "status", "school", "country", "sector", "job", "pay")


def with_polars(path: str) -> int:
    import polars as pl

    return len(pl.scan_parquet(path).group_by(KEYS).len().collect(engine="streaming"))


def with_duckdb(path: str) -> int:
    import duckdb

    keys = ", ".join(f'"{key}"' for key in KEYS)
    return len(duckdb.read_parquet(path).aggregate(f"{keys}, count(*) AS n").pl())


def with_spark(path: str) -> int:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "8"}
    spark = builder.config(map=quiet).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return len(spark.read.parquet(path).groupBy(*KEYS).count().toArrow())


JOBS = {"polars": with_polars, "duckdb": with_duckdb, "spark": with_spark}

if __name__ == "__main__":
    main(JOBS)
