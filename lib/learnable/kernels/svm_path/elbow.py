"""Which points on the margin move, and where to: a quadratic programme that degenerate elbows do not break."""

import warnings

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from learnable.kernels import smo


def direction(gram, q, lower, upper, equality):
    """Minimise 1/2 d'Kd + q'd with signs given by the bounds; exact zeros where a bound is active."""
    scale = max(float(np.mean(np.diag(gram))), 1e-300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        s = smo.solve(
            smo.GramSource(gram / scale), q, lower, upper, ridge=1e-11, tol=1e-9, max_iter=200_000, equality=equality,
            shrinking=False,
        )  # fmt: skip
    d = s.beta.copy()
    d[np.abs(d) <= 1e-9 * np.abs(d).max(initial=0.0)] = 0.0
    return d


def independent(gram, d, free, inside, kappa):
    """A linearly independent part of `free` that can carry the direction with the signs that d has.

    While the points depend on each other, d moves along the dependence until one of them comes to rest.
    """
    free = list(free)
    d = d.copy()
    while len(free) > 1:
        block = gram[np.ix_(free, free)] + kappa
        values, vectors = linalg.eigh(block)
        if values[0] > 3e-14 * max(values[-1], 1e-300):
            break
        null = vectors[:, 0]
        null[np.abs(null) < 1e-9] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(null != 0.0, -d[free] / null, np.inf)
        resting = np.flatnonzero((null != 0.0) & inside[free] & (d[free] == 0.0))
        out = int(resting[0]) if resting.size else int(np.argmin(np.abs(ratio)))
        step = ratio[out]
        for k, i in enumerate(free):
            d[i] += step * null[k]
        d[free[out]] = 0.0
        del free[out]
    return np.asarray(free, dtype=np.int64)
