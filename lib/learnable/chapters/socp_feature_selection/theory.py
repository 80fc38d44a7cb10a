"""Cantelli's inequality is sharp: the two-point law that attains it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.features.socp.cantelli import _checked
from learnable.validation import Result


@dataclass(frozen=True, eq=False)
class TwoPointLaw(Result):
    """A law on two points: what `cantelli_worst_case` returns."""

    points: np.ndarray
    weights: np.ndarray
    inside: float


def cantelli_worst_case(mu, covariance, w, b):
    """The two-point law with these moments along w that attains the bound of `cantelli_bound`."""
    mu, variance, w, b = _checked(mu, covariance, w, b)
    covariance = np.asarray(covariance, dtype=float)
    s = b - mu @ w
    if variance <= 0:
        return TwoPointLaw(np.vstack([mu, mu]), np.array([0.5, 0.5]), float(s > 0))
    direction = covariance @ w / variance  # one step along it moves w'x by one
    if s > 0:  # one point on the hyperplane
        steps = np.array([s, -variance / s])
    elif s < 0:  # the mean is outside: the lower point may stay on the hyperplane
        steps = np.array([variance / -s, s])
    else:  # the mean is on the hyperplane: the bound 0 is a limit, approached by a rare point far inside
        far = 1e8 * np.sqrt(variance)
        steps = np.array([variance / far, -far])
    weights = np.array([-steps[1], steps[0]]) / (steps[0] - steps[1])  # mean zero; the variance is -steps[0] steps[1]
    points = mu + steps[:, None] * direction
    inside = float(weights[1]) if s >= 0 else 0.0
    return TwoPointLaw(points, weights, inside)
