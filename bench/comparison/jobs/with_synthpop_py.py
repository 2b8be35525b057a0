"""Synthesis by trees, column after column, by synthpop-py."""

from __future__ import annotations

from child import main


def trees(path: str) -> int:
    import pandas as pd
    from synthpop import Synthesiser
    from synthpop.methods import CartMethod, TreeClassifierMethod, TreeRegressorMethod

    data = pd.read_csv(path)
    for name in data.columns:
        if name != "age":
            data[name] = data[name].astype("category")
    method = CartMethod(
        TreeRegressorMethod(rare_categories_threshold=0), TreeClassifierMethod(rare_categories_threshold=0)
    )
    return len(Synthesiser(random_seed=1, default_syn_method=method).fit(data).generate())


if __name__ == "__main__":
    main({"trees": trees}, "synthpop-py")
