"""Every support vector machine between the density end and the margin end, from one walk."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.kernels.functions import Linear, Precomputed
from learnable.kernels.named import KernelMixin, far_centre
from learnable.kernels.svm_path import _walk as walking
from learnable.kernels.svm_path.homotopy import EVENTS, Walk, offset_range
from learnable.validation import BinaryClassifierMixin, check_choice, check_magnitude, check_scalar
from learnable.validation.tags import ONE_DISTANCE


class SVMPath(KernelMixin, BinaryClassifierMixin, BaseEstimator):
    r"""All support vector machines of one kernel, exactly, as functions of λ = 1/C.

    The criterion is Σ_i[1-y_if(x_i)]_+ + (λ/2)‖β‖² with
    f(x) = (1/λ)(Σ_jy_jα_jK(x,x_j)+α₀), 0 ≤ α_i ≤ 1. The
    α_i and α₀ are piecewise linear in λ; `fit` finds the breakpoints by
    walking down from λ=∞ (Hastie et al. 2004). Ties, duplicates and dependent elbows, where the
    plain algorithm breaks down, are settled by the quadratic program whose solution is the direction of the path.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"}, Kernel or callable, default="rbf"
    gamma, degree, coef0
        Of a kernel given by name, as in scikit-learn's ``SVC``; see :func:`~learnable.kernels.named.named_kernel`.
    fit_intercept : bool, default=True
    lam_min : float, default=1e-6
        Where to stop, relative to the mean diagonal entry of the kernel matrix.
    eps : float, default=1e-10
        Relative tolerance for two events to be one.
    max_iter : int, optional
        Events at most (default ``200 n + 1000``); reaching it warns.

    Attributes
    ----------
    lambdas_ : ndarray (s,)
        Breakpoints, decreasing.
    alpha0_, beta0_ : ndarray (s,)
        α₀ and the intercept α₀/λ there.
    events_ : list of (str, int)
        What happened at each breakpoint and to which point.
    elbow_sizes_ : ndarray (s,)
        Points that move between this breakpoint and the next.
    n_errors_, sum_slack_, norm_beta_ : ndarray (s,)
        Training errors, sum of the slacks and norm of the weight vector there. The norm is the root of a difference
        of order lambda^2: where lambda is near `lam_min` few of its digits are left.
    separable_ : bool
        The walk ended because no point was left inside the margin: the last machine is the hard-margin one.
    classes_ : ndarray (2,)

    Notes
    -----
    Cost: O(n m + m^2) an event for an elbow of m points, and O(n^2) memory for the kernel matrix. The coefficients are
    stored as changes, O(sum of m); `alphas_` makes the dense table on demand.

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [0.5], [-0.5]])
    >>> y = np.array([-1, -1, 1, 1, -1, 1])
    >>> path = SVMPath(kernel="linear").fit(X, y)
    >>> path.lambdas_.round(3).tolist()[:2]
    [10.0, 2.0]
    >>> float(path.alpha_at(5.0).sum().round(6))
    4.75
    """

    _depends_on_units = ONE_DISTANCE

    def __init__(
        self, kernel="rbf", *, gamma="scale", degree=3, coef0=0.0, fit_intercept=True, lam_min=1e-6, eps=1e-10,
        max_iter=None,
    ):  # fmt: skip
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.lam_min = lam_min
        self.eps = eps
        self.max_iter = max_iter

    def fit(self, X, y):
        """Walk the whole path down."""
        self._begin(X, y)
        walk = Walk(self._K, self._y, self._intercept, self._eps, self._limit)
        walk.start_at_infinity(self._least)
        walk.run(+1, self._least)
        return self._store(walk)

    def from_solution(self, X, y, lam, alpha=None, *, walk="down"):
        """Start at a known solution (or at the one found by SMO) at `lam`, and walk down, up, or both ways.

        Parameters
        ----------
        X, y : arrays
        lam : float
        alpha : array (n,), optional
            The solution's multipliers in [0, 1]; found by the solver if not given, and polished in any case.
        walk : {"down", "up", "both"}, default="down"

        Returns
        -------
        self
            With the breakpoints on the side(s) walked.
        """
        self._begin(X, y)
        lam = check_scalar(lam, "lam", low=0.0, closed="neither")
        check_choice(walk, "walk", ("down", "up", "both"))
        found = []
        for sense in (-1, +1):
            if walk == ("down" if sense < 0 else "up"):
                continue
            leg = Walk(self._K, self._y, self._intercept, self._eps, self._limit)
            leg.start_from(lam, alpha)
            leg.run(sense, np.inf if sense < 0 else self._least)
            found.append(leg)
        if len(found) == 1 and walk == "up":
            found[0].reverse()
        elif len(found) == 2:
            found[0].reverse()
            found = [found[0].join(found[1])]
        return self._store(found[0])

    def _begin(self, X, y):
        X, self._y = self._signed_data(X, y)
        least = check_scalar(self.lam_min, "lam_min", low=0.0, closed="neither")
        self._eps = check_scalar(self.eps, "eps", low=0.0, high=1e-3, closed="neither")
        if self.max_iter is None:
            self._limit = 200 * self._y.size + 1000
        else:
            self._limit = check_scalar(self.max_iter, "max_iter", low=1, integer=True)
        self.kernel_ = self._named_kernel(X)
        self._intercept = bool(self.fit_intercept)
        self._centre = far_centre(self.kernel_, X) if self._intercept else None
        X = self._centred(X)
        with np.errstate(over="ignore"):
            self._K = np.ascontiguousarray(self.kernel_(X), dtype=float)
        check_magnitude(np.diag(self._K), "the diagonal of the kernel matrix")
        self._X = None if isinstance(self.kernel_, Precomputed) else X
        scale = float(np.mean(np.diag(self._K)))
        if scale <= 0.0:
            raise ValueError("the kernel vanishes on all points: there is nothing to separate them by")
        self._least = least * scale

    def _store(self, walk):
        walk.finish()
        self.lambdas_ = np.array(walk.lams)
        self._offsets = np.array(walk.offsets)
        self.events_ = [(EVENTS[k], int(i)) for k, i in zip(walk.kinds, walk.points, strict=True)]
        self._first = walk.first
        self._starts, self._moved, self._after = walk.starts, walk.moved, walk.after
        before, sizes = walking.replay(self._first, self._moved, self._after, self._starts)
        self._change = self._y[self._moved] * (self._after - before)
        self.alpha0_ = self._offsets if self._centre is None else self._along(-self._centre[None])[:, 0] * self.lambdas_
        self.beta0_ = self.alpha0_ / self.lambdas_
        self.elbow_sizes_ = np.append(sizes[1:], 0)
        self.n_errors_ = walk.facts[:, 0].astype(int)
        self.sum_slack_, self.norm_beta_ = walk.facts[:, 1].copy(), walk.facts[:, 2].copy()
        self.separable_ = walk.separable
        self.n_steps_ = self.lambdas_.size - 1
        self.n_iter_ = max(self.n_steps_, 1)
        return self

    @property
    def alphas_(self):
        """Dense table of the multipliers, one row a breakpoint."""
        check_is_fitted(self, "lambdas_")
        out = np.empty((self.lambdas_.size, self._y.size))
        alpha = self._first.copy()
        for k in range(self.lambdas_.size):
            if k:
                part = slice(self._starts[k - 1], self._starts[k])
                alpha[self._moved[part]] = self._after[part]
            out[k] = alpha
        return out

    def _locate(self, lam):
        """Segment of lam and the position in it: 0 at its upper end, 1 at its lower."""
        lam = check_scalar(lam, "lam", low=0.0, closed="neither")
        lambdas = self.lambdas_
        if lam >= lambdas[0]:
            return 0, 0.0, lam
        if lam <= lambdas[-1]:
            if lam < lambdas[-1] * (1.0 - 1e-12) and not self.separable_:
                raise ValueError(f"the path ends at lambda = {lambdas[-1]:g}; fit with a smaller lam_min")
            return lambdas.size - 1, 0.0, lam
        k = int(np.searchsorted(-lambdas, -lam, side="right")) - 1
        return k, (lambdas[k] - lam) / (lambdas[k] - lambdas[k + 1]), lam

    def alpha_at(self, lam):
        """Multipliers at any lambda: linear between breakpoints, constant above the first, proportional to lambda below
        the last one of a separable problem."""
        check_is_fitted(self, "lambdas_")
        return self._solution_at(lam)[0]

    def _solution_at(self, lam):
        k, share, lam = self._locate(lam)
        alpha = self._first.copy()
        alpha[self._moved[: self._starts[k]]] = self._after[: self._starts[k]]
        offset = self._offsets[k]
        if share > 0.0:
            part = slice(self._starts[k], self._starts[k + 1])
            index = np.unique(self._moved[part])
            reached = alpha.copy()
            reached[self._moved[part]] = self._after[part]
            alpha[index] += share * (reached[index] - alpha[index])
            offset += share * (self._offsets[k + 1] - offset)
        elif lam > self.lambdas_[0]:
            offset = self._offset_above(lam)
        elif lam < self.lambdas_[-1]:
            alpha, offset = alpha * lam / self.lambdas_[-1], offset * lam / self.lambdas_[-1]
        return alpha, float(offset)

    def _offset_above(self, lam):
        """An optimal a0 above the first breakpoint: the one nearest to that of the breakpoint."""
        if not self._intercept:
            return 0.0
        g = self._K @ (self._y * self._first)
        low, high = offset_range(g, self._y, self._first, lam)
        return float(np.clip(self._offsets[0], low, high)) if low <= high else 0.5 * (low + high)

    def _knots_above(self, largest):
        """Where the offset above the first breakpoint bends, and a lambda above which no sign of f changes any more
        at points with |g| <= `largest`."""
        top, a0 = self.lambdas_[0], self._offsets[0]
        if not self._intercept:
            return [top]
        g = self._K @ (self._y * self._first)
        resting = self._first <= 0.0
        bends = [a0 + g[resting & (self._y > 0)].min(initial=np.inf)]
        bends += [-a0 - g[resting & (self._y < 0)].max(initial=-np.inf)]
        far = 4.0 * (largest + np.abs(g).max() + abs(a0) + top)
        return sorted([far, top] + [b for b in bends if top < b < far], reverse=True)

    def decision_function(self, X, lam=None):
        """f at one lambda (default: the last breakpoint)."""
        check_is_fitted(self, "lambdas_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        lam = self.lambdas_[-1] if lam is None else lam
        alpha, offset = self._solution_at(lam)
        support = np.flatnonzero(alpha)
        return (self._cross(self._centred(X), support) @ (self._y * alpha)[support] + offset) / float(lam)

    def _centred(self, X):
        return X if self._centre is None else X - self._centre

    def _cross(self, X, index):
        return X[:, index] if self._X is None else self.kernel_(X, self._X[index])

    def path_decision(self, X):
        """f at every breakpoint, shape (s, n_points): O(sum of elbow sizes) a point after one kernel matrix."""
        check_is_fitted(self, "lambdas_")
        return self._along(self._centred(validate_data(self, X, reset=False, dtype=np.float64)))

    def _along(self, X):
        """f at every breakpoint, at points in the coordinates of the fit."""
        cross = X if self._X is None else self.kernel_(X, self._X)
        value = cross @ (self._y * self._first)
        out = np.empty((self.lambdas_.size, X.shape[0]))
        columns = np.ascontiguousarray(cross.T, dtype=float)
        walking.accumulate(value, columns, self._moved, self._change, self._starts, self.lambdas_, self._offsets, out)
        return out

    def predict(self, X, lam=None):
        """Labels at one lambda (default: the last breakpoint)."""
        return self._decide(self.decision_function(X, lam))

    def coef_path(self, lam):
        """Weight vector of the linear kernel at `lam`."""
        check_is_fitted(self, "lambdas_")
        if not isinstance(self.kernel_, Linear) or self.kernel_.A is not None:
            raise ValueError("a weight vector exists for the linear kernel only")
        return (self._y * self.alpha_at(lam)) @ self._X / float(lam)

    def kkt_residual(self, lam):
        """Largest violation of the optimality conditions at `lam`, in units of y f (and of alpha for the balance)."""
        check_is_fitted(self, "lambdas_")
        alpha, offset = self._solution_at(lam)
        margins = self._y * (self._K @ (self._y * alpha) + offset) / lam
        free = (alpha > 0.0) & (alpha < 1.0)
        worst = max(
            np.abs(margins[free] - 1.0).max(initial=0.0),
            (1.0 - margins[alpha <= 0.0]).max(initial=0.0),
            (margins[alpha >= 1.0] - 1.0).max(initial=0.0),
        )
        return float(max(worst, abs(self._y @ alpha)) if self._intercept else worst)
