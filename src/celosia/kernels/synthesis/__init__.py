"""Models that draw new records: trees, copulas, regressions."""
