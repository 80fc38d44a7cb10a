"""What the experiments of the source measure: random networks of any density, ROC areas, and the share recovered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from learnable.validation import Result, check_choice, check_finite_array, check_rng, check_scalar, encode_labels

__all__ = ["TrialSummary", "recovered_area", "roc_area", "sample_random_network", "summarise_trials"]


@dataclass(frozen=True, eq=False)
class TrialSummary(Result):
    """Mean over trials with a confidence interval and quartiles; what `summarise_trials` returns.

    Attributes
    ----------
    mean : float
    half_width : float
        Half the width of the interval, from Student's law.
    lower_quartile, upper_quartile : float
    n_used : int
        Trials with a finite value.
    n_dropped : int
        Trials without one: the other classifier left nothing to recover.
    """

    mean: float
    half_width: float
    lower_quartile: float
    upper_quartile: float
    n_used: int
    n_dropped: int


def sample_random_network(n_samples, n_nodes, max_parents, random_state=None):
    """Rows from a random binary network of any density (Dash and Cooper 2004, Procedure 4 with lazy tables).

    A random order; for each node a number of parents uniform on 1, ..., K, fewer where fewer nodes come before. The
    probability of a state given a configuration of the parents is uniform on [0, 1] and drawn only when a row meets the
    configuration, so that a node may have 100 parents.

    Parameters
    ----------
    n_samples : int
        Rows; draw training and test rows in one call, so that they come from the same network.
    n_nodes : int
        The number of nodes.
    max_parents : int
        The bound K.
    random_state : None, int or numpy.random.Generator
        The randomness.

    Returns
    -------
    ndarray of int64 of shape (n_samples, n_nodes)

    Examples
    --------
    >>> sample_random_network(3, 4, 2, random_state=1)
    array([[0, 1, 0, 1],
           [1, 0, 0, 0],
           [1, 1, 1, 0]])
    """
    n = check_scalar(n_samples, "n_samples", low=1, integer=True)
    p = check_scalar(n_nodes, "n_nodes", low=1, integer=True)
    K = check_scalar(max_parents, "max_parents", low=0, integer=True)
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
    """Area under the ROC curve; over more than two classes, the mean of the areas of one class against the rest.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels; each class must occur.
    score : array-like of shape (n,) or (n, n_classes)
        Score of the second class, or of each class in sorted order.
    ties : {"half", "against"}, default="half"
        A positive and a negative of equal score count as half a pair, as usual; or as a lost pair, which is what a
        program does that reads the curve from below (see the chapter).

    Returns
    -------
    float

    Notes
    -----
    Cost of a sort for each class.

    Examples
    --------
    >>> roc_area([0, 0, 1, 1], [0.1, 0.5, 0.5, 0.9])
    0.875
    >>> roc_area([0, 0, 1, 1], [0.1, 0.5, 0.5, 0.9], ties="against")
    0.75
    """
    check_choice(ties, "ties", ("half", "against"))
    classes, codes = encode_labels(y_true, name="y_true")
    score = check_finite_array(score, "score")
    if len(score) != len(codes) or score.ndim not in (1, 2):
        raise ValueError(f"score must have one row for each of {len(codes)} labels, got shape {score.shape}")
    if len(classes) < 2:
        raise ValueError("y_true must hold at least two classes: the area is not defined")
    if score.ndim == 1:
        if len(classes) != 2:
            raise ValueError("score must have one column for each class when there are more than two")
        return _area(codes == 1, score, ties)
    if score.shape[1] != len(classes):
        raise ValueError(f"score must have {len(classes)} columns, one for each class of y_true, got {score.shape[1]}")
    if len(classes) == 2:
        return _area(codes == 1, score[:, 1], ties)
    return float(np.mean([_area(codes == c, score[:, c], ties) for c in range(len(classes))]))


def recovered_area(area, other):
    """Share of the other classifier's missing ROC area that the first recovers: (R1 - R2) / (1 - R2).

    Parameters
    ----------
    area, other : float or array-like
        The areas R1 and R2.

    Returns
    -------
    float or ndarray
        At most 1, unbounded below; NaN where the other area is 1, so that nothing was missing.

    Examples
    --------
    >>> recovered_area(0.875, 0.75)
    0.5
    """
    area, other = check_finite_array(area, "area"), check_finite_array(other, "other")
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(other < 1, (area - other) / (1 - other), np.nan)
    return share if share.ndim else float(share)


def summarise_trials(shares, level=0.99):
    """Mean with a confidence interval, and quartiles; NaN entries are left out and counted.

    Parameters
    ----------
    shares : array-like of shape (n_trials,)
        One value for each trial.
    level : float, default=0.99
        Of the interval.

    Returns
    -------
    TrialSummary

    Examples
    --------
    >>> summarise_trials([0.1, 0.2, 0.3, float("nan")]).n_dropped
    1
    """
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    shares = np.asarray(shares, dtype=float)
    used = shares[np.isfinite(shares)]
    if shares.ndim != 1 or len(used) < 2:
        raise ValueError("shares must hold at least two finite values in one dimension")
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
