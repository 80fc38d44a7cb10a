"""The figures that Fernandez-Delgado et al. (2014) printed, and what can be read off them again.

The table of 121 times 179 accuracies is not in the paper; Tables 3 to 8 give rank, accuracy and kappa of every
classifier. Where Table 4 is damaged, the rank comes from Tables 6 to 8, and accuracy and kappa are missing.
"""

from __future__ import annotations

import numpy as np

from learnable.book.printed import printed_tables

# Figure 7: Weka's bagging (BG) and MultiBoost (MAB) of these base classifiers.
_BASES = (
    "LibSVM RandomForest PART J48 REPTree RandomTree Logistic DecisionTable NaiveBayes DecisionStump IBk OneR MLP LWL"
)


def published_results():
    """The 179 classifiers of Fernandez-Delgado et al. (2014) with the figures printed for them. Cost O(1)."""
    import pandas as pd

    tables = {table.name: table for table in printed_tables("classifier_benchmark")}
    columns = ["rank", "accuracy", "kappa"]
    rows = [
        (*row.split(", "), *(_value(table.figures, row, column) for column in columns))
        for table in (tables["table_3"], tables["table_4"])
        for row in table.rows
    ]
    frame = pd.DataFrame(rows, columns=["classifier", "family", *columns]).set_index("classifier")
    frame = frame.sort_values("rank", kind="stable")
    best = tables["table_5"]
    for column in best.columns:
        shares = pd.Series({row: _value(best.figures, row, column) for row in best.rows})
        frame[column.lower()] = shares.reindex(frame.index)
    return frame


def _value(figures, row, column):
    return figures[row, column].value if (row, column) in figures else np.nan


def family_summary(ranks, family):
    """Best, mean and worst rank of each family of classifiers, best family first. Cost O(c log c)."""
    import pandas as pd

    if isinstance(ranks, pd.Series) and isinstance(family, pd.Series):
        family = family.reindex(ranks.index)
    groups = pd.Series(np.asarray(ranks, dtype=float)).groupby(np.asarray(family, dtype=object))
    return groups.agg(["min", "mean", "max", "count"]).sort_values("min").rename_axis(None)


def ensemble_vs_base(results=None):
    """Rank of each bagged or boosted version beside its base classifier (Figure 7). Cost O(c)."""
    import pandas as pd

    results = published_results() if results is None else results
    rank, found = results["rank"], {}
    for base in _BASES.split():
        names = f"{base}_w", f"BG_{base}_w", f"MAB_{base}_w"
        if names[0] in rank.index:
            found[base] = [float(rank.get(name, np.nan)) for name in names]
    frame = pd.DataFrame(found, index=["base", "bagging", "multiboost"]).T
    return frame.sort_values("base", kind="stable")
