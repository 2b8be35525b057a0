"""Losses for a use of the data: models, regression, synthesis."""
