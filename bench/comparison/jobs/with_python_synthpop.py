"""Synthesis by trees, column after column, by python-synthpop."""

from __future__ import annotations

from child import main


def trees(path: str) -> int:
    import pandas as pd
    from synthpop import CARTMethod, DataProcessor, MissingDataHandler

    frame = pd.read_csv(path)
    kinds = MissingDataHandler().get_column_dtypes(frame)
    processor = DataProcessor(kinds)
    ready = processor.preprocess(frame)
    method = CARTMethod(kinds, smoothing=True, proper=True, minibucket=5, random_state=1)
    method.fit(ready)
    return len(processor.postprocess(method.sample(len(frame))))


if __name__ == "__main__":
    main({"trees": trees}, "python-synthpop")
