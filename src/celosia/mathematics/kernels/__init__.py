"""Compiled inner loops: numpy arrays in, numpy arrays out, one file per algorithm.

Only this package imports numba at module level, and part modules import kernels only inside functions.
"""

import os

# Numba reads .numba_config.yaml of the working directory, where the data lie, and unpickles what it finds in the cache
# directory that the file names. What the environment says wins over that file, also when it says nothing.
for _setting in ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES"):
    os.environ.setdefault(_setting, "")
