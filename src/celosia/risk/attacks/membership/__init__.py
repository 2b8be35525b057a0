"""Attacks that infer whether a person is in the original."""
