"""One fixed job, by which CPU times of different machines and moments are compared."""

import time


def calibration() -> float:
    """CPU seconds of a pure-Python loop."""
    start = time.process_time()
    total = 0
    for i in range(20_000_000):
        total += i * i
    return time.process_time() - start
