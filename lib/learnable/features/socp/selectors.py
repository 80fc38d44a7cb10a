"""Sparse linear classifiers of two classes that are feature selectors too, in scikit-learn's protocol."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import linprog
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.features.socp.cantelli import chebyshev_factor
from learnable.features.socp.columns import solve_cone_program
from learnable.features.socp.moments import ClassMoments, fisher_direction, minimax_probability_machine
from learnable.features.socp.programs import MEAN_SETS, fisher_program, robust_program, two_class_program
from learnable.validation import (
    BinaryClassifierMixin,
    binary_codes,
    check_choice,
    check_magnitude,
    check_scalar,
    warn_not_converged,
)
from learnable.validation.tags import ONE_NORM


class _LinearSelector(SelectorMixin, BinaryClassifierMixin, BaseEstimator):
    """What all selectors of the chapter share: the data's checks, the rule sign(w'x - b), the set of features in
    use."""

    def fit(self, X, y):
        """Find the weights.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Samples in rows.
        y : array-like of shape (m,)
            Labels of two classes; the second in sorted order is the positive one.

        Returns
        -------
        self
            The fitted selector.
        """
        return self._fit(X, y)

    def _fit(self, X, y, start=None):
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_magnitude(X, "X")
        self.classes_, codes = binary_codes(y)
        w, b = self._weights(X, codes, start)
        self.coef_ = w[None, :]
        self.intercept_ = np.array([-b])
        return self

    def decision_function(self, X):
        """The values w'x - b, positive for the second class.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Samples in rows.

        Returns
        -------
        ndarray of shape (m,)
            The values.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        used = np.flatnonzero(self.coef_[0])
        return X[:, used] @ self.coef_[0, used] + self.intercept_[0]

    def predict(self, X):
        """Labels of the samples.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Samples in rows.

        Returns
        -------
        ndarray of shape (m,)
            The labels.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.coef_[0] != 0


class LPSelector(_LinearSelector):
    """The linear program: least ‖w‖₁ with every sample at least one beyond the hyperplane (Bhattacharyya 2004, (5)).

    Minimises ‖w‖₁ + C Σ ξ_i subject to y_i (w'x_i - b) ≥ 1 - ξ_i, ξ ≥ 0, by the simplex method of HiGHS.

    Parameters
    ----------
    C : float, default=1.0
        Price of a sample inside the margin; ``np.inf`` asks for a hard margin, as the source does, and `fit` then
        raises an error if the classes are not separable.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The offset -b.
    classes_ : ndarray of shape (2,)
        The labels.
    objective_ : float
        The value that was minimised.
    n_iter_ : int
        Steps of the simplex method.

    Examples
    --------
    >>> X = [[0.0, 0.1], [0.2, 0.9], [2.0, 0.3], [2.2, 0.7]]
    >>> model = LPSelector(C=np.inf).fit(X, [0, 0, 1, 1])
    >>> model.get_support(indices=True).tolist(), round(model.objective_, 6)
    ([0], 1.111111)
    """

    _depends_on_units = ONE_NORM

    def __init__(self, C=1.0):
        self.C = C

    def _check_parameters(self):
        if self.C != np.inf:
            check_scalar(self.C, "C", low=0, closed="neither")

    def _weights(self, X, codes, start):
        m, n = X.shape
        centre = X.mean(axis=0)
        unit = np.abs(X - centre).max(initial=0.0) or 1.0
        signed = np.where(codes == 1, 1.0, -1.0)[:, None]
        rows = signed * (X - centre) / unit
        parts, cost = [-rows, rows, signed], [np.ones(2 * n), [0.0]]
        if self.C != np.inf:
            parts.append(-np.eye(m))
            cost.append(np.full(m, self.C * unit))
        cost = np.concatenate(cost)
        bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * (len(cost) - 2 * n - 1)
        found = linprog(cost, A_ub=np.hstack(parts), b_ub=-np.ones(m), bounds=bounds, method="highs-ds")
        if found.status == 2:
            raise ValueError("X must be linearly separable for a hard margin: choose a finite C")
        if found.x is None:
            raise ValueError(f"X gives a linear program that HiGHS cannot solve: {found.message}")
        self.n_iter_ = max(1, int(found.nit))
        self.objective_ = float(found.fun / unit)
        w = (found.x[:n] - found.x[n : 2 * n]) / unit
        return w, float(found.x[2 * n] + centre @ w)


class _ConeSelector(_LinearSelector):
    """The part that the cone programs share: solve, say so when a level cannot be reached, keep the certificate."""

    def _check_parameters(self):
        chebyshev_factor(self.eta)
        check_scalar(self.tol, "tol", low=0, closed="neither")
        check_scalar(self.max_iter, "max_iter", low=1, integer=True)

    def _solve(self, program, start):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said below, in the words of the estimator
            solution = solve_cone_program(program, start=start, tol=self.tol, max_iter=self.max_iter)
        if not solution.converged:
            name = type(self).__name__
            advice = "raise max_iter or tol, or bring the columns to one scale"
            warn_not_converged(name, solution.n_iter, solution.gap, self.tol, advice, stacklevel=5)
        self.solution_ = solution
        self.status_ = solution.status
        self.dual_gap_ = solution.gap
        self.n_iter_ = max(1, solution.n_iter)
        return solution

    def _level(self, eta):
        self.eta_ = float(eta)
        self.certified_error_ = 1 - self.eta_
        if self.status_ == "infeasible":
            message = (
                f"{type(self).__name__}: no hyperplane reaches eta = {self.eta:g} with these moments; the weights are "
                f"those of the best level without a limit on the features, {self.eta_:.4g}"
            )
            warnings.warn(message, UserWarning, stacklevel=5)


class SOCPSelector(_ConeSelector):
    """Few features and a guarantee: a fraction `eta` of each class, whatever its law, on its own side.

    Minimises ‖w‖₁ subject to w'μ1 - b ≥ max(1, κ√(w'Σ1w)) and b - w'μ2 ≥ max(1, κ√(w'Σ2w)), κ = √(η/(1 - η)), where the
    moments are those of the sample (Bhattacharyya 2004, (8)). The guarantee holds exactly for the training sample, and
    for other samples as far as their moments are these. Cost: see `solve_cone_program`.

    Parameters
    ----------
    eta : float in [0, 1), default=0.5
        The fraction. Larger values use more features.
    tol : float, default=1e-8
        The relative duality gap to reach.
    max_iter : int, default=100
        Interior-point steps in a round, and rounds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The offset -b.
    classes_ : ndarray of shape (2,)
        The labels.
    eta_ : float
        The fraction that these weights guarantee, at least `eta`; less if `status_` is "infeasible".
    certified_error_ : float
        1 - `eta_`: at most this share of either class is misclassified in the training sample.
    solution_ : ConeSolution
        Prices, multipliers and the bound from below.
    status_ : {"optimal", "infeasible", "inaccurate"}
        If no hyperplane reaches `eta`, the weights are those of `minimax_probability_machine`.
    dual_gap_ : float
        The certified relative gap.
    n_iter_ : int
        Interior-point steps.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 200))
    >>> X[:, :3] += np.array([2.0, 3.0, 4.0]) * y[:, None]
    >>> [SOCPSelector(eta=eta).fit(X, y).get_support(indices=True).tolist() for eta in (0.5, 0.85)]
    [[2], [1, 2]]
    """

    def __init__(self, eta=0.5, *, tol=1e-8, max_iter=100):
        self.eta = eta
        self.tol = tol
        self.max_iter = max_iter

    def _weights(self, X, codes, start):
        moments = ClassMoments.from_data(X, codes)
        solution = self._solve(two_class_program(moments, self.eta), start)
        kappa = chebyshev_factor(self.eta)
        w = solution.w
        if solution.status == "infeasible":
            machine = minimax_probability_machine(moments)
            w, b = machine.w, machine.b
        else:
            b = _offset(w, moments, [max(1.0, kappa * s) for s in _spreads(w, moments)])
        self._level(_guarantee(w, b, moments, _spreads(w, moments)))
        return w, b


class SparseFisher(_ConeSelector):
    """Fisher's discriminant with few features: the least ‖w‖₁ that orders a pair rightly with probability `eta`.

    Minimises ‖w‖₁ subject to w'(μ1 - μ2) ≥ max(1, κ√(w'(Σ1 + Σ2)w)), κ = √(η/(1 - η)) (Bhattacharyya 2004, (12), with
    the factor the right way up). The offset is chosen afterwards.

    Parameters
    ----------
    eta : float in [0, 1), default=0.5
        Least probability of w'X1 > w'X2 for one point of each class.
    offset : {"midpoint", "equal_tails"}, default="midpoint"
        Between the projected means in the middle, or so that both classes have the same bound.
    tol : float, default=1e-8
        The relative duality gap to reach.
    max_iter : int, default=100
        Interior-point steps in a round, and rounds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The offset -b.
    classes_ : ndarray of shape (2,)
        The labels.
    eta_ : float
        The probability that these weights guarantee for a pair.
    certified_error_ : float
        1 - `eta_`.
    solution_ : ConeSolution
        Prices, multipliers and the bound from below.
    status_ : {"optimal", "infeasible", "inaccurate"}
        If `eta` is beyond what `fisher_direction` reaches, the weights are Fisher's.
    dual_gap_ : float
        The certified relative gap.
    n_iter_ : int
        Interior-point steps.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 200))
    >>> X[:, :3] += np.array([2.0, 3.0, 4.0]) * y[:, None]
    >>> SparseFisher(eta=0.95).fit(X, y).get_support(indices=True).tolist()
    [1, 2]
    """

    _depends_on_units = ONE_NORM

    def __init__(self, eta=0.5, *, offset="midpoint", tol=1e-8, max_iter=100):
        self.eta = eta
        self.offset = offset
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self):
        super()._check_parameters()
        check_choice(self.offset, "offset", ("midpoint", "equal_tails"))

    def _weights(self, X, codes, start):
        moments = ClassMoments.from_data(X, codes)
        solution = self._solve(fisher_program(moments, self.eta), start)
        w = fisher_direction(moments).w if solution.status == "infeasible" else solution.w
        first, second = _spreads(w, moments)
        shares = (0.5, 0.5)
        if self.offset == "equal_tails" and first + second > 0:
            shares = (second / (first + second), first / (first + second))
        b = float(shares[0] * (w @ moments.mu1) + shares[1] * (w @ moments.mu2))
        apart, spread = float(w @ moments.delta), float(np.hypot(first, second))
        self._level(apart / (apart + spread**2 / apart) if apart > 0 else 0.0)
        return w, b


class RobustSOCPSelector(_ConeSelector):
    """The guarantee of `SOCPSelector` for all moments near the estimated ones (Bhattacharyya 2004, (22)).

    The guarantee holds for every mean within `delta` of the sample's and every covariance of the samples' coefficients
    within `rho` in Frobenius norm. The sets lie in the span of the samples, so the answer depends on the origin of X:
    centre the data first.

    Parameters
    ----------
    eta : float in [0, 1), default=0.5
        The fraction of each class on its own side.
    delta : float, default=0.0
        Radius of the set of means, in the unit of X for "span_ball".
    rho : float, default=0.0
        Radius of the set of covariances.
    mean_set : {"span_ball", "coef_ball"}, default="span_ball"
        What `delta` measures, see `robust_program`.
    tol : float, default=1e-8
        The relative duality gap to reach.
    max_iter : int, default=100
        Interior-point steps in a round, and rounds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The offset -b.
    classes_ : ndarray of shape (2,)
        The labels.
    eta_ : float
        The fraction that these weights guarantee for all moments in the sets.
    certified_error_ : float
        1 - `eta_`.
    solution_ : ConeSolution
        Prices, multipliers and the bound from below.
    status_ : {"optimal", "infeasible", "inaccurate"}
        If `eta` cannot be reached, the weights are those of `minimax_probability_machine`, and `eta_` may be zero.
    dual_gap_ : float
        The certified relative gap.
    n_iter_ : int
        Interior-point steps.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 200))
    >>> X[:, :3] += np.array([2.0, 3.0, 4.0]) * (y[:, None] - 0.5)
    >>> [int(RobustSOCPSelector(0.8, delta=d).fit(X, y).get_support().sum()) for d in (0.0, 0.5, 1.0)]
    [1, 1, 3]
    """

    def __init__(self, eta=0.5, *, delta=0.0, rho=0.0, mean_set="span_ball", tol=1e-8, max_iter=100):
        self.eta = eta
        self.delta = delta
        self.rho = rho
        self.mean_set = mean_set
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self):
        super()._check_parameters()
        check_scalar(self.delta, "delta", low=0)
        check_scalar(self.rho, "rho", low=0)
        check_choice(self.mean_set, "mean_set", MEAN_SETS)

    def _weights(self, X, codes, start):
        options = {"delta": self.delta, "rho": self.rho, "mean_set": self.mean_set}
        program = robust_program(X[codes == 1], X[codes == 0], self.eta, **options)
        solution = self._solve(program, start)
        moments = ClassMoments.from_data(X, codes)
        w = minimax_probability_machine(moments).w if solution.status == "infeasible" else solution.w
        spreads = [np.linalg.norm(c.factor @ w) for c in program.cones[:2]]
        losses = [c.scale * np.linalg.norm(c.factor @ w) for c in program.cones[2:]] or [0.0, 0.0]
        kappa = chebyshev_factor(self.eta)
        b = _offset(w, moments, [max(1.0, kappa * s) + d for s, d in zip(spreads, losses, strict=True)])
        self._level(_guarantee(w, b, moments, spreads, losses))
        return w, b


def _spreads(w, moments):
    used = np.flatnonzero(w)
    return [float(np.linalg.norm(f[:, used] @ w[used])) for f in (moments.factor1, moments.factor2)]


def _offset(w, moments, needs):
    """The middle of the offsets that leave both classes what they need."""
    return float((w @ moments.mu1 - needs[0] + w @ moments.mu2 + needs[1]) / 2)


def _guarantee(w, b, moments, spreads, losses=(0.0, 0.0)):
    """The smaller of the two classes' bounds s²/(s² + σ²)."""
    rooms = (w @ moments.mu1 - b - losses[0], b - w @ moments.mu2 - losses[1])
    return min(r / (r + s**2 / r) if r > 0 else 0.0 for r, s in zip(rooms, spreads, strict=True))
