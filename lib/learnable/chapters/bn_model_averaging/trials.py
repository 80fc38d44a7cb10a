"""What the experiments of the source measure: random networks of any density, ROC areas, and the share recovered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from learnable.validation import Result, check_rng, encode_labels


@dataclass(frozen=True, eq=False)
class TrialSummary(Result):
    """Mean over trials with a confidence interval and quartiles; what `summarise_trials` returns."""

    mean: float
    half_width: float
    lower_quartile: float
    upper_quartile: float
    n_used: int
    n_dropped: int


def sample_random_network(n_samples, n_nodes, max_parents, random_state=None):
    """Rows from a random binary network of any density (Dash and Cooper 2004, Procedure 4 with lazy tables)."""
    n = n_samples
    p = n_nodes
    K = max_parents
    rng = check_rng(random_state)
    order, X = rng.permutation(p), np.zeros((n, p), dtype=np.int64)
    for place, node in enumerate(order):
        wanted = int(rng.integers(1, K + 1)) if K else 0
        parents = rng.choice(order[:place], size=min(wanted, place), replace=False)
        code = np.zeros(n, dtype=np.int64)
        for parent in parents:
            code = 2 * code + X[:, parent]
            if code.max() > 4 * n:
                code = np.unique(code, return_inverse=True)[1]
        found, code = np.unique(code, return_inverse=True)
        X[:, node] = rng.random(n) < rng.random(len(found))[code]
    return X


def roc_area(y_true, score, *, ties="half"):
    """Area under the ROC curve; over more than two classes, the mean of the areas of one class against the rest."""
    classes, codes = encode_labels(y_true, name="y_true")
    score = np.asarray(score, dtype=float)
    if len(classes) < 2:
        raise ValueError("y_true must hold at least two classes: the area is not defined")
    if score.ndim == 1:
        return _area(codes == 1, score, ties)
    if len(classes) == 2:
        return _area(codes == 1, score[:, 1], ties)
    return float(np.mean([_area(codes == c, score[:, c], ties) for c in range(len(classes))]))


def recovered_area(area, other):
    """Share of the other classifier's missing ROC area that the first recovers: (R1 - R2) / (1 - R2)."""
    area, other = np.asarray(area, dtype=float), np.asarray(other, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(other < 1, (area - other) / (1 - other), np.nan)
    return share if share.ndim else float(share)


def summarise_trials(shares, level=0.99):
    """Mean with a confidence interval, and quartiles; NaN entries are left out and counted."""
    shares = np.asarray(shares, dtype=float)
    used = shares[np.isfinite(shares)]
    width = stats.t.ppf(0.5 + level / 2, len(used) - 1) * used.std(ddof=1) / np.sqrt(len(used))
    low, high = np.quantile(used, [0.25, 0.75])
    return TrialSummary(float(used.mean()), float(width), float(low), float(high), len(used), len(shares) - len(used))


def _area(positive, score, ties):
    """Share of pairs (positive, negative) that the score orders rightly; ties count half or nothing."""
    negatives = np.sort(score[~positive])
    below = np.searchsorted(negatives, score[positive], side="left").sum()
    upto = np.searchsorted(negatives, score[positive], side="right").sum()
    won = (below + upto) / 2 if ties == "half" else below
    return float(won / (positive.sum() * len(negatives)))
