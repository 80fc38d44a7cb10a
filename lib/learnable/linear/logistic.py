"""Logistic discrimination by conditional maximum likelihood, with separation detected rather than chased.

Source: Lember 2012, Sec. 3.6.2.
"""

from __future__ import annotations

import warnings

import numpy as np
from numba import njit
from scipy import linalg, optimize, sparse
from scipy.special import expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from learnable.linear._quasi_newton import logistic_terms, moments, quasi_newton, worthwhile
from learnable.linear._sparse import Standardised, newton_sparse, sparse_moments
from learnable.linear.rules import LinearRule, solve_symmetric
from learnable.validation import check_finite_array, check_magnitude, check_scalar, encode_labels

__all__ = ["LogisticDiscriminant", "SeparationWarning", "linear_separation"]


class SeparationWarning(ConvergenceWarning):
    """The classes are linearly separated, so that no maximum-likelihood estimate exists."""


def linear_separation(X, y):
    """Whether some linear rule separates the classes, as a linear programme decides it.

    Maximum likelihood has a finite solution exactly if the answer is "overlap" (and the design has full rank).

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Any labels, two or more classes.

    Returns
    -------
    {"overlap", "quasi", "complete"}
        "complete": every point strictly on its own side; "quasi": no point on the wrong side, some on the boundary.

    Examples
    --------
    >>> [linear_separation([[0.0], [1.0], [1.0], [2.0]], y) for y in ([0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1])]
    ['quasi', 'quasi', 'overlap']
    """
    X = check_magnitude(check_finite_array(X, "X", ndim=2), "X")
    codes = encode_labels(y)[1]
    if len(codes) != len(X) or codes.max(initial=0) == 0:
        raise ValueError("X must have shape (n, d), with one label of y for each row and at least two classes")
    centred = X - X.mean(axis=0)
    spread = np.abs(centred).max(axis=0)
    spread[spread == 0] = 1.0
    return _separation(np.column_stack([centred / spread, np.ones(len(X))]), codes, codes.max() + 1)


def _separation(Z, codes, k):
    """Maximise the sum of all margins, each at most one and none negative: zero for overlapping classes."""
    signs = np.where(codes == 1, 1.0, -1.0)
    if k == 2:
        A = sparse.diags_array(signs) @ Z if sparse.issparse(Z) else signs[:, None] * Z
    else:
        blocks = []
        for j in range(k):
            rows = np.flatnonzero(codes != j)
            own = sparse.csr_matrix((np.ones(len(rows)), (np.arange(len(rows)), codes[rows])), shape=(len(rows), k))
            other = sparse.csr_matrix((np.ones(len(rows)), (np.arange(len(rows)), np.full(len(rows), j))), own.shape)
            blocks.append(_row_kron(own - other, Z[rows]))
        A = sparse.vstack(blocks).tocsr()
    m, q = A.shape
    objective = -np.asarray(A.sum(axis=0)).ravel()
    constraint = optimize.LinearConstraint(A, 0.0, 1.0)
    answer = optimize.milp(objective, constraints=constraint, bounds=optimize.Bounds(-np.inf, np.inf))
    if answer.x is None:
        raise RuntimeError(f"the linear programme for separation was not solved: {answer.message}")
    if -answer.fun <= 1e-6:
        return "overlap"
    return "complete" if float((A @ answer.x).min()) > 1e-7 or _strict(A, m, q) else "quasi"


def _strict(A, m, q):
    """Whether all margins can be at least one together."""
    answer = optimize.milp(
        np.zeros(q), constraints=optimize.LinearConstraint(A, 1.0, np.inf), bounds=optimize.Bounds(-np.inf, np.inf)
    )
    return answer.status == 0


def _row_kron(S, Z):
    """Row-wise Kronecker product of a sparse S (n, k) with Z (n, p), which may be sparse."""
    if sparse.issparse(Z):
        return sparse.hstack([sparse.diags_array(S[:, [j]].toarray()[:, 0]) @ Z for j in range(S.shape[1])]).tocsr()
    S = S.tocoo()
    p = Z.shape[1]
    columns = (S.col[:, None] * p + np.arange(p)).ravel()
    values = (S.data[:, None] * Z[S.row]).ravel()
    return sparse.csr_matrix((values, (np.repeat(S.row, p), columns)), shape=(S.shape[0], S.shape[1] * p))


class LogisticDiscriminant(LinearRule):
    """Linear log-odds fitted by conditional maximum likelihood with Newton's method (IRLS).

    For two classes ln p(1|x)/p(0|x) = w'x + w0; for k classes the last one is the reference and
    ln p(i|x)/p(k−1|x) = w_i'x + w_i0. Each step costs O(n p² + p³), p = (k − 1)(d + 1), solves by Cholesky and is
    halved while the likelihood falls. For two classes and much data, where that is dear, steps of limited-memory BFGS
    of O(n p) come first, and Newton's finish where they are slow. The columns are standardised inside, so that units do
    not matter. Sparse tables stay sparse: conjugate gradients solve for each Newton step, at the cost of what is stored
    for each of theirs.

    Parameters
    ----------
    alpha : float, default=0
        Adds −(ridge/2) Σ w² to the log-likelihood; the constants are free.
    tol : float, default=1e-8
        Largest accepted norm of the gradient of the mean log-likelihood, in standardised columns.
    max_iter : int, default=100

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (k, d)
        The last row is zero for k > 2.
    intercept_ : ndarray
    loglik_ : float
        Log-likelihood at the answer, without penalty.
    gradient_norm_ : float
    n_iter_ : int
    separation_ : {"overlap", "quasi", "complete", "not checked"}
        Where it is "quasi" or "complete" no maximum exists: a `SeparationWarning` says so, and the coefficients are
        those at which it was noticed. "not checked" with a ridge.

    Examples
    --------
    >>> rule = LogisticDiscriminant().fit([[0.0], [1.0], [1.0], [2.0], [2.0], [3.0]], [0, 0, 1, 0, 1, 1])
    >>> rule.coef_.round(3).tolist(), rule.predict_proba([[1.5]]).round(3).tolist()
    ([[1.386]], [[0.5, 0.5]])
    """

    _binary = False
    _sparse = "csr"

    def __init__(self, alpha=0.0, tol=1e-8, max_iter=100):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        ridge = check_scalar(self.alpha, "alpha", low=0)
        tol = check_scalar(self.tol, "tol", low=0, closed="neither")
        max_iter = check_scalar(self.max_iter, "max_iter", low=1, integer=True)
        X, codes, weights = self._prepare(X, y, sample_weight)
        d = X.shape[1]
        mean, spread = (sparse_moments if sparse.issparse(X) else moments)(X, weights)
        spread[spread <= 1e-14 * np.abs(mean)] = np.inf
        penalty = np.append(ridge / spread**2, 0.0)
        theta, state = self._search(X, codes, weights, (mean, spread, penalty), tol, max_iter)
        self.loglik_, self.gradient_norm_, self.n_iter_, self.separation_ = state
        if self.separation_ in ("complete", "quasi"):
            warnings.warn(
                f"The classes are linearly separated ({self.separation_}): the likelihood has no maximum, and the "
                "coefficients are where the search stopped. Use ridge > 0 for a finite answer.",
                SeparationWarning,
                stacklevel=2,
            )
        elif self.gradient_norm_ > tol:
            warnings.warn(
                f"Newton's method stopped after {self.n_iter_} steps with a gradient of norm "
                f"{self.gradient_norm_:.2g} > tol={tol:g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        W = theta[:, :d] / spread
        return self._store(W, theta[:, d] - W @ mean)

    def _search(self, X, codes, weights, scale, tol, max_iter):
        """Coefficients in standardised columns, and how the search ended."""
        mean, spread, penalty = scale
        n, p, k = X.shape[0], len(penalty), len(self.classes_)
        if sparse.issparse(X):
            Z = Standardised(X, mean, spread)
            return newton_sparse(
                Z, codes, weights, penalty, tol, max_iter, k, lambda: _separation(Z.scaled(), codes, k)
            )
        start, steps = np.zeros(p), 0
        if k == 2 and worthwhile(n, p, mean, spread):
            sign = np.where(codes == 1, 1.0, -1.0)
            end = quasi_newton(X, sign, weights, mean, spread, penalty, tol, max_iter)
            if end.settled:
                separation = "not checked" if penalty.any() else "overlap"
                return end.theta[None, :], (end.loglik, end.norm, end.steps, separation)
            start, steps = end.theta, end.steps
        Z = np.empty((n, p))
        _standardise(X, mean, 1.0 / spread, Z)
        if k == 2:
            return _newton_binary(Z, codes, weights, penalty, tol, max_iter, (start, steps))
        return _newton_many(Z, codes, weights, penalty, tol, max_iter, k)

    def predict_proba(self, X):
        """p(i|x) for the classes in the order of ``classes_``."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            p = expit(scores)
            return np.column_stack([expit(-scores), p])
        return softmax(scores, axis=1)


@njit(cache=True)
def _standardise(X, mean, factor, Z):
    """Standardised columns and a column of ones."""
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            Z[i, j] = (X[i, j] - mean[j]) * factor[j]
        Z[i, d] = 1.0


def _newton_binary(Z, codes, weights, penalty, tol, max_iter, start):
    """Maximise Σ ω(y η − ln(1 + e^η)) − ½ Σ penalty θ². Returns θ of shape (1, p) and how it ended."""
    n, p = Z.shape
    total = weights.sum()
    sign = np.where(codes == 1, 1.0, -1.0)
    check = not penalty.any()
    theta, iteration = start
    eta = Z @ theta
    residual, root, scaled = np.empty(n), np.empty(n), None
    loglik, margin, largest = _binary_terms(eta, sign, weights, residual, root)
    value = loglik - 0.5 * float(penalty @ theta**2)
    separation = "overlap" if check else "not checked"
    while True:
        gradient = residual @ Z - penalty * theta
        norm = float(np.linalg.norm(gradient)) / total
        if check and margin > 0:
            separation = "complete"
            break
        if check and largest > 12.0 and (norm <= tol or iteration == max_iter or iteration % 8 == 0):
            separation = _separation(Z, codes, 2)
            check = False
            if separation != "overlap":
                break
        if norm <= tol or iteration == max_iter:
            break
        scaled = np.multiply(Z, root[:, None], out=scaled)
        hessian = scaled.T @ scaled
        hessian.flat[:: p + 1] += penalty
        step = _solve(hessian, gradient)
        iteration += 1
        for _ in range(40):
            new = theta + step
            eta = Z @ new
            loglik, margin, largest = _binary_terms(eta, sign, weights, residual, root)
            new_value = loglik - 0.5 * float(penalty @ new**2)
            if new_value >= value - 1e-12 * abs(value):
                break
            step *= 0.5
        theta, value = new, new_value
    return theta[None, :], (float(loglik), norm, iteration, separation)


@njit(cache=True)
def _binary_terms(eta, sign, weights, residual, root):
    """One pass: log-likelihood, smallest margin, largest |η|; score residuals and roots of the Newton weights."""
    sums = np.array([0.0, 0.0, np.inf, 0.0])
    logistic_terms(eta, sign, weights, bool(weights.min() == weights.max()), residual, sums)
    for i in range(eta.size):
        # p (1 − p) from |residual| = ω p, with p the probability of the wrong class, at most ½ or from the other side.
        wrong = abs(residual[i]) / weights[i]
        root[i] = np.sqrt(weights[i] * wrong * (1.0 - wrong))
    return sums[0], sums[2], sums[3]


def _solve(hessian, gradient):
    try:
        factor = linalg.cho_factor(hessian, lower=True, check_finite=False)
        pivots = np.diag(factor[0])
        if pivots.min() > 1e-6 * pivots.max():
            return linalg.cho_solve(factor, gradient, check_finite=False)
    except linalg.LinAlgError:
        pass
    return solve_symmetric(hessian, gradient)


def _newton_many(Z, codes, weights, penalty, tol, max_iter, k):
    """Block Newton for k classes with the last as reference. Returns θ of shape (k, p), last row zero."""
    n, p = Z.shape
    total = weights.sum()
    free = k - 1
    check = not penalty.any()
    target = (codes[:, None] == np.arange(k)).astype(float)
    theta = np.zeros((k, p))

    def terms(theta):
        scores = Z @ theta.T
        loglik = float(weights @ log_softmax(scores, axis=1)[np.arange(n), codes])
        own = scores[np.arange(n), codes]
        scores_other = scores - np.where(target > 0, np.inf, 0.0)
        return (
            loglik,
            softmax(scores, axis=1),
            float((own - scores_other.max(axis=1)).min()),
            np.ptp(scores, axis=1).max(),
        )

    loglik, post, margin, largest = terms(theta)
    value = loglik
    separation, iteration = "overlap" if check else "not checked", 0
    while True:
        gradient = ((target - post) * weights[:, None])[:, :free].T @ Z - penalty * theta[:free]
        norm = float(np.linalg.norm(gradient)) / total
        if check and margin > 0:
            separation = "complete"
            break
        if check and largest > 12.0 and (norm <= tol or iteration == max_iter or iteration % 8 == 0):
            separation = _separation(Z, codes, k)
            check = False
            if separation != "overlap":
                break
        if norm <= tol or iteration == max_iter:
            break
        hessian = np.empty((free, p, free, p))
        for i in range(free):
            for j in range(i + 1):
                share = weights * post[:, i] * ((i == j) - post[:, j])
                block = (Z * share[:, None]).T @ Z
                hessian[i, :, j, :] = block
                hessian[j, :, i, :] = block.T
        hessian = hessian.reshape(free * p, free * p)
        hessian.flat[:: free * p + 1] += np.tile(penalty, free)
        step = _solve(hessian, gradient.ravel()).reshape(free, p)
        iteration += 1
        for _ in range(40):
            new = theta.copy()
            new[:free] += step
            loglik, post, margin, largest = terms(new)
            new_value = loglik - 0.5 * float((penalty * new**2).sum())
            if new_value >= value - 1e-12 * abs(value):
                break
            step *= 0.5
        theta, value = new, new_value
    return theta, (loglik, norm, iteration, separation)
