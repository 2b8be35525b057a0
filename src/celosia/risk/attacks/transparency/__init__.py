"""Attacks by an intruder who has read the certificate: each reads the public parameters of some methods."""
