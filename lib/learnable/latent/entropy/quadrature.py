"""Gauss-Legendre over where the integrand lives.

Posteriors of log alpha have one mode and tails that fall exponentially, at rates that depend on the
counts. Each row of integrands gets its own window, found by zooming: a coarse grid, then the cells whose
log-density is within `DROP` of the row's maximum, and again.
"""

from functools import cache

import numpy as np

DROP = 42.0  # exp(-42) is below what a double adds


@cache
def legendre(n):
    """Nodes and weights on [0, 1]; read-only, since they are kept."""
    x, w = np.polynomial.legendre.leggauss(n)
    x, w = (x + 1) / 2, w / 2
    x.flags.writeable = w.flags.writeable = False
    return x, w


def window(log_density, low, high, *, n_points=40, n_zooms=8):
    """Return (low, mode, high) for every row: outside, the log-density is more than DROP below its maximum.

    Parameters
    ----------
    log_density : callable
        Maps points of shape (rows, n) to log-densities of that shape.
    low, high : ndarray of shape (rows,)
        Where to look first.
    """
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    unit = np.linspace(0.0, 1.0, n_points)
    rows = np.arange(len(low))
    for _ in range(n_zooms):
        points = low[:, None] + (high - low)[:, None] * unit
        values = log_density(points)
        best = values.argmax(axis=1)
        inside = values >= values[rows, best][:, None] - DROP
        first, last = inside.argmax(axis=1), n_points - 1 - inside[:, ::-1].argmax(axis=1)
        mode = points[rows, best]
        low, high = points[rows, np.maximum(first - 1, 0)], points[rows, np.minimum(last + 1, n_points - 1)]
        if (last - first > n_points // 3).all():
            break
    return low, mode, high


def integrate_rows(log_density, low, high, n_nodes):
    """Nodes of shape (rows, n) and the logarithm of weight times density, two panels that meet at each row's mode."""
    low, mode, high = window(log_density, low, high)
    unit, weight = legendre((n_nodes + 1) // 2)
    left, right = (mode - low)[:, None], (high - mode)[:, None]
    nodes = np.concatenate([low[:, None] + left * unit, mode[:, None] + right * unit], axis=1)
    widths = np.concatenate([left * weight, right * weight], axis=1)
    with np.errstate(divide="ignore"):
        return nodes, log_density(nodes) + np.log(widths)
