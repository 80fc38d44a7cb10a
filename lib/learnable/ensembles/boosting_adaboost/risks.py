"""φ-risk, excess φ-risk and excess risk of a score, exactly, on problems with finitely many feature values."""

from __future__ import annotations

import numpy as np

from learnable.ensembles.losses import get_surrogate
from learnable.laws.problems import FiniteProblem
from learnable.validation import check_finite_array

__all__ = []


def _setting(problem, f):
    if not isinstance(problem, FiniteProblem) or problem.n_classes != 2:
        raise ValueError("problem must be a FiniteProblem with two classes")
    scores = f(problem.x_values) if callable(f) else f
    scores = check_finite_array(scores, "f", ndim=1)
    if len(scores) != len(problem.p_x):
        raise ValueError(f"f must give {len(problem.p_x)} scores, one for each feature value, got {len(scores)}")
    return problem.p_x, problem.p_xy[:, 1] / problem.p_x, scores


def phi_risk(problem, f, phi):
    """E φ(Y f(X)); class 1 of the problem is Y = +1, class 0 is Y = −1.

    Parameters
    ----------
    problem : FiniteProblem
    f : array (m,) or callable
        Scores at the feature values.
    phi : Surrogate or str

    Examples
    --------
    >>> problem = FiniteProblem([[0.3, 0.1], [0.2, 0.4]])
    >>> round(phi_risk(problem, [-1.0, 1.0], "hinge"), 12)
    0.6
    """
    p, eta, scores = _setting(problem, f)
    return float(p @ get_surrogate(phi).conditional(eta, scores))


def excess_phi_risk(problem, f, phi):
    """R_φ(f) − R_φ*, the latter Σ p(x) H(η(x)).

    Examples
    --------
    >>> problem = FiniteProblem([[0.3, 0.1], [0.2, 0.4]])
    >>> round(excess_phi_risk(problem, [1.0, 1.0], "hinge"), 12)
    0.4
    """
    p, eta, scores = _setting(problem, f)
    loss = get_surrogate(phi)
    return float(p @ (loss.conditional(eta, scores) - loss.H(eta)))


def excess_risk(problem, f):
    """R(f) − R*, with R(f) = P(Y f(X) ≤ 0): a score of zero counts as an error of both classes.

    Examples
    --------
    >>> problem = FiniteProblem([[0.3, 0.1], [0.2, 0.4]])
    >>> round(excess_risk(problem, [1.0, 1.0]), 12)
    0.2
    """
    p, eta, scores = _setting(problem, f)
    error = np.where(scores > 0, 1 - eta, np.where(scores < 0, eta, 1.0))
    return float(p @ (error - np.minimum(eta, 1 - eta)))
