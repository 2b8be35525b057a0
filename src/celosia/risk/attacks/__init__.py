"""Attacks: success of an intruder, measured with the original."""
