"""Compiled inner loops: numpy arrays in, numpy arrays out, one file per algorithm.

Only this package imports numba at module level, and part modules import kernels only inside functions.
"""
