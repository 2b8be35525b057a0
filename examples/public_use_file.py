"""From a table to a public-use file in Python: describe, measure, protect, measure again."""

import polars as pl

import celosia
from celosia.demo.prepare import population

visits = population(persons=2_000, seed=1)
schema = celosia.Schema.of(
    identifiers=["name", "national_id"],
    person="person",
    quasi=["birth_date", "sex", "municipality", "occupation"],
    sensitive=["diagnosis"],
    hierarchies={"birth_date": "dates(units=[year, decade])", "municipality": "balanced", "occupation": "balanced"},
)
table = celosia.read(visits.select(schema.names), schema)  # only the columns that will be published
wish = ["k-anonymity(k=5)", "l-diversity(l=2, column=diagnosis)"]

before = celosia.assess(table, wish)
protected = celosia.protect(table, {"use": "generalise", "require": wish, "suppress": 0.05}, "drop")
after = celosia.assess(protected, wish)

print(f"before: {[finding.value for finding in before.models]}, after: {[finding.value for finding in after.models]}")
print(f"levels: {protected.history[0]['levels']}")
lost = celosia.compare(table, protected, ["domain-loss", "altered-records"])
print(pl.DataFrame({"loss": [f.part.name for f in lost.losses], "value": [f.value for f in lost.losses]}))
assert after.holds
