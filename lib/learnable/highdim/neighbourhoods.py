"""The graph of a sample by one lasso regression for each variable (Meinshausen and Bühlmann 2006)."""

from __future__ import annotations

import numpy as np

from learnable.linalg.precision import support
from learnable.optim.coordinate_descent import solve_gram_batch
from learnable.validation import check_choice, check_scalar, check_symmetric

__all__ = ["neighbourhood_lasso"]


def neighbourhood_lasso(S, alpha, *, rule="or", tol=1e-8):
    """The graph of the lasso regressions of each variable on all others (Meinshausen and Buehlmann 2006).

    Structure only: the coefficients do not make a positive definite matrix. j is a neighbour of i if its coefficient in
    the regression of i is not zero; the two opinions on an edge are combined by `rule`.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance or correlation.
    alpha : float
        Penalty of 1/2 b'Sb - b's_i + lam |b|_1.
    rule : {"or", "and"}, default="or"
        An edge needs one of the two regressions, or both.
    tol : float, default=1e-08
        Of the regressions, relative to the largest entry of S.

    Returns
    -------
    ndarray of bool of shape (p, p)

    Examples
    --------
    >>> neighbourhood_lasso([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], 0.1).astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """
    S = check_symmetric(S, "S")
    check_choice(rule, "rule", ("or", "and"))
    alpha = check_scalar(alpha, "alpha", low=0, closed="neither")
    coefs = solve_gram_batch(S, S, alpha, weights=np.where(np.eye(len(S)), np.inf, 1.0), tol=tol).coefs != 0
    return support((coefs | coefs.T if rule == "or" else coefs & coefs.T).astype(np.float64))
