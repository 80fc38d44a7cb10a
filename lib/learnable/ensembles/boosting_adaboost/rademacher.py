"""Rademacher complexity 𝓡_n = E sup_h |(1/n) Σ σ_i h(x_i)| by simulation, with the inner supremum exact.

With the absolute value and without a factor 2: the definition that fits the constants of Lember 2012, Sec. 5.2.5.
"""

from __future__ import annotations

import numpy as np

from learnable.ensembles.weak_learners import SortedFeatures
from learnable.validation import check_finite_array, check_rng, check_scalar

__all__ = ["rademacher"]


def rademacher_supremum(X, sigma, rules="stumps"):
    """sup_h |(1/n) Σ σ_i h(x_i)| for given signs.

    Parameters
    ----------
    X : array (n, d) or SortedFeatures
    sigma : array (draws, n) of ±1
    rules : {"stumps", "linear", "columns"}
        All stumps, from running sums; linear functions with ‖w‖ ≤ 1, by a norm; or the columns of X themselves. The
        convex hull of the rules has the same value, draw by draw: a linear function is largest at a vertex.

    Returns
    -------
    array (draws,)

    Examples
    --------
    >>> rademacher_supremum([[0.0], [1.0], [2.0]], [[1.0, -1.0, 1.0]]).round(3).tolist()
    [0.333]
    """
    sigma = np.atleast_2d(check_finite_array(sigma, "sigma"))
    n = sigma.shape[1]
    if rules == "stumps":
        features = X if isinstance(X, SortedFeatures) else SortedFeatures(X)
        if features.shape[0] != n:
            raise ValueError(f"sigma must have {features.shape[0]} columns, got {n}")
        found = np.empty(len(sigma))
        for k, signs in enumerate(sigma):
            low, high = features.extremes(signs)
            total = signs.sum()
            found[k] = max(abs(total), total - 2 * low.min(), 2 * high.max() - total)
        return found / n
    X = check_finite_array(X, "X", ndim=2)
    if len(X) != n:
        raise ValueError(f"sigma must have {len(X)} columns, got {n}")
    if rules == "linear":
        return np.linalg.norm(sigma @ X, axis=1) / n
    if rules == "columns":
        return np.abs(sigma @ X).max(axis=1) / n
    raise ValueError(f"rules must be 'stumps', 'linear' or 'columns', got {rules!r}")


def rademacher(X, rules="stumps", *, n_draws=1000, random_state=None):
    """Estimate the Rademacher complexity of a class on a sample.

    Parameters
    ----------
    X : array (n, d)
        Kept fixed: the result is conditional on it.
    rules : {"stumps", "linear", "columns"}
        See `rademacher_supremum`.
    n_draws : int
    random_state : numpy Generator, optional

    Returns
    -------
    value, se : float
        The mean over draws and its standard error.

    Examples
    --------
    >>> value, se = rademacher(np.arange(100.0)[:, None], n_draws=500, random_state=np.random.default_rng(0))
    >>> bool(abs(value - 0.187) < 0.01)
    True
    """
    n_draws = check_scalar(n_draws, "n_draws", low=2, integer=True)
    random_state = check_rng(random_state)
    features = SortedFeatures(X) if rules == "stumps" else check_finite_array(X, "X", ndim=2)
    sigma = random_state.integers(0, 2, (n_draws, features.shape[0])) * 2.0 - 1.0
    values = rademacher_supremum(features, sigma, rules)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(n_draws))
