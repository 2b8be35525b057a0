"""Synthesis by the Gaussian copula of SDV."""

from __future__ import annotations

from child import main


def copula(path: str) -> int:
    import pandas as pd
    from sdv.metadata import Metadata
    from sdv.single_table import GaussianCopulaSynthesizer

    frame = pd.read_csv(path)
    made = GaussianCopulaSynthesizer(Metadata.detect_from_dataframe(frame))
    made.fit(frame)
    return len(made.sample(len(frame)))


if __name__ == "__main__":
    main({"copula": copula}, "sdv")
