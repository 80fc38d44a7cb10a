"""Boosting any convex φ with ±1 rules: GradientBoost and LogitBoost (Lember 2012, Sec. 5.3)."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.ensembles.losses import get_surrogate
from learnable.ensembles.votes import BinaryBoost, bare, weak_learner
from learnable.validation import check_choice, check_finite_array, check_scalar, check_weights

__all__ = ["GradientBoost", "LogitBoost", "line_search"]

_LARGEST_STEP = 1e6
_NO_MINIMUM = 600.0


def line_search(loss, margins, direction, weights=None, *, tol=1e-12, max_iter=200):
    """Minimise α ↦ Σ w_i φ(m_i + α z_i) for a convex φ.

    Newton's method inside a bracket of the sign change of the derivative; bisection where Newton leaves the bracket or
    φ has no second derivative.

    Parameters
    ----------
    loss : Surrogate or str
    margins, direction : array (n,)
        m and z, the latter y_i h(x_i).
    weights : array (n,), optional
    tol : float, default=1e-12
        Relative accuracy of the step.
    max_iter : int, default=200
        Reaching it warns.

    Returns
    -------
    alpha : float
        ``inf`` (or ``-inf``) where the loss falls for ever, e.g. when all z have one sign.

    Examples
    --------
    >>> round(line_search("exponential", [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, -1.0]), 6)  # ½ ln 3
    0.549306
    """
    loss = get_surrogate(loss)
    tol, max_iter = check_scalar(tol, "tol", low=0), check_scalar(max_iter, "max_iter", low=1, integer=True)
    m, z = check_finite_array(margins, "margins", ndim=1), check_finite_array(direction, "direction", ndim=1)
    if m.size == 0 or m.shape != z.shape:
        raise ValueError(f"margins and direction must have the same positive length, got {m.size} and {z.size}")
    w = check_weights(weights, m.size, "weights")
    if w is None:
        w = np.ones(m.size)
    m, z, w = m[w > 0], z[w > 0], w[w > 0]
    if loss.scale_free:
        m = m - m.min()
    # In units of the longest direction: the first bracket and the largest step then fit columns of any scale.
    unit = float(np.abs(z).max())
    if unit == 0.0:
        return 0.0
    z = z / unit
    with np.errstate(over="ignore", invalid="ignore"):
        return _minimise_along(loss, m, z, w, tol, max_iter) / unit


def _minimise_along(loss, m, z, w, tol, max_iter):
    wz = w * z

    def slope(alpha):
        return float(wz @ loss.derivative(m + alpha * z))

    start = slope(0.0)
    if start == 0.0:
        return 0.0
    side = -1.0 if start > 0 else 1.0
    # Where every margin grows and φ has no minimum, the slope only *rounds* to zero in the end.
    if (side * z[w > 0] > 0).all() and loss.r_star(1.0) > _NO_MINIMUM:
        return side * np.inf
    low, high = 0.0, 1.0
    while side * slope(side * high) < 0:
        low, high = high, 2 * high
        if high > _LARGEST_STEP:
            return side * np.inf
    alpha = 0.5 * (low + high)
    for _ in range(max_iter):
        at = side * slope(side * alpha)
        if at < 0:
            low = alpha
        else:
            high = alpha
        step = None
        if loss.has_second:
            curvature = float((w * z * z) @ loss.second(m + side * alpha * z))
            if curvature > 0:
                step = alpha - at / curvature
        new = step if step is not None and low < step < high else 0.5 * (low + high)
        # A step of a thousandth of the largest direction is small: below that the accuracy is absolute.
        done = abs(new - alpha) <= tol * max(alpha, 1e-3) or high - low <= tol * max(high, 1e-3)
        alpha = new
        if done:
            break
    else:
        warnings.warn(
            f"the line search stopped after {max_iter} steps between {low:.6g} and {high:.6g} of the largest "
            "direction; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=4,
        )
    return side * alpha


class GradientBoost(BinaryBoost):
    """Coordinate descent on the empirical φ-risk, the weak rules being the coordinates.

    Round t weights the sample by D(i) ∝ −φ′(y_i f(x_i)), takes the rule with the smallest weighted error (the steepest
    coordinate), and moves along it. With φ = e^{−t} this *is* AdaBoost.

    Cost O(n d (log n + n_rounds)) with stumps: features are sorted, or binned, once.

    Parameters
    ----------
    loss : Surrogate or str
        Convex and decreasing where margins lie.
    base : {"stump", "columns"}, int, or weak learner
    n_rounds : int
    step : {"line_search", "adaboost"} or float
        Exact minimisation along the rule; AdaBoost's ½ ln((1 − ε)/ε) from the weighted error; or a constant.
    shrinkage : float
        Multiplies every step.
    max_bins : {"auto"}, int or None
        Bins for each feature in the search for stumps or trees that `base` names: None tries every cut, a number from 2
        to 256 puts thresholds on the edges of bins, which loses nothing for a feature with at most so many different
        values; ``"auto"`` is 256 from 2,500 rows on and None below.

    Attributes
    ----------
    rules_, alphas_
    errors_ : array (T,)
        Weighted errors under D_t.
    losses_ : array (T,)
        Mean φ(y f_t) on the sample after each round.
    train_scores_ : array (n,)
    stopped_ : str or None

    Notes
    -----
    The rules are ±1 valued and chosen by weighted *error*. This is not Friedman's gradient boosting, which fits a
    regression tree to the gradient by least squares: that is `GradientBoostedTrees`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> y = np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, -1])
    >>> GradientBoost("logistic", n_rounds=3).fit(X, y).losses_.round(3).tolist()
    [0.5, 0.423, 0.256]
    """

    def __init__(self, loss="logistic", base="stump", n_rounds=100, step="line_search", shrinkage=1.0, max_bins="auto"):
        self.loss = loss
        self.base = base
        self.n_rounds = n_rounds
        self.step = step
        self.shrinkage = shrinkage
        self.max_bins = max_bins

    def _surrogate(self):
        loss = get_surrogate(self.loss)
        if not loss.convex:
            raise ValueError(f"the loss {loss.name!r} is not convex: its steps have no unique minimum")
        return loss

    @property
    def _link(self):
        return 1.0 if get_surrogate(self.loss).name == "logistic" else 2.0

    def fit(self, X, y, sample_weight=None):
        """Run the rounds."""
        X, y, start = self._prepare(X, y, sample_weight)
        loss = self._surrogate()
        rounds = check_scalar(self.n_rounds, "n_rounds", low=1, integer=True)
        shrinkage = check_scalar(self.shrinkage, "shrinkage", low=0, high=1, closed="right")
        constant = None
        if self.step not in ("line_search", "adaboost"):
            constant = check_scalar(self.step, "step", low=0, closed="neither")
        learner = weak_learner(self.base, self.max_bins).prepare(X)
        self.rules_, alphas, errors, losses = [], [], [], []
        self.stopped_ = None
        margins = np.zeros(len(y))
        for t in range(rounds):
            shifted = margins - margins.min() if loss.scale_free else margins
            D = start * np.maximum(-loss.derivative(shifted), 0.0)
            total = D.sum()
            if not total > 0.0:
                self.stopped_ = f"round {t + 1} found the loss flat"
                break
            D /= total
            rule = learner.fit(D, y)
            agree = y * rule.outputs
            wrong, right = D[agree < 0].sum(), D[agree > 0].sum()
            if wrong >= right * (1.0 - 1e-13):
                self.stopped_ = f"round {t + 1} found no direction of descent"
                break
            if constant is not None:
                alpha = constant
            elif self.step == "adaboost":
                alpha = 0.5 * np.log(right / wrong) if wrong > 0 else np.inf
            else:
                alpha = line_search(loss, margins, agree, start)
            if not np.isfinite(alpha):
                self.stopped_ = f"round {t + 1} found a rule along which the loss falls for ever"
                if t == 0:
                    self.rules_, alphas, errors = [bare(rule)], [1.0], [float(wrong)]
                    margins = agree.copy()
                    losses = [float(start @ loss(margins))]
                break
            alpha *= shrinkage
            margins += alpha * agree
            self.rules_.append(bare(rule))
            alphas.append(alpha)
            errors.append(wrong)
            losses.append(float(start @ loss(margins)))
        if not self.rules_:
            raise ValueError("no rule of the class is better than a coin on this sample")
        self.alphas_, self.errors_, self.losses_ = np.array(alphas), np.array(errors), np.array(losses)
        self.train_scores_ = y * margins
        return self


class LogitBoost(GradientBoost):
    """GradientBoost with the logistic loss: stagewise logistic regression on ±1 rules.

    Cost O(n d (log n + n_rounds)) with stumps: features are sorted, or binned, once.

    Parameters
    ----------
    variant : {1, 2}
        ln(1 + e^{−t}), whose minimiser is the log-odds, or ln(1 + e^{−2t}), whose minimiser is half of them.
    base, n_rounds, step, shrinkage, max_bins
        As in `GradientBoost`; ``step=0.5`` and ``step="adaboost"`` are the cheap choices the source mentions.

    Notes
    -----
    Friedman, Hastie & Tibshirani's LogitBoost fits each rule by weighted least squares (a Newton step), with
    real-valued rules. The version here follows Lember 2012, Sec. 5.3.1: weighted error, then a line search.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> y = np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, -1])
    >>> LogitBoost(n_rounds=1).fit(X, y).predict_proba([[0.0]]).round(2).tolist()
    [[0.2, 0.8]]
    """

    def __init__(self, variant=1, base="stump", n_rounds=100, step="line_search", shrinkage=1.0, max_bins="auto"):
        self.variant = variant
        self.base = base
        self.n_rounds = n_rounds
        self.step = step
        self.shrinkage = shrinkage
        self.max_bins = max_bins

    @property
    def loss(self):
        """The surrogate of the variant."""
        check_choice(self.variant, "variant", (1, 2))
        return "logistic" if self.variant == 1 else "logistic2"
