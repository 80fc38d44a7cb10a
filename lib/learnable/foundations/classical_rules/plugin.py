"""Plug-in rules: estimate, then threshold; and what their error costs.

Excess risk of any rule is 2 ∫_{g ≠ g*} |η − ½| dF, so a plug-in rule pays only where its estimate is on the wrong side
of ½. Source: Lember 2012, Sec. 6.1.
"""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.neighbors import KernelDensity
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.foundations.classical_rules.voting import cube_numbers
from learnable.validation import (
    check_choice,
    check_class_labels,
    check_finite_array,
    check_has,
    check_magnitude,
    check_scalar,
)

__all__ = [
    "FAMILIES",
    "ParametricPlugIn",
    "PlugIn",
    "PlugInDensity",
    "PlugInPair",
    "plug_in_bounds",
]


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


class PlugIn(_TwoClassRule):
    """Decide 1 where an estimate of η(x) = P(Y = 1 | x) exceeds ½, (6.1.1).

    Parameters
    ----------
    eta_estimator : regressor or classifier, optional
        By default logistic regression on standardised columns, so that their units do not matter. A regressor is
        fitted to the labels 0 and 1, and its prediction is the estimate; for a classifier it is ``predict_proba``.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rule = PlugIn(LinearRegression()).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> rule.predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    def __init__(self, eta_estimator=None):
        self.eta_estimator = eta_estimator

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        if self.eta_estimator is None:
            from sklearn.linear_model import LogisticRegression
            from sklearn.pipeline import make_pipeline
            from sklearn.preprocessing import StandardScaler

            self.estimator_ = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, codes)
        else:
            self.estimator_ = clone(self.eta_estimator).fit(X, codes)
        return self

    def eta(self, X):
        """The estimate η_n(x)."""
        X = self._points(X)
        if hasattr(self.estimator_, "predict_proba"):
            return self.estimator_.predict_proba(X)[:, 1]
        return self.estimator_.predict(X)

    def predict(self, X):
        return self._decide(self.eta(X) > 0.5)


class PlugInPair(_TwoClassRule):
    """Decide 1 where η̂₁(x) > η̂₀(x): separate estimates of both posteriors, which need not sum to 1.

    Parameters
    ----------
    eta1, eta0 : regressors, optional
        Fitted to 1{Y = 1} and 1{Y = 0}; by default linear, by least squares.

    Examples
    --------
    >>> X = [[-2.0], [-1.0], [1.0], [2.0]]
    >>> PlugInPair().fit(X, [0, 0, 1, 1]).predict([[-0.5], [0.7]])
    array([0, 1])
    """

    def __init__(self, eta1=None, eta0=None):
        self.eta1 = eta1
        self.eta0 = eta0

    def fit(self, X, y):
        from sklearn.linear_model import LinearRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        X, codes = self._prepare(X, y)
        # Least squares on standardised columns: the cut-off for small singular values then knows no units.
        plain = make_pipeline(StandardScaler(), LinearRegression())
        one, zero = (clone(plain if given is None else given) for given in (self.eta1, self.eta0))
        self.one_, self.zero_ = one.fit(X, codes), zero.fit(X, 1 - codes)
        return self

    def predict(self, X):
        X = self._points(X)
        return self._decide(self.one_.predict(X) > self.zero_.predict(X))


class PlugInDensity(_TwoClassRule):
    """Decide 1 where p̂₁ f̂₁(x) > p̂₀ f̂₀(x), with densities estimated class by class.

    Parameters
    ----------
    density : {"gaussian", "kde", "histogram"}
        ``gaussian`` fits mean and covariance; ``kde`` is scikit-learn's Gaussian `KernelDensity`; ``histogram`` counts
        in cubes of edge ``width``.
    width : float, optional
        Bandwidth or edge; by default n^(−1/(d+4)) standard deviations for ``kde``, 3.5 n^(−1/(d+2)) for ``histogram``.

    Examples
    --------
    >>> X = [[-2.0], [-1.0], [1.0], [2.0]]
    >>> PlugInDensity().fit(X, [0, 0, 1, 1]).predict([[-0.5], [0.7]])
    array([0, 1])
    """

    def __init__(self, density="gaussian", width=None):
        self.density = density
        self.width = width

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        check_choice(self.density, "density", ("gaussian", "kde", "histogram"))
        if self.width is not None:
            check_scalar(self.width, "width", low=0, closed="neither")
        self.log_priors_ = np.log(np.bincount(codes) / len(codes))
        self.densities_ = [self._fit_density(X[codes == c]) for c in (0, 1)]
        return self

    def _fit_density(self, X):
        if self.density == "gaussian":
            return _GaussianDensity(X)
        n, d = X.shape
        if self.width is None:
            scale = max(float(X.std(axis=0).mean()), 1e-12 * (np.abs(X).max() or 1.0))
            width = scale * n ** (-1 / (d + 4)) if self.density == "kde" else 3.5 * scale * n ** (-1 / (d + 2))
        else:
            width = float(self.width)
        if self.density == "kde":
            return KernelDensity(bandwidth=width).fit(X).score_samples
        return _HistogramDensity(X, width)

    def predict(self, X):
        X = self._points(X)
        zero, one = (np.atleast_1d(f(X)) + p for f, p in zip(self.densities_, self.log_priors_, strict=True))
        return self._decide(one > zero)


class _GaussianDensity:
    """Log-density of the normal law with the mean and covariance of X, found in standardised columns.

    So the units of the columns do not matter; a column that does not vary gets a deviation of 10⁻¹² of its size.
    """

    def __init__(self, X):
        n, d = X.shape
        self.mean = X.mean(axis=0)
        spread = X.std(axis=0) if n > 1 else np.ones(d)
        size = np.where(self.mean == 0, np.abs(X).max() or 1.0, np.abs(self.mean))
        self.spread = np.maximum(spread, 1e-12 * size)
        Z = (X - self.mean) / self.spread
        correlation = (Z.T @ Z) / n + 1e-9 * np.eye(d) if n > 1 else np.eye(d)
        self.law = stats.multivariate_normal(np.zeros(d), correlation, allow_singular=True)

    def __call__(self, X):
        return self.law.logpdf((X - self.mean) / self.spread) - np.log(self.spread).sum()


class _HistogramDensity:
    """Log-density of a histogram with cubes of edge `width`: count / (n width^d), −∞ in empty cubes."""

    def __init__(self, X, width):
        n, d = X.shape
        self.width = width
        cells, counts = np.unique(cube_numbers(X, width, "width"), axis=0, return_counts=True)
        heights = np.log(counts / n) - d * np.log(width)
        self.table = {cell.tobytes(): height for cell, height in zip(cells, heights, strict=True)}

    def __call__(self, X):
        return np.array([self.table.get(key.tobytes(), -np.inf) for key in cube_numbers(X, self.width, "width")])


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


def excess_risk_exact(problem, g, **options):
    """R(g) − R* = 2 ∫_{g ≠ g*} |η − ½| dF, (6.1.2), on a problem of the first chapter's kind.

    Parameters
    ----------
    problem : FiniteProblem or DensityProblem with two classes
    g : callable
        x → 0 or 1.

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> round(float(excess_risk_exact(five_point(), lambda x: np.ones(len(x), int))), 10)
    0.16
    """
    check_has(problem, "problem", "n_classes expect", "a FiniteProblem, a DensityProblem or alike")
    if problem.n_classes != 2:
        raise ValueError("the identity is for two classes")

    def wasted(x, post):
        eta = post[:, 1]
        return 2.0 * np.abs(eta - 0.5) * (np.asarray(g(x)) != (eta > 0.5))

    return problem.expect(wasted, label=lambda x, post: np.asarray(g(x)).astype(int), **options)


def plug_in_bounds(problem, eta1, eta0=None, **options):
    """Excess risk of the plug-in rule and the bounds on it: a dictionary of numbers in rising order.

    Parameters
    ----------
    problem : FiniteProblem or DensityProblem with two classes
    eta1 : callable
        Estimate of η.
    eta0 : callable, optional
        Separate estimate of 1 − η; then the rule compares the two and the pair bound is given.
    **options
        As in ``problem.expect``.

    Returns
    -------
    dict
        ``excess``, ``l1`` (2 ∫|η − η_n|) and ``l2`` (2 √∫(η − η_n)²), or ``excess`` and ``pair``.

    Examples
    --------
    >>> from learnable.laws.zoo import five_point
    >>> bounds = plug_in_bounds(five_point(), lambda x: np.full(len(x), 0.6))
    >>> {name: round(value, 4) for name, value in bounds.items()}
    {'excess': 0.16, 'l1': 0.48, 'l2': 0.5657}
    """
    check_has(problem, "problem", "n_classes expect", "a FiniteProblem, a DensityProblem or alike")
    if eta0 is None:

        def rule(x):
            return (np.asarray(eta1(x)) > 0.5).astype(int)

        l1 = problem.expect(lambda x, post: np.abs(post[:, 1] - eta1(x)), **options)
        l2 = problem.expect(lambda x, post: (post[:, 1] - eta1(x)) ** 2, **options)
        return {
            "excess": float(excess_risk_exact(problem, rule, **options)),
            "l1": 2.0 * float(l1),
            "l2": 2.0 * float(np.sqrt(l2)),
        }

    def pair_rule(x):
        return (np.asarray(eta1(x)) > np.asarray(eta0(x))).astype(int)

    pair = problem.expect(lambda x, post: np.abs(post[:, 1] - eta1(x)) + np.abs(1.0 - post[:, 1] - eta0(x)), **options)
    return {"excess": float(excess_risk_exact(problem, pair_rule, **options)), "pair": float(pair)}
