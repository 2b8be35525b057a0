"""Requests for data: analysis, protection, release and repetition."""
