"""Which points carry the solution, and which of them in every solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import linprog
from sklearn.utils.validation import check_is_fitted

from learnable.validation import Result


@dataclass(frozen=True, eq=False)
class SupportVectors(Result):
    """Indices of training points by their part in the solution, from :func:`support_vector_report`.

    Attributes
    ----------
    support, inbound, bound : ndarray of int
        Support vectors; those below their box, and those at it (if it is finite).
    margin_errors, misclassified : ndarray of int
        Points with y f < 1, and points on the wrong side.
    essential : ndarray of int or None
        Support vectors in every dual solution, if asked for.
    """

    support: np.ndarray
    inbound: np.ndarray
    bound: np.ndarray
    margin_errors: np.ndarray
    misclassified: np.ndarray
    essential: np.ndarray | None


def support_vector_report(machine, X, *, essential=True, tol=1e-6):
    r"""Sort the training points of a fitted machine by their part in the solution.

    Parameters
    ----------
    machine : HardMarginSVM or SoftMarginSVM
    X : array (n, d)
        The training points (or the training Gram matrix, for a precomputed kernel).
    essential : bool, default=True
        Also find the essential support vectors, those with α_i > 0 in every dual solution. All dual
        solutions have the same w and the same objective, so they form a polytope; a linear program minimises
        α_i over it for each support vector. Cost: an eigendecomposition and one program a support vector.
    tol : float, default=1e-6
        What counts as zero, relative to the largest multiplier (or 1, for margins).

    Returns
    -------
    SupportVectors

    Examples
    --------
    >>> from learnable.kernels import HardMarginSVM
    >>> X = np.array([[0.0, 1.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    >>> support_vector_report(HardMarginSVM().fit(X, [-1, 1, 1, 1]), X).essential.tolist()
    [0]
    """
    check_is_fitted(machine)
    if len(machine.classes_) > 2:
        raise ValueError("machine must tell two classes apart; with several, report on each of its machines_")
    s, y = machine.solution_, machine._signs
    margins = y * machine.decision_function(X)
    norm = getattr(machine, "norm", 1)
    C = getattr(machine, "C_", np.full(y.size, np.inf))
    box = C if norm == 1 else np.full(y.size, np.inf)
    alpha = s.alpha
    top = max(float(alpha.max()), 1e-300)
    support = alpha > tol * top
    bound = support & (alpha >= box * (1.0 - tol))
    everywhere = None
    if essential:
        # With a strictly convex penalty the multipliers are unique, so that every support vector is essential.
        everywhere = np.flatnonzero(support)
        if norm == 1:
            everywhere = _essential(machine, np.asarray(X, dtype=float), alpha, box, support, tol)
    return SupportVectors(
        support=np.flatnonzero(support),
        inbound=np.flatnonzero(support & ~bound),
        bound=np.flatnonzero(bound),
        margin_errors=np.flatnonzero(margins < 1.0 - max(tol, 2.0 * machine.tol)),
        misclassified=np.flatnonzero(np.where(y > 0, margins < 0.0, margins <= 0.0)),
        essential=everywhere,
    )


def _essential(machine, X, alpha, box, support, tol):
    """Support vectors whose multiplier is positive on the whole optimal face."""
    y = machine._signs
    gram = np.asarray(machine.kernel_(X), dtype=float)
    # On the face: alpha >= 0, sum y alpha = 0, same w (so same K y alpha), same sum; points off the margin stay put.
    margins = y * machine.decision_function(X)
    slack = max(1e-5, 10.0 * machine.tol)
    movable = np.abs(margins - 1.0) <= slack
    moving = np.flatnonzero(movable)
    found = [k for k in np.flatnonzero(support) if not movable[k]]
    if not moving.size:
        return np.asarray(found, dtype=int)
    values, vectors = linalg.eigh(gram[np.ix_(moving, moving)])
    keep = values > 1e-9 * max(values[-1], 1e-300)
    features = vectors[:, keep] * np.sqrt(values[keep])
    equal = np.vstack([(features * y[moving, None]).T, y[moving], np.ones(moving.size)])
    right = equal @ alpha[moving]
    upper = [None if np.isinf(c) else c for c in box[moving]]
    for place, k in enumerate(moving):
        if not support[k]:
            continue
        cost = np.zeros(moving.size)
        cost[place] = 1.0
        answer = linprog(cost, A_eq=equal, b_eq=right, bounds=[(0.0, u) for u in upper], method="highs")
        least = answer.fun if answer.status == 0 else alpha[k]
        if least > 10.0 * tol * float(alpha.max()):
            found.append(k)
    return np.sort(np.asarray(found, dtype=int))
