"""The graphical lasso by alternating directions: the first-order method with which others are compared.

Each iteration costs an eigendecomposition and shrinks the error by about the same factor, so that it serves where two
or three digits are enough; for more take :func:`~learnable.highdim.QUIC`.
"""

from __future__ import annotations

import numpy as np

from learnable.highdim.quic.problem import check_problem
from learnable.linalg.precision import factor, factor_logdet
from learnable.optim.admm import admm
from learnable.optim.proximal import logdet_prox, soft_threshold
from learnable.validation import check_scalar


def graphical_admm(
    S,
    Lambda,
    *,
    start=None,
    dual=None,
    rho=None,
    relaxation=1.6,
    adapt=True,
    tol=1e-6,
    max_iter=2000,
    certificate=None,
    check_every=10,
):
    """Minimise -log det X + tr(SX) + sum_ij Lambda_ij |X_ij| (Boyd et al. 2010, Sec. 6.5).

    O(p^3) an iteration.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance, better correlation.
    Lambda : float or array-like of shape (p, p)
        Penalties of all ordered pairs, the diagonal included.
    start, dual : array-like of shape (p, p), optional
        ``z`` and ``dual`` of a solution for other penalties; by default the solution without edges, and zero.
    rho : float, optional
        Price of a difference between the two copies; by default the curvature of log det at the start.
    relaxation, adapt, check_every
        As in :func:`~learnable.optim.admm.admm`.
    tol : float, default=1e-06
        Largest certified gap, for each variable.
    max_iter : int, default=2000
    certificate : callable, optional
        ``certificate(x, z, dual)`` replaces the duality gap divided by p.

    Returns
    -------
    Splitting
        ``z`` is sparse and symmetric, ``dual`` the multiplier; ``gap`` is that of all variables together, over p.

    Examples
    --------
    >>> fit = graphical_admm([[1, 0.5], [0.5, 1]], [[0, 0.2], [0.2, 0]], tol=1e-10)
    >>> np.linalg.inv(fit.z).round(3).tolist()
    [[1.0, 0.3], [0.3, 1.0]]
    """
    S, Lam = check_problem(S, Lambda)
    variances = np.diagonal(S)
    rho = float(np.mean(variances)) ** 2 if rho is None else check_scalar(rho, "rho", low=0, closed="neither")

    def gap(x, z, dual):
        L = factor(z)
        # The multiplier may miss the dual box by rounding; clipped into it, it is feasible.
        W = None if L is None else factor(S + np.clip(dual, -Lam, Lam))
        if W is None:
            return np.inf
        value = -factor_logdet(L) + float(np.vdot(S, z)) + float(np.vdot(Lam, np.abs(z)))
        return (value - factor_logdet(W) - len(z)) / len(z)

    return admm(
        lambda A, rho: logdet_prox(A - S / rho, rho),
        lambda A, rho: soft_threshold(0.5 * (A + A.T), Lam / rho),
        np.diag(1.0 / (variances + np.diagonal(Lam))) if start is None else start,
        dual=dual,
        rho=rho,
        relaxation=relaxation,
        adapt=adapt,
        tol=tol,
        max_iter=max_iter,
        certificate=gap if certificate is None else certificate,
        check_every=check_every,
        name="graphical_admm",
    )
