"""Lasso and elastic net for a table and a response, for one penalty or along a path."""

from dataclasses import replace

import numpy as np

from learnable.optim.coordinate_descent._compressed import Rules, solve_compressed
from learnable.optim.coordinate_descent.gram import check_penalties, solve_gram
from learnable.optim.coordinate_descent.solutions import LassoPath, LassoSolution
from learnable.optim.coordinate_descent.working_set import FIRST_SET_OF_PATH, LARGEST_GRAM, Data, WorkingSet
from learnable.validation import check_choice, check_finite_array, check_scalar, warn_not_converged

__all__ = ["lasso_path", "max_alpha", "solve_lasso"]


def max_alpha(X, y, *, weights=None, center=False):
    """Return the smallest alpha at which all penalised coefficients are zero, max_j |x_j'y| / (n weights_j).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
    y : array-like of shape (n,)
    weights : array-like of shape (p,), optional
        Positive; ones by default.
    center : bool, default=False
        Subtract the means of the columns and of y first.

    Returns
    -------
    float

    Examples
    --------
    >>> max_alpha([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0])
    1.5
    """
    data = Data(X, y, center)
    weights = check_penalties(weights, (data.p,))
    if (weights == 0).any():
        raise ValueError("max_alpha needs positive weights")
    return _largest_alpha(data, weights)


def solve_lasso(
    X,
    y,
    alpha,
    *,
    weights=None,
    l2=0.0,
    start=None,
    center=False,
    mode="gram",
    tol=1e-8,
    max_iter=10_000,
):
    """Minimise 1/(2n) |y - Xb|^2 + alpha sum_j weights_j |b_j| + l2/2 |b|^2.

    Warns with ``ConvergenceWarning`` if `max_iter` passes do not suffice.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
    y : array-like of shape (n,)
    alpha : float
        Non-negative.
    weights : array-like of shape (p,), optional
        Non-negative; 0 = unpenalised, infinity = kept at zero. Ones by default.
    l2 : float, default=0.0
    start : array-like of shape (p,), optional
    center : bool, default=False
        Subtract the means of the columns and of y first (an unpenalised intercept); sparse data stay sparse.
    mode : {"gram", "residual"}, default="gram"
        What coordinate descent keeps up to date on the working set of a dense table: the correlations by its Gram
        matrix, or the residual. Working sets too large for a Gram matrix turn to the residual by themselves; for a
        sparse table it is always the residual.
    tol : float, default=1e-8
        Stop at a duality gap of ``tol |y|^2 / n``.
    max_iter : int, default=10000
        Passes over coordinates at most.

    Returns
    -------
    LassoSolution

    Examples
    --------
    >>> solve_lasso([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0], 0.5).coef
    array([2.  , 0.25])
    """
    data, weights, settings = _check_problem(X, y, weights, l2, start, center, mode, tol, max_iter)
    alpha = check_scalar(alpha, "alpha", low=0)
    if data.sparse and alpha > 0 and weights.all():
        path = _by_columns(data, weights, settings, np.array([alpha]))
        found = LassoSolution(path.coefs[0], float(path.gaps[0]), int(path.n_iter[0]), bool(path.converged[0]))
    else:
        if alpha == 0 or not weights.all():
            w = data.n * alpha * np.where(np.isinf(weights), 1.0, weights)
            found = _with_unpenalised(data, w, weights, settings)
        else:
            found = WorkingSet(data, weights, settings).solve(data.n * alpha)
        found = replace(found, gap=found.gap / data.n)
    if not found.converged:
        warn_not_converged("solve_lasso", found.n_iter, found.gap, tol * data.yy / data.n)
    return found


def lasso_path(
    X,
    y,
    alphas=None,
    *,
    n_alphas=100,
    ratio=1e-3,
    weights=None,
    l2=0.0,
    center=False,
    mode="gram",
    tol=1e-8,
    max_iter=10_000,
):
    """Solve the lasso along decreasing penalties, each started at the solution before.

    Parameters
    ----------
    X, y
        As in :func:`solve_lasso`.
    alphas : array-like of shape (k,), optional
        Positive; taken in decreasing order. By default `n_alphas` in geometric progression from
        :func:`max_alpha` down to `ratio` times it.
    n_alphas : int, default=100
    ratio : float, default=1e-3
    weights, l2, center, mode, tol, max_iter
        As in :func:`solve_lasso`.

    Returns
    -------
    LassoPath

    Examples
    --------
    >>> lasso_path([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0], [0.5, 1.25]).coefs
    array([[0.5 , 0.  ],
           [2.  , 0.25]])
    """
    data, weights, settings = _check_problem(X, y, weights, l2, None, center, mode, tol, max_iter)
    if (weights == 0).any():
        raise ValueError("lasso_path needs positive weights; use solve_lasso for unpenalised coefficients")
    if alphas is None:
        n_alphas = check_scalar(n_alphas, "n_alphas", low=1, integer=True)
        ratio = check_scalar(ratio, "ratio", low=0, high=1, closed="neither")
        alphas = (_largest_alpha(data, weights) or 1.0) * np.geomspace(1.0, ratio, n_alphas)
    alphas = np.sort(check_finite_array(alphas, "alphas", ndim=1))[::-1]
    if alphas.size == 0 or alphas[-1] <= 0:
        raise ValueError("alphas must be positive and at least one")
    if data.sparse:
        path = _by_columns(data, weights, settings, alphas)
    else:
        work = WorkingSet(data, weights, settings, whole=min(data.n, FIRST_SET_OF_PATH))
        answers = [work.solve(data.n * alpha) for alpha in alphas]
        path = LassoPath(
            alphas,
            np.array([a.coef for a in answers]),
            np.array([a.gap for a in answers]) / data.n,
            np.array([a.n_iter for a in answers]),
            np.array([a.converged for a in answers]),
        )
    if not path.converged.all():
        late = int(np.argmin(path.converged))
        what = f"lasso_path at alpha = {alphas[late]:.3g}"
        warn_not_converged(what, path.n_iter[late], path.gaps[late], tol * data.yy / data.n)
    return path


def _largest_alpha(data, weights):
    return float(np.max(np.abs(data.correlations(data.y)) / weights, initial=0.0)) / data.n


def _by_columns(data, weights, settings, alphas):
    """Solve for all penalties on the compressed columns, in one run of compiled code."""
    coefs = np.zeros((alphas.size, data.p))
    coefs[0] = np.where(np.isinf(weights), 0.0, settings["start"])
    rules = Rules(settings["l2"], settings["tol"] * data.yy, settings["max_iter"], 1e-30 * data.yy)
    gaps, passes = solve_compressed(data.compress(), data.y, weights, data.n * alphas, rules, coefs)
    # At the rounding level of |y|^2 the computed gap may come out negative.
    return LassoPath(alphas, coefs, np.maximum(gaps, 0.0) / data.n, passes, gaps <= rules.tol)


def _with_unpenalised(data, w, weights, settings):
    """Solve by the full Gram matrix after eliminating the coefficients that carry no penalty."""
    if data.p > LARGEST_GRAM:
        raise ValueError(f"unpenalised coefficients need at most {LARGEST_GRAM} columns, got {data.p}")
    w = np.where(np.isinf(weights), np.inf, w)
    c = data.correlations(data.y)
    return solve_gram(
        data.gram(),
        c,
        1.0,
        weights=w,
        l2=settings["l2"],
        start=settings["start"],
        y_norm2=data.yy,
        tol=settings["tol"],
        max_iter=settings["max_iter"],
    )


def _check_problem(X, y, weights, l2, start, center, mode, tol, max_iter):
    data = Data(X, y, bool(center))
    weights = check_penalties(weights, (data.p,))
    check_choice(mode, "mode", ("gram", "residual"))
    start = np.zeros(data.p) if start is None else check_finite_array(start, "start", ndim=1)
    if start.size != data.p:
        raise ValueError(f"start must have {data.p} entries, got {start.size}")
    settings = {
        "l2": data.n * check_scalar(l2, "l2", low=0, high=1e150),
        "tol": check_scalar(tol, "tol", low=0, closed="neither"),
        "max_iter": check_scalar(max_iter, "max_iter", low=1, integer=True),
        "start": start,
        "mode": mode,
    }
    return data, weights, settings
