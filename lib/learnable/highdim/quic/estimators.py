"""The solution along a sequence of penalties, and estimators in the manner of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from sklearn.covariance import EmpiricalCovariance, empirical_covariance
from sklearn.model_selection import check_cv
from sklearn.utils.validation import validate_data

from learnable.highdim.quic.problem import penalty_matrix
from learnable.highdim.quic.solver import QUIC
from learnable.linalg._training import training_covariance
from learnable.linalg.precision import factor, factor_logdet
from learnable.validation import Result, check_finite_array, check_scalar, check_symmetric
from learnable.validation.tags import ONE_PENALTY


@dataclass(frozen=True, eq=False)
class QUICPath(Result):
    """Solutions along decreasing penalties; entry k belongs to ``alphas[k]``."""

    alphas: np.ndarray
    precisions: list
    covariances: list
    histories: list


def max_penalty(covariance):
    """The smallest penalty with a diagonal solution, max |S_ij| over i != j.

    Examples
    --------
    >>> max_penalty([[1, -0.5], [-0.5, 1]])
    0.5
    """
    covariance = np.abs(check_symmetric(covariance, "covariance"))
    return float(np.max(covariance - np.diag(np.diagonal(covariance))))


def quic_path(S, alphas=10, *, penalize_diagonal=False, ratio=0.01, **options):
    """Solve along decreasing penalties, each started at the solution before.

    Parameters
    ----------
    S : array-like of shape (p, p)
    alphas : int or array-like, default=10
        Penalties, sorted to decrease; a number asks for as many between ``max_penalty`` and `ratio` times it,
        equally spaced on a logarithmic scale.
    penalize_diagonal : bool, default=False
    ratio : float, default=0.01
    **options
        Passed to :func:`QUIC`: ``tol``, ``max_iter``, ``sweeps``, ...

    Returns
    -------
    QUICPath

    Examples
    --------
    >>> S = np.array([[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]])
    >>> [history.n_nonzero[-1].item() for history in quic_path(S, [0.05, 0.3, 0.6]).histories]
    [3, 5, 7]
    """
    S = check_symmetric(S, "S")
    alphas = _grid(alphas, [S], ratio)
    X = W = None
    found = []
    for lam in alphas:
        X, W, history = QUIC(S, penalty_matrix(lam, len(S), penalize_diagonal=penalize_diagonal), X, W, **options)
        found.append((X, W, history))
    return QUICPath(alphas, *(list(part) for part in zip(*found, strict=True)))


class GraphicalLassoQUIC(EmpiricalCovariance):
    r"""Sparse inverse covariance by an l1 penalty, computed with QUIC.

    Minimises -log det Θ + tr(SΘ) + Σ_ijλ_ij|Θ_ij| with S the
    covariance of the data with divisor n, as in scikit-learn (Hsieh et al. 2014 divide by n - 1).

    Cost O(p³) a Newton step, of which few are needed.

    Parameters
    ----------
    alpha : float or array-like of shape (p, p), default=0.01
        Penalty; a matrix gives each entry its own and overrides `penalize_diagonal`.
    penalize_diagonal : bool, default=False
    assume_centered : bool, default=False
        The data have mean zero.
    covariance : None or "precomputed"
        With "precomputed", `fit` takes a covariance matrix.
    tol, max_iter, sweeps
        See :func:`QUIC`.

    Attributes
    ----------
    covariance_, precision_ : ndarray of shape (p, p)
        The estimate and its sparse inverse.
    location_ : ndarray of shape (p,)
    n_iter_ : int
        Newton steps.
    history_ : QUICHistory
    dual_gap_ : float

    Examples
    --------
    >>> from learnable.datasets import make_gaussian_graph
    >>> made = make_gaussian_graph("chain", 500, p=8, random_state=0)
    >>> model = GraphicalLassoQUIC(alpha=0.4).fit(made.data)
    >>> bool(((model.precision_ != 0) == (made.precision != 0)).all())
    True
    """

    _depends_on_units = ONE_PENALTY

    def __init__(
        self,
        alpha=0.01,
        *,
        penalize_diagonal=False,
        assume_centered=False,
        covariance=None,
        tol=1e-8,
        max_iter=100,
        sweeps="adaptive",
    ):
        super().__init__(assume_centered=assume_centered)
        self.alpha = alpha
        self.penalize_diagonal = penalize_diagonal
        self.covariance = covariance
        self.tol = tol
        self.max_iter = max_iter
        self.sweeps = sweeps

    def fit(self, X, y=None):
        """Estimate the precision matrix of the rows of `X`, or of a covariance matrix if it is precomputed."""
        S = training_covariance(self, X)
        self._solve(S, self.alpha)
        return self

    def _solve(self, S, alpha):
        if np.ndim(alpha) == 0:
            alpha = check_scalar(alpha, "alpha", low=0)
            alpha = penalty_matrix(alpha, len(S), penalize_diagonal=self.penalize_diagonal)
        self.precision_, self.covariance_, self.history_ = QUIC(
            S, alpha, tol=self.tol, max_iter=self.max_iter, sweeps=self.sweeps
        )
        self.n_iter_, self.dual_gap_ = self.history_.n_iter, self.history_.gap


class GraphicalLassoQUICCV(GraphicalLassoQUIC):
    """:class:`GraphicalLassoQUIC` with the penalty of the largest held-out likelihood.

    On each fold the whole path is solved with warm starts; then the chosen penalty is solved on all data.

    Parameters
    ----------
    alphas : int or array-like, default=10
        Penalties, or how many to place between ``ratio`` times the largest useful penalty and it.
    ratio : float, default=0.05
    cv : int, splitter or iterable, default=None
        Five folds by default.
    penalize_diagonal, assume_centered, tol, max_iter, sweeps
        As in :class:`GraphicalLassoQUIC`.
    n_jobs : int, optional
        Folds at the same time, through joblib.

    Attributes
    ----------
    alpha_ : float
    cv_results_ : dict
        ``alphas``, ``mean_test_score``, ``std_test_score`` and ``split<k>_test_score``: mean held-out log-likelihoods
        per observation.
    covariance_, precision_, location_, n_iter_, history_, dual_gap_
        Of the final fit.

    Examples
    --------
    >>> from learnable.datasets import make_gaussian_graph
    >>> made = make_gaussian_graph("chain", 200, p=8, random_state=0)
    >>> model = GraphicalLassoQUICCV(alphas=5).fit(made.data)
    >>> bool(0 < model.alpha_ < 0.5)
    True
    """

    _depends_on_units = ONE_PENALTY

    def __init__(
        self,
        *,
        alphas=10,
        ratio=0.05,
        cv=None,
        penalize_diagonal=False,
        assume_centered=False,
        tol=1e-8,
        max_iter=100,
        sweeps="adaptive",
        n_jobs=None,
    ):
        super().__init__(
            penalize_diagonal=penalize_diagonal,
            assume_centered=assume_centered,
            tol=tol,
            max_iter=max_iter,
            sweeps=sweeps,
        )
        self.alphas = alphas
        self.ratio = ratio
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Choose the penalty by cross-validation and estimate with it."""
        X = validate_data(self, X, ensure_min_samples=2)
        folds = list(check_cv(self.cv).split(X))
        S = empirical_covariance(X, assume_centered=self.assume_centered)
        alphas = _grid(self.alphas, [S], self.ratio)
        scores = np.column_stack(
            Parallel(n_jobs=self.n_jobs)(delayed(self._fold)(X[train], X[test], alphas) for train, test in folds)
        )
        self.cv_results_ = {
            "alphas": alphas,
            "mean_test_score": scores.mean(axis=1),
            "std_test_score": scores.std(axis=1),
            **{f"split{k}_test_score": column for k, column in enumerate(scores.T)},
        }
        self.alpha_ = float(alphas[scores.mean(axis=1).argmax()])
        self.location_ = np.zeros(X.shape[1]) if self.assume_centered else X.mean(axis=0)
        self._solve(S, self.alpha_)
        return self

    def _fold(self, train, test, alphas):
        mean = np.zeros(train.shape[1]) if self.assume_centered else train.mean(axis=0)
        S = empirical_covariance(train - mean, assume_centered=True)
        held_out = empirical_covariance(test - mean, assume_centered=True)
        options = {"tol": self.tol, "max_iter": self.max_iter, "sweeps": self.sweeps}
        path = quic_path(S, alphas, penalize_diagonal=self.penalize_diagonal, **options)
        constant = len(S) * np.log(2 * np.pi)
        return [0.5 * (factor_logdet(factor(X)) - np.vdot(held_out, X) - constant) for X in path.precisions]


def _grid(alphas, covariances, ratio):
    if isinstance(alphas, Integral) and not isinstance(alphas, bool):
        count = check_scalar(alphas, "the number of penalties", low=1, integer=True)
        ratio = check_scalar(ratio, "ratio", low=0, high=1, closed="neither")
        # One variable, or none that are correlated: any penalty gives the same answer.
        top = max(max_penalty(S) for S in covariances) or max(float(np.diagonal(S).max()) for S in covariances) or 1.0
        return np.geomspace(top, ratio * top, count)
    alphas = check_finite_array(alphas, "alphas", ndim=1)
    if alphas.size == 0 or alphas.min() < 0:
        raise ValueError("alphas must hold at least one number, none of them negative")
    return np.sort(alphas)[::-1]
