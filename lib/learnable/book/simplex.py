"""Pictures of three weights: a triangle with the regions of the columns, and orbits in it."""

from __future__ import annotations

import numpy as np

from learnable.book.style import COLORS, CYCLE
from learnable.validation import check_finite_array

__all__ = ["draw_orbit", "draw_simplex", "simplex_points"]

# All weight on example 1, 2, 3.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def simplex_points(weights):
    """Points of the plane for weight vectors of length three.

    Examples
    --------
    >>> simplex_points([[1, 0, 0], [0, 1, 0]]).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    weights = check_finite_array(weights, "weights")
    if weights.shape[-1:] != (3,):
        raise ValueError(f"weights must have three columns, got shape {weights.shape}")
    return weights @ _CORNERS


def draw_simplex(ax):
    """Draw the weights of three examples as a triangle, with the region of each column of the 3 × 3 matrix."""
    centre = _CORNERS.mean(axis=0)
    for j in range(3):
        others = np.delete(_CORNERS, j, axis=0)
        ax.fill(*np.vstack([others, centre]).T, color=CYCLE[j], alpha=0.13, lw=0)
        at = centre + 0.62 * (others.mean(axis=0) - centre)
        ax.text(*at, f"column {j + 1}", color=CYCLE[j], ha="center", va="center")
    ax.plot(*_CORNERS[[0, 1, 2, 0]].T, color=COLORS["muted"], lw=1)
    middles = (_CORNERS + np.roll(_CORNERS, -1, axis=0)) / 2
    ax.plot(*middles[[0, 1, 2, 0]].T, color=COLORS["muted"], lw=1, ls=":")
    for j, (x, y) in enumerate(((-0.02, -0.06), (0.02, -0.06), (0, 0.03))):
        ax.text(_CORNERS[j, 0] + x, _CORNERS[j, 1] + y, f"all on {j + 1}", ha="center", color=COLORS["muted"])
    ax.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.1, 0.95))
    ax.axis("off")


def draw_orbit(ax, weights):
    """Draw an orbit of three weights in the triangle: rings that grow with time, joined by a line."""
    path = simplex_points(weights)
    ax.plot(*path.T, color=COLORS["ink"], lw=0.8, alpha=0.6)
    size = 12 + 3.5 * np.arange(len(path))
    ax.scatter(*path.T, s=size, facecolor="none", edgecolor=COLORS["ink"], lw=0.9, zorder=3)
