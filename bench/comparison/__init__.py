"""Celosia, its peers and the bare engines on the same tables, in one run: CPU time, memory, and how both grow.

Every job is a process of its own, that of a peer in a virtual environment of its own.
"""
