"""Compiled inner loops and the statistics that several parts use: numpy arrays in, numpy arrays out, no table.

``grouping``, ``neighbours`` and ``search`` are compiled, one file per algorithm. Only they import numba at module
level, and part modules import them only inside functions.
"""

import os

# Numba reads .numba_config.yaml of the working directory, where the data lie, and unpickles what it finds in the cache
# directory that the file names. What the environment says wins over that file, also when it says nothing.
for _setting in ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES"):
    os.environ.setdefault(_setting, "")
