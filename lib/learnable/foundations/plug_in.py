"""The parametric plug-in rule: fit a family to each class, decide by the larger estimate (Lember 2012, Sec. 6.1)."""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.validation import check_choice, check_class_labels, check_finite_array, check_magnitude, check_scalar

__all__ = ["FAMILIES", "ParametricPlugIn"]


class _TwoClassRule(ClassifierMixin, BaseEstimator):
    """Two classes in, 0/1 inside; ties go to ``classes_[0]``."""

    def _prepare(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_class_labels(y)
        check_magnitude(X, "X")
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(
                "Only binary classification is supported: y must hold two classes, "
                f"got {len(self.classes_)} class(es)"
                + (". The type of the target is multiclass" if len(self.classes_) > 2 else "")
            )
        return X, codes

    def _decide(self, one):
        return self.classes_[np.asarray(one, bool).astype(int)]

    def _points(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _fit_gaussian(x):
    return x.mean(), max(x.std(), 1e-12 * np.abs(x).max(), 1e-300)


def _fit_exponential(x):
    if x.min() < 0:
        raise ValueError(f"X must not be negative for the exponential family, got {x.min():g}")
    return max(x.mean(), 1e-300)


def weird_uniform_logpdf(theta, x):
    """Log-density of the source's trap: uniform on [−θ, 0] for θ ≠ 1, but on [0, 1] for θ = 1.

    Examples
    --------
    >>> weird_uniform_logpdf(2.0, [-1.5, 0.5]).round(3)
    array([-0.693,   -inf])
    >>> weird_uniform_logpdf(1.0, [-1.5, 0.5]).round(3) + 0.0
    array([-inf,   0.])
    """
    theta = check_scalar(theta, "theta", low=0, closed="neither")
    x = check_finite_array(x, "x")
    inside = (x >= 0) & (x <= 1) if theta == 1.0 else (x >= -theta) & (x <= 0)
    with np.errstate(divide="ignore"):
        return np.where(inside, -np.log(1.0 if theta == 1.0 else theta), -np.inf)


FAMILIES = {
    "gaussian": (_fit_gaussian, lambda t, x: stats.norm.logpdf(x, *t)),
    "exponential": (_fit_exponential, lambda t, x: stats.expon.logpdf(x, scale=t)),
    "uniform": (lambda x: (x.min(), x.max()), lambda t, x: stats.uniform.logpdf(x, t[0], max(t[1] - t[0], 1e-300))),
    "weird_uniform": (lambda x: np.abs(x).max(), weird_uniform_logpdf),
}


class ParametricPlugIn(_TwoClassRule):
    """Standard plug-in on one feature: fit a family to each class, decide 1 where π̂ f₁(θ̂₁, x) > (1 − π̂) f₀(θ̂₀, x).

    Parameters
    ----------
    family0, family1 : {"gaussian", "exponential", "uniform", "weird_uniform"}

    Attributes
    ----------
    theta0_, theta1_ : fitted parameters
    pi_ : float
        Proportion of ones.

    Notes
    -----
    Consistent estimates do not make a consistent rule. Let class 0 be uniform on [−2, 0] and class 1 on [0, 1], which
    is ``weird_uniform`` with θ = 2 and θ = 1. The estimates converge, but θ̂₁ < 1 almost surely, and the density of such
    a parameter lies on [−θ̂₁, 0]: the rule misses every 1, and takes the zeros in [−θ̂₁, 0] for ones. Its risk tends to
    ½ + ¼ = ¾, although the Bayes risk is 0.

    Examples
    --------
    >>> rule = ParametricPlugIn().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> rule.predict([[1.5], [3.5]]).tolist()
    [0, 1]
    """

    _takes = "one feature"

    def __init__(self, family0="gaussian", family1="gaussian"):
        self.family0 = family0
        self.family1 = family1

    def fit(self, X, y):
        check_choice(self.family0, "family0", FAMILIES)
        check_choice(self.family1, "family1", FAMILIES)
        X, codes = self._prepare(X, y)
        x = X[:, 0]
        self.pi_ = float(codes.mean())
        self.theta0_ = FAMILIES[self.family0][0](x[codes == 0])
        self.theta1_ = FAMILIES[self.family1][0](x[codes == 1])
        return self

    def predict(self, X):
        x = self._points(X)[:, 0]
        one = np.log(self.pi_) + FAMILIES[self.family1][1](self.theta1_, x)
        zero = np.log1p(-self.pi_) + FAMILIES[self.family0][1](self.theta0_, x)
        return self._decide(one > zero)
