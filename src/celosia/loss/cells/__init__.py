"""Losses measured on single cells."""
