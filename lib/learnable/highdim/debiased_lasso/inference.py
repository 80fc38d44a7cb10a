r"""Debiasing, and what follows from it: standard errors, intervals, p-values, regions, family-wise control."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.highdim.debiased_lasso.coherence import default_mu
from learnable.highdim.debiased_lasso.influence import bounded_decorrelating_matrix
from learnable.highdim.debiased_lasso.programme import decorrelate
from learnable.highdim.debiased_lasso.scaled import _Problem, fit_scaled, universal_lam0
from learnable.selection.multiple_tests import holm_pvalues
from learnable.validation import (
    Summary,
    check_finite_array,
    check_number_or_word,
    check_probabilities,
    check_scalar,
)


def two_sided_pvalues(coef, stderr):
    """2 (1 - Phi(abs(coef) / stderr)), with all its digits in the far tail (35).

    Parameters
    ----------
    coef : array-like of shape (k,)
    stderr : array-like of shape (k,)
        Positive.

    Examples
    --------
    >>> [f"{P:.3g}" for P in two_sided_pvalues([1.96, 10.0], [1.0, 1.0])]
    ['0.05', '1.52e-23']
    """
    coef, stderr = check_finite_array(coef, "coef"), check_finite_array(stderr, "stderr")
    if (stderr <= 0).any():
        raise ValueError(f"stderr must be positive, got {stderr.min():g}")
    return 2 * special.ndtr(-np.abs(coef) / stderr)


def adjust_pvalues(pvalues, correction):
    """p-values adjusted for testing them all: reject where the adjusted one is at most the family-wise level.

    "bonferroni" multiplies by the number of tests, "holm" steps down and is never less powerful; ``None`` does nothing.

    Parameters
    ----------
    pvalues : array-like of shape (k,)
    correction : {"bonferroni", "holm"} or None

    Examples
    --------
    >>> adjust_pvalues([0.01, 0.04, 0.02], "holm").round(6).tolist()
    [0.03, 0.04, 0.04]
    """
    pvalues = check_probabilities(check_finite_array(pvalues, "pvalues", ndim=1), "pvalues")
    if correction is None:
        return pvalues.copy()
    if correction == "bonferroni":
        return np.minimum(1.0, pvalues.size * pvalues)
    if correction == "holm":
        return holm_pvalues(pvalues)
    raise ValueError(f"correction must be None, 'bonferroni' or 'holm', got {correction!r}")


def robust_sigma(coef, variance, n):
    r"""Noise level from the debiased coefficients themselves, most of which are noise around zero.

    The scale of √nθ̂^u_i/√([MΣ̂ M']_ii) by the median absolute value (times
    1.4826), then the root mean square of those below three times that.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(scale=2.0, size=2000)
    >>> round(robust_sigma(z / 10, np.ones(2000), 100), 1)
    2.0
    """
    scaled = np.sqrt(n) * check_finite_array(coef, "coef", ndim=1) / np.sqrt(check_finite_array(variance, "variance"))
    spread = 1.4826022 * np.median(np.abs(scaled))
    inner = scaled[np.abs(scaled) <= 3 * spread]
    # A normal law cut at three standard deviations has variance 0.9733.
    return float(np.sqrt(np.mean(inner**2) / 0.97334))


@dataclass(frozen=True)
class ConfidenceRegion:
    """The ellipsoid of all t with (t - center)' covariance^-1 (t - center) <= radius2 (48).

    Attributes
    ----------
    center : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
    radius2 : float
        Quantile of the chi-squared law with k degrees of freedom.

    Examples
    --------
    >>> region = ConfidenceRegion(np.zeros(2), np.eye(2), 5.99)
    >>> region.contains([1.0, 2.0]), region.contains([2.0, 2.0])
    (True, False)
    """

    center: np.ndarray
    covariance: np.ndarray
    radius2: float

    def distance2(self, theta):
        """Squared Mahalanobis distance of `theta` from the centre."""
        gap = check_finite_array(theta, "theta", ndim=1) - self.center
        return float(gap @ np.linalg.solve(self.covariance, gap))

    def contains(self, theta):
        """Whether `theta` lies in the region."""
        return self.distance2(theta) <= self.radius2

    def outline(self, n_points=100):
        """Points (n_points, 2) on the boundary of a two-dimensional region."""
        if self.center.size != 2:
            raise ValueError(f"only a region of two coefficients has an outline, this one has {self.center.size}")
        angle = np.linspace(0, 2 * np.pi, n_points)
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        return self.center + np.sqrt(self.radius2) * circle @ np.linalg.cholesky(self.covariance).T


class DebiasedLasso(RegressorMixin, BaseEstimator):
    r"""Confidence intervals and p-values for single coefficients, also for more coefficients than observations.

    Javanmard and Montanari 2014, Algorithm 1 and (32)-(36): scaled lasso for the noise, lasso, decorrelating matrix,
    one-step correction. Valid for large n when the number of nonzero coefficients is far below
    √n/log p, with no assumption on the inverse covariance.

    Cost O(n p²) for the covariance, then O(p²) a sweep for each row of M.

    Parameters
    ----------
    mu : float or {"adaptive", "paper"}, default="adaptive"
        Bound on the coherence of each row, in the units of standardised columns. "paper" is 2 sqrt(log p / n), which
        often leaves M diagonal and too much bias; "adaptive" divides the start by 1.3, row by row, for as long as the
        row has a solution, at most `n_tries` times (:func:`decorrelate`).
    alpha : float or {"universal", "paper"}, default="universal"
        Lasso penalty: sigma sqrt(2 log p / n), or four times that.
    lam0 : float or {"universal", "paper"}, default="universal"
        Penalty of the scaled lasso: sqrt(2 log p / n), or ten times that, which overestimates sigma badly where
        there is signal.
    sigma : float or {"scaled", "robust"}, default="scaled"
        Noise level: known, by the scaled lasso, or by ``robust_sigma``.
    rows : sequence of int, optional
        Coefficients to make inference on; all by default.
    n_tries : int, default=6
        How often "adaptive" may divide mu by 1.3. The authors' programme goes on to 10: less bias, but intervals that
        are easily a quarter longer.
    unit_diagonal : bool, default=False
        Divide each row m of M by its own entry m'Sigma e_i, which the programme leaves at 1 - mu. With False, as in the
        paper, a coefficient keeps the share mu of the lasso's error in itself, which is always towards zero; with True
        nothing of it, for intervals longer by 1 / (1 - mu) (the scaling of Zhang and Zhang 2014).
    influence : float, optional
        Exponent beta of the bound abs(Xm) <= n^beta for noise that is not Gaussian, such as 0.4.
    standardize : bool, default=True
        Solve with columns of unit mean square; results are in the original units.
    fit_intercept : bool, default=True
        Centre X and y.
    n_jobs : int, default=1
        Threads for the rows of M.

    Attributes
    ----------
    coef_ : ndarray of shape (k,)
        Debiased coefficients of ``rows_``.
    stderr_, pvalues_ : ndarray of shape (k,)
    coef_lasso_ : ndarray of shape (p,)
    M_ : ndarray of shape (k, p)
    mu_ : ndarray of shape (k,)
    variance_ : ndarray of shape (k,)
        Diagonal of M Sigma M'.
    sigma_, lam_, intercept_ : float
    rows_ : ndarray of shape (k,)

    Notes
    -----
    M depends on X alone; :meth:`refit` reuses it for another response.

    What can be promised: the theory wants s log p far below √n for s nonzero coefficients. For 71 observations of 4,088
    columns √n / log p is 1, so that nothing is promised, and mu near 0.3 is the best that the search finds. In a
    simulation of that size (3 coefficients of one standard deviation of the noise) intervals at 95 % covered 0.6 of the
    nonzero coefficients and 0.95 of the others, because the former keep 0.3 of the lasso's error; with
    ``unit_diagonal=True`` they covered 0.96 of both. `fit` warns where that part of the error exceeds three standard
    errors, or one where √n < 1.25 log p.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 120))
    >>> y = 2 * X[:, 3] + rng.standard_normal(80)
    >>> model = DebiasedLasso().fit(X, y)
    >>> np.flatnonzero(model.test(0.05, "holm")).tolist()
    [3]
    >>> bool(model.conf_int()[3, 0] < 2 < model.conf_int()[3, 1])
    True
    """

    def __init__(
        self,
        mu="adaptive",
        alpha="universal",
        lam0="universal",
        sigma="scaled",
        *,
        rows=None,
        n_tries=6,
        unit_diagonal=False,
        influence=None,
        standardize=True,
        fit_intercept=True,
        n_jobs=1,
    ):
        self.mu = mu
        self.alpha = alpha
        self.lam0 = lam0
        self.sigma = sigma
        self.rows = rows
        self.n_tries = n_tries
        self.unit_diagonal = unit_diagonal
        self.influence = influence
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Fit the lasso, solve for M, debias. The rows of M cost far more than the rest."""
        self._from_frame = type(X).__module__.split(".")[0] == "pandas"
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=3)
        y = np.asarray(y, dtype=np.float64)
        n, p = X.shape
        self._check_settings()
        self.x_mean_ = X.mean(axis=0) if self.fit_intercept else np.zeros(p)
        Z = X - self.x_mean_
        scale = np.sqrt(np.einsum("ij,ij->j", Z, Z) / n)
        flat = np.flatnonzero(scale <= 1e-12 * np.sqrt(np.einsum("ij,ij->j", X, X) / n))
        if flat.size:
            raise ValueError(
                f"X must not have constant columns, but column {flat[0]} is one: its coefficient cannot be told from "
                "the intercept; leave it out"
            )
        self.scale_ = scale if self.standardize else np.ones(p)
        Z /= self.scale_
        self._Z, self._gram = Z, Z.T @ Z / n
        self._solve_for_M()
        return self._infer(y)

    def refit(self, y):
        """Repeat everything but M for another response `y` on the same X; for simulations and many responses."""
        check_is_fitted(self, "M_")
        y = check_finite_array(y, "y", ndim=1)
        if y.size != len(self._Z):
            raise ValueError(f"y must have {len(self._Z)} entries, got {y.size}")
        return self._infer(y)

    def conf_int(self, alpha=0.05):
        """Intervals that cover each coefficient with probability 1 - alpha, one at a time (32).

        Parameters
        ----------
        alpha : float, default=0.05

        Returns
        -------
        ndarray of shape (k, 2), or DataFrame
            After a fit to a pandas frame, a frame with the columns "lower" and "upper" and the names of the variables.
        """
        check_is_fitted(self, "coef_")
        alpha = check_scalar(alpha, "alpha", low=0, high=1, closed="neither")
        half = -special.ndtri(alpha / 2) * self.stderr_
        intervals = np.column_stack([self.coef_ - half, self.coef_ + half])
        if not (self._from_frame and hasattr(self, "feature_names_in_")):
            return intervals
        import pandas as pd

        return pd.DataFrame(intervals, index=self.feature_names_in_[self.rows_], columns=["lower", "upper"])

    def test(self, alpha=0.05, correction=None):
        """Which hypotheses theta_i = 0 to reject; with "bonferroni" or "holm" at family-wise level alpha (51)."""
        check_is_fitted(self, "coef_")
        alpha = check_scalar(alpha, "alpha", low=0, high=1, closed="neither")
        return adjust_pvalues(self.pvalues_, correction) <= alpha

    def summary(self, alpha=0.05, correction="holm", max_rows=20):
        """What a report shows: the coefficients with the smallest p-values, their intervals, and what was assumed.

        Parameters
        ----------
        alpha : float, default=0.05
            Intervals cover with probability 1 - alpha, one at a time.
        correction : {"holm", "bonferroni", None}, default="holm"
            For the second column of p-values.
        max_rows : int, default=20

        Returns
        -------
        Summary

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((80, 120))
        >>> print(DebiasedLasso().fit(X, 2 * X[:, 3] + rng.standard_normal(80)).summary(max_rows=1).splitlines()[0])
        Debiased lasso: 80 observations, 120 columns, inference on 120
        """
        check_is_fitted(self, "coef_")
        max_rows = check_scalar(max_rows, "max_rows", low=1, integer=True)
        intervals = np.asarray(self.conf_int(alpha))
        adjusted = adjust_pvalues(self.pvalues_, correction)
        names = getattr(self, "feature_names_in_", np.arange(len(self.coef_lasso_)))[self.rows_]
        shown = np.argsort(self.pvalues_, kind="stable")[:max_rows]
        rows = [
            [
                str(names[k]),
                f"{self.coef_[k]:.4g}",
                f"{self.stderr_[k]:.3g}",
                f"{intervals[k, 0]:.4g}",
                f"{intervals[k, 1]:.4g}",
                f"{self.pvalues_[k]:.2g}",
                f"{adjusted[k]:.2g}",
            ]
            for k in shown
        ]
        n, p = len(self._Z), len(self.coef_lasso_)
        heads = [
            "column",
            "coef",
            "std err",
            f"[{alpha / 2:.3g}",
            f"{1 - alpha / 2:.3g}]",
            "p",
            correction or "p again",
        ]
        left = len(self.coef_) - len(shown)
        notes = [
            f"{int((adjusted <= alpha).sum())} of {len(self.coef_)} differ from zero at level {alpha:g} "
            f"({correction or 'no correction'}); noise {self.sigma_:.3g}, penalty {self.lam_:.3g}."
            + (f" {left} with larger p-values are not shown." if left else ""),
            f"Intervals rest on a sparse truth: far fewer than sqrt(n) / log p = {np.sqrt(n) / np.log(max(p, 2)):.2g} "
            "nonzero coefficients.",
        ]
        title = f"Debiased lasso: {n} observations, {p} columns, inference on {len(self.coef_)}"
        return Summary.table(title, heads, rows, notes)

    def confidence_region(self, R, alpha=0.05):
        """Ellipsoid for several coefficients at once; `R` holds positions among ``rows_`` (Lemma 19)."""
        check_is_fitted(self, "coef_")
        alpha = check_scalar(alpha, "alpha", low=0, high=1, closed="neither")
        R = np.atleast_1d(np.asarray(R))
        if (
            R.size == 0
            or R.dtype.kind not in "iu"
            or R.min() < 0
            or R.max() >= self.coef_.size
            or np.unique(R).size < R.size
        ):
            raise ValueError(f"R must hold different positions between 0 and {self.coef_.size - 1}, got {R!r}")
        A = self._scaled_M[R]
        D = self.scale_[self.rows_[R]]
        Q = self.sigma_**2 * (A @ self._gram @ A.T) / np.multiply.outer(D, D) / len(self._Z)
        return ConfidenceRegion(self.coef_[R], 0.5 * (Q + Q.T), float(special.chdtri(R.size, alpha)))

    def decompose(self, theta0, W):
        """:func:`decompose` for this fit; the identity holds for ``coef_ - theta0[rows_]``."""
        check_is_fitted(self, "coef_")
        theta0 = check_finite_array(theta0, "theta0", ndim=1)
        X = self._Z * self.scale_
        return decompose_rows(theta0, check_finite_array(W, "W", ndim=1), X, self.M_, self.coef_lasso_, self.rows_)

    def predict(self, X):
        """Predictions of the lasso, which predicts better than the debiased coefficients do."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coef_lasso_ + self.intercept_

    def _check_settings(self):
        check_number_or_word(self.mu, "mu", ("adaptive", "paper"), low=0, high=1, closed="left")
        check_number_or_word(self.alpha, "alpha", ("universal", "paper"), low=0)
        check_number_or_word(self.lam0, "lam0", ("universal", "paper"), low=0, closed="neither")
        check_number_or_word(self.sigma, "sigma", ("scaled", "robust"), low=0, closed="neither")

    def _solve_for_M(self):
        n, p = self._Z.shape
        start = default_mu(p, n) if self.mu == "adaptive" else default_mu(max(p, 2), n, a=2)
        mu = start if isinstance(self.mu, str) else self.mu
        search = {"adaptive_mu": self.mu == "adaptive", "n_tries": self.n_tries}
        found = decorrelate(self._gram, mu, self.rows, tol=1e-6, n_jobs=self.n_jobs, **search)
        self._scaled_M, self.mu_ = found.M, found.mu
        self.rows_ = np.arange(p) if self.rows is None else np.atleast_1d(np.asarray(self.rows, dtype=np.int64))
        if self.influence is not None:
            self._scaled_M, _ = bounded_decorrelating_matrix(self._Z, found.mu, self.rows_, beta=self.influence)
        self._own = np.einsum("ij,ji->i", self._scaled_M, self._gram[:, self.rows_])
        if self.unit_diagonal:
            if (self._own <= 0).any():
                row = self.rows_[np.argmin(self._own)]
                raise ValueError(f"unit_diagonal=True cannot scale row {row} of M, whose own entry is not positive")
            self._scaled_M = self._scaled_M / self._own[:, None]
            self._own = np.ones_like(self._own)
        A = self._scaled_M
        D = self.scale_[self.rows_]
        self.M_ = A / np.multiply.outer(D, self.scale_)
        self._scaled_variance = np.einsum("ij,ij->i", A @ self._gram, A)
        self.variance_ = self._scaled_variance / D**2

    def _infer(self, y):
        n, p = self._Z.shape
        y_mean = y.mean() if self.fit_intercept else 0.0
        centred = y - y_mean
        problem = _Problem(self._Z, centred, self._gram)
        theta, sigma = None, self.sigma
        if isinstance(self.sigma, str) or self.alpha == "universal" or self.alpha == "paper":
            lam0 = universal_lam0(p, n, self.lam0) if isinstance(self.lam0, str) else float(self.lam0)
            if isinstance(self.sigma, str):
                first = fit_scaled(problem, lam0)
                theta, sigma = first.coef, first.sigma
        if isinstance(self.alpha, str):
            lam = (4 if self.alpha == "paper" else 1) * sigma * universal_lam0(p, n)
        else:
            lam = float(self.alpha)
        theta = problem.solve(lam, np.zeros(p) if theta is None else theta)
        residual = centred - self._Z @ theta
        debiased = theta[self.rows_] + self._scaled_M @ (self._Z.T @ residual) / n
        if self.sigma == "robust":
            sigma = robust_sigma(debiased, self._scaled_variance, n)
        D = self.scale_[self.rows_]
        self.sigma_, self.lam_ = float(sigma), float(lam)
        self.coef_lasso_ = theta / self.scale_
        self.coef_ = debiased / D
        self.stderr_ = self.sigma_ * np.sqrt(self.variance_ / n)
        self.pvalues_ = two_sided_pvalues(self.coef_, self.stderr_)
        self._report_own_bias((debiased - theta[self.rows_]) / D)
        self.intercept_ = float(y_mean - self.x_mean_ @ self.coef_lasso_)
        return self

    def _report_own_bias(self, correction):
        """Warn where a row that is not scaled takes back too little of the lasso's error in its own coefficient.

        The correction of row m is m'Sigma e_i times that error, and noise; what is missing follows from dividing by it.
        """
        missing = np.abs(correction) * np.maximum(1.0 / np.maximum(self._own, 1e-300) - 1.0, 0.0)
        n, p = self._Z.shape
        # Where the theory allows for hardly one nonzero coefficient, a standard error is enough to say so.
        biased = np.flatnonzero(missing > self.stderr_ * (1.0 if np.sqrt(n) < 1.25 * np.log(p) else 3.0))
        if biased.size:
            worst = biased[np.argmax(missing[biased] / self.stderr_[biased])]
            warnings.warn(
                f"{biased.size} of {self.coef_.size} coefficients keep a part of the lasso's bias that exceeds their "
                f"standard error (coefficient {self.rows_[worst]}: about {missing[worst] / self.stderr_[worst]:.1f} "
                "times), because mu is large: their intervals are too near to zero. Take unit_diagonal=True, or more "
                "observations",
                ConvergenceWarning,
                stacklevel=3,
            )


def decompose_rows(theta0, W, X, M, theta, rows):
    """:func:`decompose` for some rows of M."""
    n = len(W)
    gap = theta0 - theta
    return M @ (X.T @ W) / np.sqrt(n), np.sqrt(n) * (M @ (X.T @ (X @ gap)) / n - gap[rows])
