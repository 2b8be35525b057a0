"""Attacks that ask whether somebody was among the original records."""
