"""Risk bounds from margins, which do not see the dimension (Lember 2012, Sec. 4.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.validation import Result, check_finite_array, check_scalar

__all__ = ["MarginBounds", "margin_bounds"]


@dataclass(frozen=True, eq=False)
class MarginBounds(Result):
    """Four bounds on the risk, from :func:`margin_bounds`, and what all of them add for the complexity and chance."""

    ramp: float
    margin_error: float
    hinge: float
    squared: float
    complexity: float


def margin_bounds(f, y, K_diag, gamma, delta=0.05):
    r"""Upper bounds on the risk of sgn f, for a fixed margin and f from the unit ball.

    With the ramp φ (1 above 0, falling to 0 at -γ), A_n the mean of
    φ(-y_if_i), ξ_i = (γ - y_if_i)_+ and the complexity
    κ = (4/nγ)√(Σ K_ii) + 3√(ln(2/δ)/(2n)), each of the following exceeds
    the risk with probability at least 1-δ: ``ramp`` A_n + κ; ``margin_error``
    (1/n)#{y_if_i<γ} + κ; ``hinge`` (1/nγ)Σξ_i + κ; ``squared``
    (1/nγ²)Σξ_i² plus κ with its first term doubled.

    They hold for a margin fixed before the data and for f = w'x with ‖w‖ ≤ 1: divide a fitted
    function by its norm first, and count an intercept as one more feature (then K_ii grows by its square).

    Parameters
    ----------
    f : array (n,)
        Values of the normalised function.
    y : array (n,)
        Labels -1 and +1.
    K_diag : array (n,) or float
        K(x_i, x_i).
    gamma : float
    delta : float in (0, 1), default=0.05

    Returns
    -------
    MarginBounds
        Values above one say nothing.

    Examples
    --------
    >>> bounds = margin_bounds(np.full(10_000, 0.5), np.ones(10_000), 1.0, 0.4)
    >>> round(bounds.ramp, 3)
    0.141
    """
    f, y, diagonal, delta = _read(f, y, K_diag, delta)
    # Beyond 1e100 squares overflow, and no margin in the unit ball is that large or that small.
    gamma = check_scalar(gamma, "gamma", low=1e-100, high=1e100)
    n = f.size
    margins = y * f
    error = np.maximum(gamma - margins, 0.0)
    root = 4.0 * np.sqrt(diagonal.sum()) / (n * gamma)
    chance = 3.0 * np.sqrt(np.log(2.0 / delta) / (2.0 * n))
    ramp = np.clip(1.0 - margins / gamma, 0.0, 1.0)
    return MarginBounds(
        ramp=float(ramp.mean() + root + chance),
        margin_error=float(np.mean(margins < gamma) + root + chance),
        hinge=float(error.mean() / gamma + root + chance),
        squared=float(np.mean(error**2) / gamma**2 + 2.0 * root + chance),
        complexity=float(root + chance),
    )


def margin_bounds_on_grid(f, y, K_diag, gammas, delta=0.05):
    """The same for a margin chosen after seeing the data, from a grid fixed before: each bound gets delta / size.

    Parameters
    ----------
    f, y, K_diag, delta
        As for :func:`margin_bounds`.
    gammas : array (g,)

    Returns
    -------
    MarginBounds
        For each bound a pair: its least value over the grid, and the margin where it is taken; no complexity.

    Examples
    --------
    >>> best = margin_bounds_on_grid(np.full(10_000, 0.5), np.ones(10_000), 1.0, [0.1, 0.25, 0.5])
    >>> best.ramp[1]
    0.5
    """
    gammas = check_finite_array(gammas, "gammas", ndim=1)
    if gammas.size == 0:
        raise ValueError("gammas must hold at least one margin")
    delta = check_scalar(delta, "delta", low=0.0, high=1.0, closed="neither")
    rows = [margin_bounds(f, y, K_diag, gamma, delta / gammas.size) for gamma in gammas]
    out = {}
    for name in ("ramp", "margin_error", "hinge", "squared"):
        values = [getattr(row, name) for row in rows]
        best = int(np.argmin(values))
        out[name] = (values[best], float(gammas[best]))
    return MarginBounds(**out, complexity=None)


def _read(f, y, K_diag, delta):
    f = check_finite_array(f, "f", ndim=1)
    y = check_finite_array(y, "y", ndim=1)
    if f.shape != y.shape or f.size == 0:
        raise ValueError(f"f and y must have the same positive length, got {f.size} and {y.size}")
    if not np.all(np.abs(y) == 1.0):
        raise ValueError("y must hold the labels -1 and +1")
    diagonal = np.broadcast_to(check_finite_array(K_diag, "K_diag"), f.shape)
    if np.any(diagonal < 0.0):
        raise ValueError("K_diag must not be negative")
    return f, y, diagonal, check_scalar(delta, "delta", low=0.0, high=1.0, closed="neither")
