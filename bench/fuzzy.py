"""Fuzzy c-means against the package fuzzy-c-means, per iteration, as a ratio in one run.

The peer lives in an environment of its own: `python -m venv /tmp/peer && /tmp/peer/bin/pip install fuzzy-c-means`.
Both start from the same centres on the same 1 000 000 × 5 records with c = 10, do the same number of iterations on one
thread, and are compared by CPU seconds, memory above the data, and the objective they reach.

    python bench/fuzzy.py /tmp/peer/bin/python
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ITERATIONS = 12
N, P, C = 1_000_000, 5, 10

MAKE = f"""
import numpy as np
rng = np.random.default_rng(0)
centres = rng.normal(size=({C}, {P})) * 2
x = centres[rng.integers({C}, size={N})] + rng.normal(size=({N}, {P}))
np.save("x.npy", x)
np.save("v.npy", x[:{C}] + 1e-3)
"""

COMMON = f"""
import json, resource, sys, time
import numpy as np
x, v = np.load("x.npy"), np.load("v.npy")
T = {ITERATIONS}
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""

PEER = """
from fcmeans import FCM
class Given(FCM):
    def _init_u(self, X):
        self.u = FCM._memberships(FCM._dist(X, v, self.distance, self.distance_params), self.m)
model = Given(n_clusters=len(v), max_iter=T, error=1e-9)
base = peak()
start = time.process_time()
model.fit(x)
seconds = (time.process_time() - start) / T
print(json.dumps({"seconds": seconds, "memory": peak() - base, "objective": model._objective(x)}))
"""

OURS = """
from celosia.fuzzy import c_means, gustafson_kessel
from celosia.kernels.neighbours.fuzzy_clusters import c_means_sweep
c_means(x[:100], 3, seed=0, starts=1), gustafson_kessel(x[:100], 3, seed=0, starts=1)
base = peak()
start = time.process_time()
found = c_means(x, len(v), centres=v, iterations=T, tolerance=0.0)
seconds = (time.process_time() - start) / T
memory = peak() - base
objective = c_means_sweep(x, found.centres, 2.0)[0]
start = time.process_time()
gustafson_kessel(x, len(v), centres=v, iterations=3, tolerance=0.0)
gk = (time.process_time() - start) / 3
print(json.dumps({"seconds": seconds, "memory": memory, "objective": objective, "gk": gk}))
"""


def run(python: str, code: str, place: str) -> dict[str, float]:
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(
        [python, "-c", code], cwd=place, env={**os.environ, **one}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout) if done.stdout else {}


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        run(sys.executable, MAKE, place)
        ours = run(sys.executable, COMMON + OURS, place)
        text = f"celosia: {ours['seconds']:.4f} CPU s per iteration, {ours['memory']:.0f} MB above the data"
        print(f"{text}; Gustafson–Kessel {ours['gk']:.3f} CPU s per iteration")
        if len(sys.argv) < 2 or not Path(sys.argv[1]).exists():
            print("no peer: give the python of an environment with fuzzy-c-means")
            return
        peer = run(sys.argv[1], COMMON + PEER, place)
        again = run(sys.executable, COMMON + OURS, place)
    print(f"fuzzy-c-means: {peer['seconds']:.4f} CPU s per iteration, {peer['memory']:.0f} MB above the data")
    for mine in (ours, again):
        print(
            f"{peer['seconds'] / mine['seconds']:.1f} times faster (target 5), "
            f"{peer['memory'] / max(mine['memory'], 1):.1f} times less memory, "
            f"objectives differ by {abs(mine['objective'] / peer['objective'] - 1):.1e} (target 1e-6)"
        )


if __name__ == "__main__":
    main()
