"""The usual problems in the form of the solver: classifiers, nearest points of hulls, tubes around a regression."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.kernels.smo.solution import NotSeparableError, Solution, as_vector
from learnable.kernels.smo.solver import solve, source_for
from learnable.validation import check_choice, check_finite_array, check_scalar

__all__ = ["classification", "classification_path", "nu_classification", "regression"]

# Prices times the largest kernel value beyond which pairs no longer find the solution from zero, and the factor by
# which the price grows from one problem of the path to the next.
_STEEP = 1e8
_GROWTH = 30.0


def classification(
    K, y, C=1.0, *, X=None, norm=1, C2=None, equality=True, start=None, start_values=None, tol=1e-3,
    max_iter=None, shrinking=True, cache_mb=200.0,
):  # fmt: skip
    r"""Solve the dual of a soft-margin support vector machine.

    The primal is ½‖w‖² plus, for the slacks ξ_k = (1 - y_k f(x_k))_+,

    - ``norm=1``: Σ C_k ξ_k;
    - ``norm=2``: ½ Σ C_k ξ_k²;
    - ``norm="mixed"``: Σ C_k ξ_k + ½ C₂ Σ ξ_k².

    Parameters
    ----------
    K, X, equality, start, start_values, tol, max_iter, shrinking, cache_mb
        As for :func:`solve`.
    y : array (n,)
        Labels -1 and +1, both present.
    C : float or array (n,), default=1
        Price of a slack, one for all or one for each point. Infinite with ``norm=1`` asks for the hard margin;
        :class:`NotSeparableError` says that there is none.
    norm : {1, 2, "mixed"}, default=1
    C2 : float, optional
        Price of the squares, for ``norm="mixed"``.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    >>> s = classification(X @ X.T, [-1, 1, 1, 1], C=np.inf, tol=1e-9)
    >>> float(round(s.dual, 6)), float(round(s.alpha.sum(), 6))
    (2.0, 4.0)
    """
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    source = source_for(K, X, cache_mb, tol)
    n = source.size
    y = signs_of(y, n)
    C = _box(C, n)
    check_choice(norm, "norm", (1, 2, "mixed"))
    if (norm == "mixed") != (C2 is not None):
        raise ValueError('C2 belongs to norm="mixed", and only to it')
    options = {"equality": equality, "tol": tol, "max_iter": max_iter, "shrinking": shrinking, "cache_mb": cache_mb}
    if norm == 1 and np.all(np.isinf(C)):
        if not equality:
            raise ValueError("the hard margin is solved with an intercept; append a constant feature instead")
        return _hard_margin(source, y, tol, max_iter)
    if np.any(np.isinf(C)):
        raise ValueError("C must be finite (or infinite for all points, with norm=1)")
    if norm == 1 and start is None and C.max() * source.diagonal.max() > _STEEP:
        return _grown(source, y, C, options)
    shape = {"lower": np.minimum(0.0, y * C), "upper": np.maximum(0.0, y * C)}
    if norm == 2:
        shape = {"lower": np.where(y < 0, -np.inf, 0.0), "upper": np.where(y > 0, np.inf, 0.0), "ridge": 1.0 / C}
    elif norm == "mixed":
        C2 = check_scalar(C2, "C2", low=0.0, closed="neither")
        shape = {"lower": np.where(y < 0, -np.inf, 0.0), "upper": np.where(y > 0, np.inf, 0.0)}
        shape |= {"knee": C, "beyond": 1.0 / C2}
    return solve(source, -y, start=start, start_values=start_values, **shape, **options)


def classification_path(K, y, Cs, *, X=None, tol=1e-3, max_iter=None, shrinking=True, cache_mb=200.0):
    """Solve the 1-norm machine for many values of C, each started from the one before.

    When C grows by a factor, so do the coefficients at their bounds. Scaling all of them keeps the sum at zero, keeps
    them in their box, and needs no kernel value: fitted values scale alike. The columns stay cached throughout.

    Parameters
    ----------
    K, y, X, tol, max_iter, shrinking, cache_mb
        As for :func:`classification`.
    Cs : array of float
        Positive and finite; solved in increasing order.

    Returns
    -------
    list of Solution
        In the order of `Cs`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0], [1.0]])
    >>> [s.alpha.tolist() for s in classification_path(X @ X.T, [-1, 1], [1.0, 0.25], tol=1e-9)]
    [[0.5, 0.5], [0.25, 0.25]]
    """
    Cs = check_finite_array(Cs, "Cs", ndim=1)
    if np.any(Cs <= 0.0):
        raise ValueError("every C must be positive")
    source = source_for(K, X, cache_mb, tol)
    found = [None] * Cs.size
    start = values = previous = None
    for where in np.argsort(Cs, kind="stable"):
        C = float(Cs[where])
        if start is not None:
            factor = C / previous
            start, values = np.clip(start * factor, -C, C), values * factor
        found[where] = s = classification(
            source, y, C, start=start, start_values=values, tol=tol, max_iter=max_iter, shrinking=shrinking,
            cache_mb=cache_mb,
        )  # fmt: skip
        start, values, previous = s.beta, s.values, C
    return found


def _grown(source, y, C, options):
    """The 1-norm machine for a price that is huge beside 1 / K, such as that of features in small units.

    From zero the pairs would have to carry each coefficient over many orders of magnitude. The solution for a smaller
    price, scaled, has nearly all of them at the right bound, so that the price grows step by step.
    """
    source = source if source.complete else source.in_double()
    left = check_scalar(options["max_iter"] or max(10**7, 100 * y.size), "max_iter", low=1, integer=True)
    share, steps = min(1.0, 1.0 / (C.max() * source.diagonal.max())), 0
    beta, values = np.zeros(y.size), np.zeros(y.size)
    while True:
        box = share * C
        limits = {"lower": np.minimum(0.0, y * box), "upper": np.maximum(0.0, y * box)}
        final = share == 1.0 or left - steps <= 1
        with warnings.catch_warnings():
            if not final:  # what a stage leaves undone, the next one does
                warnings.simplefilter("ignore", ConvergenceWarning)
            options["max_iter"] = max(1, left - steps) if final else max(1, (left - steps) // 2)
            s = solve(source, -y, start=beta, start_values=values, **limits, **options)
        steps += s.n_iter
        if share == 1.0:
            return replace(s, n_iter=steps)
        factor = min(_GROWTH, 1.0 / share) if left > steps + 1 else 1.0 / share
        share = 1.0 if factor >= 1.0 / share else share * factor
        beta, values = s.beta * factor, s.values * factor


def nu_classification(K, y, nu, *, X=None, tol=1e-3, max_iter=None, shrinking=True, cache_mb=200.0):
    r"""Solve the dual of the ν-support vector machine in the scale of the nearest-points problem.

    Minimises ½‖Σ_k β_k Φ(x_k)‖² with |β_k| ≤ 1/(νn), coefficients of
    each class summing to one half in absolute value.

    Parameters
    ----------
    K, y, X, tol, max_iter, shrinking, cache_mb
        As for :func:`classification`; `tol` is in units of the fitted values here, relative to their scale.
    nu : float in (0, 1]
        Between the fraction of margin errors and that of support vectors. At most twice the share of the smaller
        class.

    Returns
    -------
    Solution
        `offset` is the intercept b; attribute `rho` the distance in function value: f + b = +rho or -rho on the
        in-bound support vectors.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> s = nu_classification(X @ X.T, [-1, -1, 1, 1], nu=0.4, tol=1e-9)
    >>> s.beta, s.rho, s.offset
    (array([ 0. , -0.5,  0.5,  0. ]), 1.0, 0.0)
    """
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    nu = check_scalar(nu, "nu", low=0.0, high=1.0, closed="right")
    source = source_for(K, X, cache_mb, tol)
    n = source.size
    y = signs_of(y, n)
    most = 2.0 * min((y > 0).sum(), (y < 0).sum()) / n
    if nu > most * (1.0 + 1e-12):
        raise ValueError(f"nu = {nu:g} is infeasible for these classes: it must be at most {most:g}")
    cap = 1.0 / (nu * n)
    beta = _first_weights(y, 0.5, cap)
    s = solve(
        source, 0.0, np.where(y < 0, -cap, 0.0), np.where(y > 0, cap, 0.0), groups=(y > 0).astype(int), start=beta,
        tol=tol * max(float(source.diagonal.max()), 1e-300), max_iter=max_iter, shrinking=shrinking, cache_mb=cache_mb,
    )  # fmt: skip
    negative, positive = (float(b) for b in s.offset)
    (a, b), (c, d) = s.offset_interval
    return replace(
        s,
        rho=0.5 * (negative - positive),
        offset=0.5 * (negative + positive),
        offset_interval=(0.5 * (a + c), 0.5 * (b + d)),
    )


def nearest_points(K, y, *, X=None, cap=1.0, tol=1e-3, max_iter=None, cache_mb=200.0):
    r"""Nearest points of the convex hulls of two classes.

    Minimises ½‖Σ_k β_k Φ(x_k)‖² with coefficients that sum to +1 over the class +1, to
    -1 over the class -1, and are at most `cap` in absolute value (a cap below one shrinks the hulls).

    Parameters
    ----------
    K, y, X, max_iter, cache_mb
        As for :func:`classification`.
    cap : float, default=1
    tol : float, default=1e-3
        Relative: stop when the squared distance is known to a factor 1 + tol.

    Returns
    -------
    Solution
        ``beta @ values`` is the squared distance.

    Raises
    ------
    NotSeparableError
        If ``cap >= 1`` and the hulls meet (within 1e-6 of the diameter of the data).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 3.0], [2.0, 0.0], [2.0, 1.0], [-5.0, 0.0]])
    >>> s = nearest_points(X @ X.T, [1, 1, 1, -1], tol=1e-9)
    >>> round(float(s.beta @ s.values) ** 0.5, 6)
    5.830952
    """
    source = source_for(K, X, cache_mb, min(tol, 1e-6))
    n = source.size
    y = signs_of(y, n)
    cap = check_scalar(cap, "cap", low=0.0, closed="neither")
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    fewest = int(min((y > 0).sum(), (y < 0).sum()))
    if cap * fewest < 1.0 - 1e-12:
        raise ValueError(f"cap must be at least 1 / {fewest}, the size of the smaller class; got {cap:g}")
    beta = _first_weights(y, 1.0, cap)
    lower, upper = np.where(y < 0, -cap, 0.0), np.where(y > 0, cap, 0.0)
    scale = float(source.diagonal.max())
    level, values, total = max(1e-2 * scale, 1e-300), None, 0
    while True:
        s = solve(
            source, 0.0, lower, upper, groups=(y > 0).astype(int), start=beta, start_values=values, tol=level,
            max_iter=max_iter, cache_mb=cache_mb,
        )  # fmt: skip
        beta, values, total = s.beta, s.values, total + s.n_iter
        squared = float(beta @ values)
        if cap >= 1.0 and squared <= 1e-12 * scale:
            raise NotSeparableError(
                "the two classes cannot be separated: their convex hulls meet; use a finite C (soft margin)"
            )
        if s.gap <= 0.5 * tol * squared or not s.converged or squared <= 1e-14 * scale:
            return replace(s, n_iter=total)
        level *= 0.1


def regression(
    K, y, *, epsilon, C, X=None, ridge=0.0, equality=True, start=None, start_values=None, tol=1e-3, max_iter=None,
    shrinking=True, cache_mb=200.0,
):  # fmt: skip
    r"""Solve the dual of ε-insensitive regression.

    Minimises ½β'(K + ridge)β - y'β + ε‖β‖₁ with
    |β_k| ≤ C_k and sum zero. A finite `C` and no ridge belong to the loss
    C |r|_ε; an infinite `C` and ``ridge=1/C`` to ½ C |r|_ε².

    Parameters
    ----------
    K, X, equality, start, start_values, tol, max_iter, shrinking, cache_mb
        As for :func:`solve`.
    y : array (n,)
        Real responses.
    epsilon : float or array (n,)
        Half-width of the tube, non-negative.
    C : float or array (n,)
        Bounds; may be infinite if `ridge` is positive.
    ridge : float or array (n,), default=0

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> s = regression(X @ X.T, [-1.0, 0.0, 1.0], epsilon=0.2, C=10.0, tol=1e-9)
    >>> s.beta.round(6), bool(abs(s.offset) < 1e-9)
    (array([-0.4,  0. ,  0.4]), True)
    """
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    source = source_for(K, X, cache_mb, tol)
    n = source.size
    y = as_vector(check_finite_array(y, "y", ndim=1), n, "y")
    C = _box(C, n)
    ridge = as_vector(ridge, n, "ridge", low=0.0)
    if np.any(np.isinf(C) & (ridge == 0.0)):
        raise ValueError("an infinite C needs a positive ridge: otherwise the coefficients have no bound")
    epsilon = as_vector(epsilon, n, "epsilon", low=0.0)
    return solve(
        source, -y, -C, C, ridge=ridge, ell=epsilon, equality=equality, start=start, start_values=start_values, tol=tol,
        max_iter=max_iter, shrinking=shrinking, cache_mb=cache_mb,
    )  # fmt: skip


def _hard_margin(source, y, tol, max_iter):
    """The hard margin through the nearest points of the two hulls: a problem that always has a solution."""
    near = nearest_points(source, y, tol=tol, max_iter=max_iter)
    squared = float(near.beta @ near.values)
    factor = 2.0 / squared
    beta, values = near.beta * factor, near.values * factor
    # f = values + offset is +1 on the nearest points of one class and -1 on those of the other.
    low, high = float(np.max(values[y < 0])), float(np.min(values[y > 0]))
    offset = -0.5 * (low + high)
    dual = float(np.abs(beta).sum() - 0.5 * beta @ values)
    # Stretched until every point keeps its margin, the function is feasible: its norm is the primal value.
    primal = 0.5 * float(beta @ values) * (2.0 / (high - low)) ** 2
    slack = float(np.max(np.maximum(1.0 - y * (values + offset), 0.0)))
    zero = beta == 0.0
    return Solution(
        beta=beta, offset=offset, offset_interval=(offset, offset), values=values, gradient=values - y, primal=primal,
        dual=dual, gap=max(primal - dual, 0.0), violation=2.0 * slack, n_iter=near.n_iter, converged=near.converged,
        bound=np.empty(0, dtype=int), inbound=np.flatnonzero(~zero), zero=np.flatnonzero(zero),
    )  # fmt: skip


def _first_weights(y, total, cap):
    """Signed weights of at most `cap` on the first points of each class, which sum to plus or minus `total`."""
    beta = np.zeros(y.size)
    for sign in (-1.0, 1.0):
        left = total
        for k in np.flatnonzero(y == sign):
            beta[k] = sign * min(cap, left)
            left -= abs(beta[k])
            if left <= 1e-15:
                break
    return beta


def signs_of(y, size):
    y = np.asarray(y)
    if y.shape != (size,):
        raise ValueError(f"y must have one label for each of the {size} points, got shape {y.shape}")
    if not np.all(np.isin(y, (-1, 1))):
        raise ValueError("y must hold the labels -1 and +1")
    y = y.astype(float)
    if np.all(y == y[0]):
        raise ValueError(f"y holds the single class {y[0]:g}: a classifier needs both")
    return y


def _box(C, size):
    """C as one positive number for each point."""
    C = as_vector(C, size, "C", allow_inf=True)
    if np.any(C <= 0.0):
        raise ValueError(f"C must be positive, got {C.min():g}")
    return C
