"""Delimited text: how a file is written, which type each column has, what is wrong with it."""
