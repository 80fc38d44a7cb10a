"""Boosting for regression: stagewise additive fits, L2 boosting, and the stagewise cousin of the lasso.

Lember 2012, Sec. 5.4; Friedman 2001; Bühlmann & Yu 2003; Efron, Hastie, Johnstone & Tibshirani 2004.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.ensembles.gradient import line_search
from learnable.ensembles.losses import Surrogate
from learnable.ensembles.votes import bare
from learnable.ensembles.weak_learners import ComponentwiseLinear, ComponentwiseSpline, RegressionTree
from learnable.validation import check_finite_array, check_magnitude, check_scalar

__all__ = ["L2Boost", "StagewiseRegressor", "stagewise_path"]


def _regression_learner(base, max_bins):
    named = {
        "stump": RegressionTree(1, max_bins=max_bins),
        "linear": ComponentwiseLinear(),
        "spline": ComponentwiseSpline(),
    }
    if isinstance(base, str) and base in named:
        return named[base]
    if isinstance(base, (int, np.integer)) and not isinstance(base, bool):
        return RegressionTree(int(base), max_bins=max_bins)
    if hasattr(base, "prepare"):
        return base
    raise ValueError(f"base must be 'stump', 'linear', 'spline', a depth, or a weak learner; got {base!r}")


class StagewiseRegressor(RegressorMixin, BaseEstimator):
    """Forward stagewise additive modelling: add (α_t, h_t) that lowers ΣL(y_i, f(x_i) + α h(x_i)) most.

    Cost O(n d (log n + n_rounds)) with stumps: features are sorted, or binned, once.

    Parameters
    ----------
    base : {"stump", "linear", "spline"}, int, or weak learner
        Regression trees by depth, or componentwise linear or spline least squares.
    n_rounds : int
    loss : {"squared", "absolute"} or Surrogate
        For the squared loss the pair is exact: the best fit to the residuals. For the others h is the least-squares fit
        to the negative gradient and α an exact line search. A `Surrogate` φ means L(y, f) = φ(y f) with y = ±1.
    shrinkage : float
        Multiplies every step.
    intercept : bool
        Whether f_0 is the best constant instead of 0 (mean or median; 0 for a `Surrogate`).
    max_bins : {"auto"}, int or None
        Bins for each feature in the search for stumps or trees that `base` names: None tries every cut, a number from 2
        to 256 puts thresholds on the edges of bins, which loses nothing for a feature with at most so many different
        values; ``"auto"`` is 256 from 2,500 rows on and None below.

    Attributes
    ----------
    rules_, alphas_ : α_t includes the shrinkage
    init_ : float
    losses_ : array (T,)
        Mean loss on the sample after each round.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> StagewiseRegressor(n_rounds=4).fit(X, [0.0, 1.0, 1.0, 4.0]).losses_.round(3).tolist()
    [0.167, 0.019, 0.002, 0.0]
    """

    def __init__(self, base="stump", n_rounds=100, loss="squared", shrinkage=1.0, intercept=True, max_bins="auto"):
        self.base = base
        self.n_rounds = n_rounds
        self.loss = loss
        self.shrinkage = shrinkage
        self.intercept = intercept
        self.max_bins = max_bins

    def fit(self, X, y):
        """Run the rounds."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = check_magnitude(check_finite_array(y, "y", ndim=1), "y", smallest=0.0)
        rounds = check_scalar(self.n_rounds, "n_rounds", low=1, integer=True)
        shrinkage = check_scalar(self.shrinkage, "shrinkage", low=0, high=1, closed="right")
        surrogate = isinstance(self.loss, Surrogate)
        if not surrogate and self.loss not in ("squared", "absolute"):
            raise ValueError(f"loss must be 'squared', 'absolute' or a Surrogate, got {self.loss!r}")
        if surrogate and not (np.abs(y) == 1).all():
            raise ValueError("with a Surrogate the targets must be −1 or 1")
        learner = _regression_learner(self.base, self.max_bins).prepare(X)
        self.init_ = 0.0
        if self.intercept and not surrogate:
            self.init_ = float(y.mean() if self.loss == "squared" else np.median(y))
        f = np.full(len(y), self.init_)
        self.rules_, alphas, losses = [], [], []
        for _ in range(rounds):
            rule, alpha = self._step(learner, y, f)
            if rule is None:
                break
            alpha *= shrinkage
            f += alpha * rule.outputs
            self.rules_.append(bare(rule))
            alphas.append(alpha)
            losses.append(self._mean_loss(y, f))
        self.alphas_, self.losses_ = np.array(alphas), np.array(losses)
        return self

    def _step(self, learner, y, f):
        if isinstance(self.loss, Surrogate):
            rule = learner.fit(-y * self.loss.derivative(y * f))
            alpha = line_search(self.loss, y * f, y * rule.outputs)
        elif self.loss == "absolute":
            rule = learner.fit(np.sign(y - f))
            alpha = _least_absolute(y - f, rule.outputs)
        else:
            rule = learner.fit(y - f)
            square = rule.outputs @ rule.outputs
            # (5.4.2): for least-squares bases this is 1, for penalised splines it undoes some of the shrinkage.
            alpha = (y - f) @ rule.outputs / square if square > 0 else 0.0
        if not np.isfinite(alpha) or not rule.outputs.any():
            return None, 0.0
        return rule, float(alpha)

    def _mean_loss(self, y, f):
        if isinstance(self.loss, Surrogate):
            return float(self.loss(y * f).mean())
        return float(np.mean((y - f) ** 2) if self.loss == "squared" else np.abs(y - f).mean())

    def predict(self, X):
        """f(x) after all rounds."""
        check_is_fitted(self, "rules_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        f = np.full(len(X), self.init_)
        for alpha, rule in zip(self.alphas_, self.rules_, strict=True):
            f += alpha * rule.predict(X)
        return f

    def staged_predict(self, X):
        """f after each round, as an array (rounds, n)."""
        check_is_fitted(self, "rules_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        stages = np.empty((len(self.rules_), len(X)))
        f = np.full(len(X), self.init_)
        for t, (alpha, rule) in enumerate(zip(self.alphas_, self.rules_, strict=True)):
            f += alpha * rule.predict(X)
            stages[t] = f
        return stages

    @property
    def coef_(self):
        """Slopes of the linear function, for ``base="linear"``."""
        check_is_fitted(self, "rules_")
        if not all(hasattr(rule, "slope") for rule in self.rules_):
            raise AttributeError("coef_ exists for componentwise linear bases only")
        coefficients = np.zeros(self.n_features_in_)
        for alpha, rule in zip(self.alphas_, self.rules_, strict=True):
            coefficients[rule.feature] += alpha * rule.slope
        return coefficients


class L2Boost(StagewiseRegressor):
    """L2 boosting: fit the residuals again and again.

    `StagewiseRegressor` with the squared loss; with trees it is MART, with componentwise linear or spline bases the
    method of Bühlmann & Yu.

    Cost O(n d (log n + n_rounds)) with stumps: features are sorted, or binned, once.

    Parameters
    ----------
    base : {"stump", "linear", "spline"}, int or weak learner, default="stump"
        A depth, a name or an object with ``prepare``.
    n_rounds : int, default=100
    shrinkage : float, default=1.0
        Multiplies every step.
    intercept : bool, default=True
        Start from the mean of y.
    max_bins : {"auto"}, int or None, default="auto"
        Bins for each feature in the search for stumps or trees that `base` names: None tries every cut, a number from 2
        to 256 puts thresholds on the edges of bins, which loses nothing for a feature with at most so many different
        values; ``"auto"`` is 256 from 2,500 rows on and None below.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    >>> L2Boost("linear", n_rounds=200, intercept=False).fit(X, X @ [2.0, -1.0]).coef_.round(6).tolist()
    [2.0, -1.0]
    """

    def __init__(self, base="stump", n_rounds=100, shrinkage=1.0, intercept=True, max_bins="auto"):
        self.base = base
        self.n_rounds = n_rounds
        self.shrinkage = shrinkage
        self.intercept = intercept
        self.max_bins = max_bins

    @property
    def loss(self):
        """Always the squared loss."""
        return "squared"


def _least_absolute(r, h):
    """argmin_α Σ|r_i − α h_i|: the weighted median of r/h with weights |h|."""
    used = h != 0
    if not used.any():
        return 0.0
    ratio, weight = r[used] / h[used], np.abs(h[used])
    order = np.argsort(ratio, kind="stable")
    running = np.cumsum(weight[order])
    return float(ratio[order][np.searchsorted(running, running[-1] / 2)])


def stagewise_path(X, y, eps, n_steps):
    """Forward stagewise linear regression: nudge the feature most correlated with the residual by ±ε.

    Parameters
    ----------
    X : array (n, K)
    y : array (n,)
    eps : float
    n_steps : int

    Returns
    -------
    array (n_steps + 1, K)
        Coefficients, starting from zero. Stops early (fewer rows) if the residual is orthogonal to every feature.

    Notes
    -----
    The feature is the one whose one-variable least-squares fit removes most of the residual, i.e. with the largest
    |x_k'r|/‖x_k‖. Correlations are updated with one column of the Gram matrix: O(K) for each step.

    Examples
    --------
    >>> stagewise_path([[1.0, 0.0], [0.0, 1.0]], [0.3, -0.15], 0.1, 3).tolist()
    [[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [0.2, -0.1]]
    """
    X = check_magnitude(check_finite_array(X, "X", ndim=2), "X", smallest=0.0)
    y = check_magnitude(check_finite_array(y, "y", ndim=1), "y", smallest=0.0)
    if len(X) != len(y) or X.shape[1] == 0:
        raise ValueError(f"X and y must have the same number of rows, and X a column; got {X.shape} and {y.shape}")
    eps = check_scalar(eps, "eps", low=0, closed="neither")
    n_steps = check_scalar(n_steps, "n_steps", low=1, integer=True)
    gram = X.T @ X
    steps, features, signs = _stagewise(gram, X.T @ y, np.sqrt(np.diag(gram)), eps, n_steps)
    counts = np.zeros((steps + 1, X.shape[1]), np.int64)
    counts[np.arange(1, steps + 1), features[:steps]] = signs[:steps]
    # Whole numbers of steps: no rounding accumulates.
    return eps * np.cumsum(counts, axis=0)


@njit(cache=True)
def _stagewise(gram, products, norms, eps, n_steps):
    """Which feature moves at each step and where; c = X'r is updated by one column of the Gram matrix."""
    size = len(products)
    c = products.copy()
    features, signs = np.zeros(n_steps, np.int64), np.zeros(n_steps, np.int64)
    scale = 0.0
    for k in range(size):
        if norms[k] > 0:
            scale = max(scale, abs(c[k]) / norms[k])
    for t in range(n_steps):
        best, at = 1e-12 * scale, -1  # below that a correlation is rounding, and the path ends
        for k in range(size):
            if norms[k] > 0 and abs(c[k]) > best * norms[k]:
                best, at = abs(c[k]) / norms[k], k
        if at < 0:
            return t, features, signs
        sign = 1 if c[at] > 0 else -1
        features[t], signs[t] = at, sign
        for k in range(size):
            c[k] -= eps * sign * gram[at, k]
    return n_steps, features, signs
