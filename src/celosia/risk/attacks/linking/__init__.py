"""Attacks that find the record of a person."""
