"""A smooth stand-in for the number of errors: sigmoids instead of steps.

Source: Lember 2012, (3.5.4). With p = 2 this is nonlinear least squares on a sigmoid; it is *not* maximum likelihood.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize
from scipy.special import expit

from learnable.linear.exact import _best_split
from learnable.linear.moments import _scatter
from learnable.linear.rules import LinearRule, solve_symmetric
from learnable.validation import check_rng, check_scalar

__all__ = ["SigmoidRiskClassifier"]


class SigmoidRiskClassifier(LinearRule):
    """Minimise the mean of |y − σ(w'x + w0)|^p, σ logistic, while the sigmoid is made steeper and steeper.

    The objective has many local minima. The search starts from Fisher's direction, from each of the best single-feature
    splits, and from random directions, each with its best split; from every start L-BFGS runs at growing scales
    ‖w‖ = s. The answer is the start or minimiser with the fewest training errors.

    Parameters
    ----------
    p : float, default=1
        At least 1.
    n_restarts : int, default=8
        Number of random directions beside the two kinds of fixed starts.
    scales : tuple of float, default=(2.0, 8.0, 32.0)
        Lengths of w, in standardised columns, from which L-BFGS starts.
    random_state : None, int or Generator, default=0

    Attributes
    ----------
    coef_, intercept_ : ndarrays
    objective_ : float
        The smooth risk at the answer.
    train_error_ : float

    Examples
    --------
    >>> X, y = [[-30.0]] + 5 * [[-1.0], [1.0]] + [[30.0]], [1] + 5 * [0, 1] + [0]
    >>> SigmoidRiskClassifier().fit(X, y).predict([[-1.0], [1.0]]).tolist()
    [0, 1]
    """

    def __init__(self, p=1.0, n_restarts=8, scales=(2.0, 8.0, 32.0), random_state=0):
        self.p = p
        self.n_restarts = n_restarts
        self.scales = scales
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        p = check_scalar(self.p, "p", low=1)
        n_starts = check_scalar(self.n_restarts, "n_restarts", low=0, integer=True)
        scales = [check_scalar(s, "scales", low=0, closed="neither") for s in self.scales]
        if not scales:
            raise ValueError("scales must have at least one entry")
        X, codes, weights = self._prepare(X, y, sample_weight)
        rng = check_rng(self.random_state)
        weights = weights / weights.sum()
        mean = weights @ X
        spread = np.sqrt(weights @ (X - mean) ** 2)
        spread[spread <= 1e-14 * np.abs(mean)] = np.inf
        Z = (X - mean) / spread
        sign = np.where(codes == 1, 1.0, -1.0)
        best = (np.inf, np.inf, None)
        for theta in _starts(Z, codes, weights, n_starts, rng):
            for s in (0.0, *scales):
                if s > 0:
                    theta = theta * s / max(np.linalg.norm(theta[:-1]), 1e-12)
                    answer = optimize.minimize(
                        _smooth_risk,
                        theta,
                        (Z, sign, weights, p),
                        method="L-BFGS-B",
                        jac=True,
                        options={"maxiter": 100},
                    )
                    theta = answer.x
                margin = Z @ theta[:-1] + theta[-1]
                errors = float(weights[(margin >= 0) != (codes == 1)].sum())
                smooth = _smooth_risk(theta, Z, sign, weights, p)[0]
                if (errors, smooth) < (best[0] - 1e-12, np.inf) or (errors <= best[0] + 1e-12 and smooth < best[1]):
                    best = (errors, smooth, theta)
        self.train_error_, self.objective_, theta = best
        w = theta[:-1] / spread
        return self._store(w, theta[-1] - w @ mean)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def _starts(Z, codes, weights, n_starts, rng):
    d = Z.shape[1]
    parts = _scatter(Z, codes, weights, np.arange(2))
    directions = [solve_symmetric(parts.cov_within, parts.means[1] - parts.means[0])]
    single = min(range(d), key=lambda j: _best_split(Z[:, j], codes, weights)[1])
    directions.append(np.eye(d)[single])
    directions.extend(rng.standard_normal((n_starts, d)) if d > 1 else [])
    for w in directions:
        length = np.linalg.norm(w)
        if length > 0:
            split, _ = _best_split(Z @ w / length, codes, weights)
            side = 1.0 if split.label == 0 else -1.0
            cut = np.clip(split.threshold, -1e3, 1e3)
            yield np.append(side * w / length, -side * cut)


def _smooth_risk(theta, Z, sign, weights, p):
    """Σ ω σ(−margin)^p and its gradient: |y − σ(t)| is the probability that σ gives to the wrong class."""
    wrong = expit(-sign * (Z @ theta[:-1] + theta[-1]))
    power = wrong**p
    slope = -p * weights * sign * power * (1 - wrong)
    return float(weights @ power), np.append(slope @ Z, slope.sum())
