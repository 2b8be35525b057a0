"""The query gateway: SQL questions, answers with noise, and a budget that cannot be overspent."""
