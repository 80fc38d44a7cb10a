"""The machines as estimators: hard, soft and mixed margins, and the nu-form (Lember 2012, Sec. 4.2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.kernels import smo
from learnable.kernels.functions import Linear, Precomputed
from learnable.kernels.named import KernelMixin
from learnable.kernels.svm.pairwise import fit_pairs, pair_scores
from learnable.validation import (
    BinaryClassifierMixin,
    check_class_labels,
    check_scalar,
    check_symmetric,
    check_weights,
    encode_labels,
)
from learnable.validation.tags import ONE_DISTANCE

# Up to this size the whole kernel matrix is kept when the tolerance asks for double precision.
_DENSE = 4000


class _KernelMachine(KernelMixin, BinaryClassifierMixin, BaseEstimator):
    """Labels, kernel and prediction; subclasses solve for the signed coefficients."""

    def _prepare(self, X, y):
        X, signs = self._signed_data(X, y)
        return self._named_points(X), signs

    def _named_points(self, X):
        for name in ("coef_", "machines_"):  # what only some fits have must not outlive the one that made it
            self.__dict__.pop(name, None)
        self.kernel_ = self._named_kernel(X)
        return check_symmetric(X, "K") if isinstance(self.kernel_, Precomputed) else X

    _sparse = False
    # Coefficients of nearly touching hulls cancel: the hard margin always needs columns in double precision.
    _always_double = False

    def _centred(self, X):
        """X less its mean for a linear kernel, whose machines are the same wherever the origin is: w'(x - m) + b.

        Coefficients that sum to zero do not see the mean, but products of large numbers lose their digits to it.
        """
        plain = isinstance(self.kernel_, Linear) and self.kernel_.A is None
        if plain and sparse.issparse(X):
            self._centre = np.zeros(X.shape[1])  # a sparse table stays sparse
            return X
        self._centre = X.mean(axis=0) if plain else None
        return X if self._centre is None else X - self._centre

    def _source(self, X):
        double = self._always_double or self.tol < 1e-5
        if isinstance(self.kernel_, Precomputed) or (double and X.shape[0] <= _DENSE):
            return smo.GramSource(self.kernel_(X))
        return smo.ColumnCache(self.kernel_, X, cache_mb=self.cache_mb, dtype=np.float64 if double else np.float32)

    def _store(self, X, y, s):
        self.solution_ = s
        self.alpha_ = s.alpha
        self.support_ = s.support
        self.dual_coef_ = s.beta[s.support]
        self.intercept_ = float(s.offset)
        self.intercept_interval_ = s.offset_interval
        self.primal_, self.dual_, self.gap_ = s.primal, s.dual, s.gap
        self.n_iter_ = s.n_iter
        self._signs = y
        if isinstance(self.kernel_, Precomputed):
            self._points = None
        else:
            self.support_vectors_ = X[s.support]
            self._points = self.support_vectors_
        if self._centre is not None:
            points = X[s.support] if sparse.issparse(X) else self.support_vectors_ - self._centre
            self.coef_ = (self.dual_coef_ @ points)[None, :]
            back = float(self.coef_[0] @ self._centre)
            self.intercept_ -= back
            self.intercept_interval_ = tuple(b - back for b in self.intercept_interval_)
        norm = float(max(s.beta @ s.values, 0.0)) ** 0.5
        self.margin_ = 1.0 / norm if norm > 0.0 else np.inf
        return self

    def _divide(self, norm):
        """Divide the fitted function by a number."""
        self.dual_coef_ = self.dual_coef_ / norm
        self.intercept_ /= norm
        self.intercept_interval_ = tuple(b / norm for b in self.intercept_interval_)
        if hasattr(self, "coef_"):
            self.coef_ = self.coef_ / norm
        return self

    def decision_function(self, X):
        """f(x) = sum of coefficient times kernel, plus the intercept; the second class where it is not negative."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse=self._sparse)
        return self._values(X)

    def _values(self, X):
        """f for each row, and with several classes a column for each pair of them."""
        if self._points is None:
            return X[:, self.support_] @ self.dual_coef_.T + self.intercept_
        if hasattr(self, "coef_"):
            values = X @ self.coef_.T + self.intercept_
            return values if len(self.coef_) > 1 else values[:, 0]
        return self.kernel_(X, self._points) @ self.dual_coef_.T + self.intercept_


class HardMarginSVM(_KernelMachine):
    r"""The separating hyperplane farthest from the data (Lember 2012, (4.2.4) and (4.2.7)).

    Maximises Σα_i - ½Σα_iα_jy_iy_jK_ij over α ≥ 0 with
    Σα_iy_i = 0, through the nearest points of the two convex hulls.

    Cost O(n d) for each step of the solver, which computes the kernel columns that it needs.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"}, Kernel or callable, default="linear"
    gamma, degree, coef0
        Of a kernel given by name, as in scikit-learn's ``SVC``; see :func:`~learnable.kernels.named.named_kernel`.
    tol : float, default=1e-6
        Relative accuracy of the squared margin.
    max_iter : int, optional
    cache_mb : float, default=200

    Attributes
    ----------
    alpha_ : ndarray (n,)
        Multipliers; `dual_coef_`, `support_`, `support_vectors_` as in scikit-learn.
    intercept_, margin_ : float
        The margin is 1/|w|, the distance of the nearest points from the boundary.
    solution_ : learnable.kernels.smo.Solution
    coef_ : ndarray (1, d)
        With the linear kernel only.

    Raises
    ------
    learnable.kernels.smo.NotSeparableError
        If no hyperplane separates the classes: there is then no hard margin.

    Examples
    --------
    >>> X = [[0.0, 1.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    >>> svm = HardMarginSVM().fit(X, [-1, 1, 1, 1])
    >>> round(svm.margin_, 6), svm.coef_.round(6).tolist(), round(svm.intercept_, 6)
    (0.5, [[0.0, -2.0]], 1.0)
    """

    _depends_on_units = ONE_DISTANCE

    _always_double = True

    def __init__(self, kernel="linear", *, gamma="scale", degree=3, coef0=0.0, tol=1e-6, max_iter=None, cache_mb=200.0):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.cache_mb = cache_mb

    def fit(self, X, y):
        """Fit; cost as for ``learnable.kernels.smo.nearest_points``."""
        X, signs = self._prepare(X, y)
        tol = check_scalar(self.tol, "tol", low=0.0, closed="neither")
        s = smo.classification(
            self._source(self._centred(X)), signs, np.inf, tol=tol, max_iter=self.max_iter, cache_mb=self.cache_mb
        )
        return self._store(X, signs, s)


class SoftMarginSVM(_KernelMachine):
    r"""Margin against margin errors: 1-norm, 2-norm and mixed soft margins (Lember 2012, Sec. 4.2.2).

    Minimises ½‖w‖² + P(ξ) with ξ_i = (1 - y_if(x_i))_+ and

    - ``norm=1``: P = Σ C_iξ_i, multipliers in the box 0 ≤ α_i ≤ C_i;
    - ``norm=2``: P = ½Σ C_iξ_i², the hard-margin dual with 1/C_i added to the diagonal;
    - ``norm="mixed"``: P = Σ C_iξ_i + ½Σ C_(2,i)ξ_i².

    Several classes are told apart by a machine for each pair of them, as in LIBSVM: the class with most votes wins,
    and among equals the one with the largest sum of the values f. Sparse tables stay sparse.

    Cost O(n d) for each step of the solver, which computes the kernel columns that it needs.

    Parameters
    ----------
    C : float, default=1
        Price of a margin error. `sample_weight` and `class_weight` multiply it (and `C2`) point by point.
    norm : {1, 2, "mixed"}, default=1
    kernel : {"linear", "rbf", "poly", "precomputed"}, Kernel or callable, default="linear"
    gamma, degree, coef0
        As for :class:`HardMarginSVM`.
    C2 : float, optional
        Price of the squares, for ``norm="mixed"``.
    class_weight : dict, "balanced" or None
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    max_iter : int, optional
    cache_mb : float, default=200

    Attributes
    ----------
    alpha_, dual_coef_, support_, support_vectors_, coef_, margin_, solution_
        As for :class:`HardMarginSVM`.
    intercept_ : float
        Mean over the in-bound support vectors; the middle of `intercept_interval_` if there are none.
    intercept_interval_ : tuple
        All optimal intercepts for these multipliers.
    slack_ : ndarray (n,)
        Margin errors.
    C_ : ndarray (n,)
        The prices used.
    primal_, dual_, gap_ : float
    machines_ : list of SoftMarginSVM
        With several classes only: the machine of each pair. `dual_coef_`, `intercept_`, `coef_`, `margin_`, `n_iter_`
        and the objectives then have one row for each pair, and the other attributes are those of `machines_`.

    Examples
    --------
    Two points and a small price: both multipliers reach the box, and the intercept is free in an interval.

    >>> svm = SoftMarginSVM(C=0.2, tol=1e-9).fit([[-1.0], [1.0]], [-1, 1])
    >>> svm.alpha_.tolist(), [round(b, 6) for b in svm.intercept_interval_]
    ([0.2, 0.2], [-0.6, 0.6])
    """

    _depends_on_units = ONE_DISTANCE

    _sparse = "csr"

    def __init__(
        self,
        C=1.0,
        norm=1,
        kernel="linear",
        *,
        gamma="scale",
        degree=3,
        coef0=0.0,
        C2=None,
        class_weight=None,
        tol=1e-3,
        max_iter=None,
        cache_mb=200.0,
    ):
        self.C = C
        self.norm = norm
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C2 = C2
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.cache_mb = cache_mb

    def fit(self, X, y, sample_weight=None):
        """Fit by SMO; see :func:`learnable.kernels.smo.classification`."""
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse=self._sparse)
        check_class_labels(y)
        self.classes_, codes = encode_labels(y)
        k = len(self.classes_)
        if k < 2:
            raise ValueError("y must contain at least two classes, got one class")
        X = self._named_points(X)
        C = check_scalar(self.C, "C", low=0.0, closed="neither")
        tol = check_scalar(self.tol, "tol", low=0.0, closed="neither")
        weights = check_weights(sample_weight, codes.size)
        weights = np.ones(codes.size) if weights is None else np.array(weights, dtype=float)
        if self.class_weight is not None:
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[codes])
            if np.any(factors <= 0.0):
                raise ValueError("class_weight must be positive for all classes")
            weights = weights * factors[codes]
        if k > 2:
            return fit_pairs(self, X, codes, weights)
        signs = np.where(codes == 1, 1.0, -1.0)
        used = weights > 0.0
        if np.unique(signs[used]).size < 2:
            raise ValueError("the points of positive weight all belong to one class")
        points = self._centred(X)
        part = points[used]
        if isinstance(self.kernel_, Precomputed):
            part = part[:, used]
        s = self._solve(self._source(part), signs[used], C, weights[used], tol)
        if not used.all():
            s = _spread(s, used, self.kernel_, points)
        self.C_ = C * weights
        self.slack_ = np.maximum(1.0 - signs * (s.values + s.offset), 0.0)
        return self._store(X, signs, s)

    def decision_function(self, X):
        """f(x), the second class where it is not negative; with several classes a score for each of them."""
        values = super().decision_function(X)
        return values if len(self.classes_) == 2 else pair_scores(values, len(self.classes_))

    def predict(self, X):
        """The class on whose side each row lies, or that wins most pairs."""
        scores = self.decision_function(X)
        return self._decide(scores) if scores.ndim == 1 else self.classes_[scores.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        tags.input_tags.sparse = True
        return tags

    def _solve(self, source, signs, C, weights, tol):
        options = {"tol": tol, "max_iter": self.max_iter, "cache_mb": self.cache_mb}
        if self.norm == "mixed" and self.C2 is not None:
            # A weight multiplies both prices: k equal points then count like one of weight k.
            C2 = check_scalar(self.C2, "C2", low=0.0, closed="neither")
            lower, upper = np.where(signs < 0, -np.inf, 0.0), np.where(signs > 0, np.inf, 0.0)
            return smo.solve(source, -signs, lower, upper, knee=C * weights, beyond=1.0 / (C2 * weights), **options)
        return smo.classification(source, signs, C * weights, norm=self.norm, C2=self.C2, **options)


def _spread(s, used, kernel, X):
    """Enlarge a solution by points of weight zero: coefficient zero, value computed."""
    places = np.flatnonzero(used)
    beta, values = np.zeros(used.size), np.empty(used.size)
    beta[places], values[places] = s.beta, s.values
    others = np.flatnonzero(~used)
    support = places[s.support]
    if isinstance(kernel, Precomputed):
        values[others] = X[np.ix_(others, support)] @ s.beta[s.support]
    else:
        values[others] = kernel(X[others], X[support]) @ s.beta[s.support]
    gradient = np.empty(used.size)
    gradient[places], gradient[others] = s.gradient, values[others]
    return replace(
        s,
        beta=beta,
        values=values,
        gradient=gradient,
        bound=places[s.bound],
        inbound=places[s.inbound],
        zero=np.flatnonzero(beta == 0.0),
    )


class NuSVM(_KernelMachine):
    r"""The margin maximised directly (Lember 2012, (4.2.14), (4.2.26)).

    Minimises -γ + DΣ(γ - y_i(u'x_i+b))_+ over ‖u‖=1, with D = 1/(νn), through
    the dual: ½Σβ_iβ_jy_iy_jK_ij minimal over 0 ≤ β_i ≤ D,
    Σβ_i = 1, Σβ_iy_i = 0. Its optimal value is -‖Σβ_iy_ix_i‖.

    Cost O(n d) for each step of the solver, which computes the kernel columns that it needs.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        At least the fraction of margin errors, at most the fraction of support vectors; at most twice the share of
        the smaller class.
    kernel, gamma, degree, coef0
        As for :class:`HardMarginSVM`.
    tol : float, default=1e-6
        Relative to the largest diagonal entry of the kernel matrix. The dual variables sum to one, so differences of
        the gradient are small compared with that entry: 1e-3, which is enough for a price C, is too coarse here.
    max_iter, cache_mb
        As for :class:`HardMarginSVM`.

    Attributes
    ----------
    beta_ : ndarray (n,)
        Dual variables, summing to one.
    margin_ : float
        The optimal γ. If the reduced hulls meet, the dual has value 0 and no direction: `margin_` and
        `value_` are then zero and no hyperplane is returned (nu is below its least useful value, see
        ``largest_D`` of the chapter).
    value_ : float
        Optimal value of the problem.
    dual_coef_, intercept_
        Of the normalised function u'x + b.
    D_ : float

    Examples
    --------
    >>> svm = NuSVM(nu=0.4, tol=1e-9).fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> round(svm.margin_, 6), svm.beta_.round(6).tolist(), round(svm.value_, 6)
    (1.0, [0.0, 0.5, 0.5, 0.0], -1.0)
    """

    _depends_on_units = ONE_DISTANCE

    def __init__(
        self, nu=0.5, kernel="linear", *, gamma="scale", degree=3, coef0=0.0, tol=1e-6, max_iter=None, cache_mb=200.0
    ):
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.cache_mb = cache_mb

    def fit(self, X, y):
        """Fit by SMO within each class; see :func:`learnable.kernels.smo.nu_classification`."""
        X, signs = self._prepare(X, y)
        nu = check_scalar(self.nu, "nu", low=0.0, high=1.0, closed="right")
        tol = check_scalar(self.tol, "tol", low=0.0, closed="neither")
        source = self._source(self._centred(X))
        s = smo.nu_classification(source, signs, nu, tol=tol, max_iter=self.max_iter, cache_mb=self.cache_mb)
        self.D_ = 1.0 / (nu * signs.size)
        self.beta_ = s.alpha
        norm = float(max(s.beta @ s.values, 0.0)) ** 0.5
        self._store(X, signs, s)
        self.value_ = -norm
        if norm <= 1e-7 * float(source.diagonal.max()) ** 0.5:
            self.margin_ = 0.0
            return self
        self.margin_ = s.rho / norm
        return self._divide(norm)


class SquaredNuSVM(_KernelMachine):
    r"""The squared twin of :class:`NuSVM` (Lember 2012, (4.2.22)).

    Minimises -γ + DΣ(γ - y_i(u'x_i+b))_+² over ‖u‖=1. Its solutions are those of the
    2-norm machine: if that one, with price C, has margin γ=1/‖w‖ and slacks ξ, then
    D = 1/(2γΣξ_i) makes the derivative of the objective in γ vanish. `fit` finds C. Where the classes cannot be
    separated, D has a limit as C grows, and a larger D is refused.

    Parameters
    ----------
    D : float, default=1
    kernel, gamma, degree, coef0, tol, max_iter, cache_mb
        As for :class:`HardMarginSVM`.

    Attributes
    ----------
    C_ : float
        The price of the 2-norm machine with the same hyperplane.
    margin_, dual_coef_, intercept_
        Of the normalised function.

    Examples
    --------
    >>> X, y = [[-1.0], [0.2], [-0.2], [1.0]], [0, 0, 1, 1]
    >>> svm = SquaredNuSVM(D=0.12).fit(X, y)
    >>> wide = SquaredNuSVM(D=0.05).fit(X, y)
    >>> bool(wide.margin_ > svm.margin_)
    True
    """

    _depends_on_units = ONE_DISTANCE

    def __init__(
        self, D=1.0, kernel="linear", *, gamma="scale", degree=3, coef0=0.0, tol=1e-8, max_iter=None, cache_mb=200.0
    ):
        self.D = D
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.cache_mb = cache_mb

    def fit(self, X, y):
        """Fit: a monotone search for C, each step a warm-started 2-norm machine."""
        from scipy.optimize import brentq

        X, signs = self._prepare(X, y)
        D = check_scalar(self.D, "D", low=0.0, closed="neither")
        tol = check_scalar(self.tol, "tol", low=0.0, closed="neither")
        source = self._source(self._centred(X))
        options = {"norm": 2, "tol": tol, "max_iter": self.max_iter, "cache_mb": self.cache_mb}
        found, rounding, largest = {}, {}, float(source.diagonal.max())
        if not largest > 0.0:
            raise ValueError("X must hold at least two different points, or no line has a margin")

        def log_D(log_C):
            s = smo.classification(source, signs, float(np.exp(log_C)), **options)
            found[log_C] = s
            # slacks are alpha / C; the geometric ones are gamma times as large
            square = max(float(s.beta @ s.values), 1e-300)
            slack = s.alpha.sum() / np.exp(log_C)
            # Coefficients grow like C where the classes overlap, and the terms of |w|^2 = beta'K beta cancel.
            rounding[log_C] = np.finfo(float).eps * largest * float(np.abs(s.beta).sum()) ** 2 / square
            return np.log(square**0.5 / (2.0 * slack)) - np.log(D)

        first = low = high = -np.log(max(float(source.diagonal.mean()), 1e-300))
        at_low = at_high = log_D(low)
        while at_low > 0.0:
            high, at_high = low, at_low
            low -= 2.0
            at_low = log_D(low)
            if low < first - 60.0:
                raise ValueError(f"D = {D:g} is too small for these data: the optimal margin is infinite")
        while at_high < 0.0:
            low, before = high, at_high
            high += 2.0
            at_high = log_D(high)
            # On data that cannot be separated D(C) has a limit, which it approaches like 1/C. What is left to gain is
            # a seventh of the last gain; when rounding could hide it, there is no point in going on.
            gain = at_high - before
            if gain < max(1e-5, rounding[high]) and at_high + max(gain, 0.0) / 6.0 < 0.0:
                limit = D * np.exp(at_high)
                raise ValueError(f"D = {D:g} is too large for these data: no price C belongs to a D above {limit:.4g}")
        root = brentq(log_D, low, high, xtol=1e-12) if high > low else low
        if root not in found:
            log_D(root)
        s = found[root]
        self.C_ = float(np.exp(root))
        self._store(X, signs, s)
        return self._divide(1.0 / self.margin_)
