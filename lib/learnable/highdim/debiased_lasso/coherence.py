r"""How far the columns are from uncorrelated: coherence, and the levels of mu that follow from it."""

import numpy as np
from scipy import special

from learnable.validation import check_codes, check_scalar, check_symmetric


def default_mu(p, n, a=None):
    r"""Where the search for mu starts, Φ⁻¹(1-0.1/p²)/√n, or a√(log p/n).

    The first is the level that the largest of p^2 sample correlations of independent columns stays under; the paper
    uses the second with a = 2.

    Parameters
    ----------
    p : int
        Number of variables.
    n : int
        Number of observations.
    a : float, optional
        Factor of the paper's literal rule.

    Examples
    --------
    >>> round(default_mu(600, 1000), 4), round(default_mu(600, 1000, a=2), 4)
    (0.1583, 0.16)
    """
    p, n = check_scalar(p, "p", low=1, integer=True), check_scalar(n, "n", low=1, integer=True)
    if a is None:
        mu = -float(special.ndtri(0.1 / p**2)) / np.sqrt(n)
    else:
        mu = check_scalar(a, "a", low=0, closed="neither") * np.sqrt(np.log(p) / n)
    return float(min(mu, 0.99))


def check_sigma(Sigma, rows):
    """The covariance, with a positive diagonal, and the rows of M that are asked for; all by default."""
    S = check_symmetric(Sigma, "Sigma")
    flat = np.flatnonzero(np.diagonal(S) <= 0)
    if flat.size:
        raise ValueError(
            f"Sigma must have a positive diagonal; variable {flat[0]} has {S[flat[0], flat[0]]:g} there: leave it out"
        )
    if rows is None:
        return S, np.arange(len(S))
    rows = check_codes(np.atleast_1d(rows), "rows", size=len(S), strict=True)
    if rows.size == 0:
        raise ValueError("rows must hold at least one row of M")
    return S, rows
