"""Differentially private synthesis by the MST of SmartNoise."""

from __future__ import annotations

from child import main


def private_synthesis(path: str) -> int:
    import pandas as pd
    from snsynth import Synthesizer

    frame = pd.read_csv(path, usecols=["sex", "race", "status", "school", "pay"])
    made = Synthesizer.create("mst", epsilon=1.0, delta=1e-9)
    made.fit(frame, preprocessor_eps=0.0, categorical_columns=list(frame.columns))
    return len(made.sample(len(frame)))


if __name__ == "__main__":
    main({"private-synthesis": private_synthesis}, "smartnoise-synth")
