r"""One engine for every convex loss with the hub penalty (Tan et al. 2014, Algorithm 1), certified by a duality gap.

The variable is the triple (Θ, V, Z); f is the loss of Θ plus the two penalties of V and Z, which the proximal maps
treat one by one, and g the indicator of Θ = V + V' + Z. A *loss* is an object with

- ``n_nodes`` and ``unit``: p, and what a gap is divided by;
- ``start()``: a symmetric matrix to begin with, and ``rho``: a first guess of the step;
- ``step(A, rho)``: the minimiser of the loss plus rho/2 |Θ - A|², a symmetric matrix;
- ``value(theta)``: the loss, infinite outside its domain, and ``repair(theta)``: a near point of the domain with the
  same off-diagonal entries, or None;
- ``bound(theta, multiplier, prices)``: a lower bound on the penalised minimum from a multiplier of the dual set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.graphs.hub_graphical_models.penalty import HubPenalty, parts_prox, tie
from learnable.optim.admm import admm
from learnable.validation import Result, check_has, check_symmetric

__all__ = ["HubFit", "hub_admm", "hub_penalty"]

NEEDS = "n_nodes unit start rho step value repair bound"


@dataclass(frozen=True, eq=False)
class HubFit(Result):
    """A matrix with hubs and its parts.

    ``estimate`` is exactly Z + V + V', so that its zeros are zeros; Z is symmetric and carries the diagonal, V has a
    zero diagonal (the split of the diagonal is not identified). ``dual`` is the multiplier Λ of the penalty,
    ``objective`` the penalised loss and ``gap`` the certified distance of it from the minimum. ``n_blocks`` counts the
    parts that were solved apart.
    """

    estimate: np.ndarray
    V: np.ndarray
    Z: np.ndarray
    dual: np.ndarray
    objective: float
    gap: float
    n_iter: int
    converged: bool
    n_blocks: int = 1

    @property
    def hubs(self):
        """Nodes whose column of V is not zero, the densest first."""
        degrees = np.count_nonzero(self.V, axis=0)
        return np.array(sorted(np.flatnonzero(degrees), key=lambda j: (-degrees[j], j)), dtype=np.int64)

    @property
    def adjacency(self):
        """The graph: off-diagonal entries of the estimate that are not zero."""
        found = self.estimate != 0
        np.fill_diagonal(found, False)
        return found


def hub_admm(
    loss,
    lam1,
    lam2,
    lam3,
    *,
    q=2,
    rho=None,
    relaxation=1.8,
    adapt=True,
    tol=1e-6,
    max_iter=2000,
    warm_start=None,
):
    """Minimise a convex loss plus the hub penalty by consensus ADMM (Tan et al. 2014, Algorithm 1).

    Stops when the duality gap is at most `tol` times the loss's unit: p for the log-determinant, ½|S|² for least
    squares, n p log 2 for a pseudo-likelihood. An iteration costs one step of the loss and O(p²).

    Parameters
    ----------
    loss : object
        With the methods listed at the head of this module: :class:`GaussianLoss`, :class:`CovarianceLoss`,
        :class:`PseudoLikelihood`, or your own.
    lam1, lam2, lam3 : float
        Prices of an entry of Z, of an entry of V and of a column of V; infinity switches a part off.
    q : {1, 2}, default=2
        Norm of a column.
    rho : float, optional
        First step; the loss knows a good one.
    relaxation : float, default=1.8
        In (0, 2).
    adapt : bool, default=True
        Let the residuals choose rho.
    tol : float, default=1e-06
    max_iter : int, default=2000
    warm_start : HubFit, optional
        A solution for other penalties.

    Returns
    -------
    HubFit

    Examples
    --------
    >>> from learnable.graphs.hub_graphical_models import GaussianLoss
    >>> S = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> fit = hub_admm(GaussianLoss(S), 0.2, 1.0, 1.0, tol=1e-10)
    >>> np.linalg.inv(fit.estimate).round(4).tolist()
    [[1.0, 0.3], [0.3, 1.0]]
    """
    check_has(loss, "loss", NEEDS, "a loss such as GaussianLoss(S)")
    penalty = HubPenalty.checked(lam1, lam2, lam3, q)
    return solve(loss, penalty, rho, relaxation, adapt, tol, max_iter, warm_start)


def solve(loss, penalty, rho=None, relaxation=1.8, adapt=True, tol=1e-6, max_iter=2000, warm_start=None):
    """:func:`hub_admm` for penalties that are checked."""
    p = loss.n_nodes
    state, multiplier = _begin(loss, warm_start)
    parts, tied = np.empty((3, p, p)), np.empty((3, p, p))

    def prox_f(A, rho):
        parts[0] = loss.step(A[0], rho)
        parts_prox(A, rho, penalty, parts)
        return parts

    best = {}

    def certificate(x, z, dual):
        best.update(_certify(loss, penalty, x, dual[0]))
        return best["gap"] / loss.unit

    rho = loss.rho if rho is None else rho
    options = {"relaxation": relaxation, "adapt": adapt, "tol": tol, "max_iter": max_iter}
    found = admm(
        prox_f,
        lambda A, rho: tie(A, tied),
        state,
        dual=multiplier,
        rho=rho,
        certificate=certificate,
        name="hub_admm",
        **options,
    )
    return HubFit(n_iter=found.n_iter, converged=found.converged, **best)


def hub_penalty(theta, lam1, lam2, lam3, *, q=2, tol=1e-6, max_iter=5000):
    """The hub penalty of a symmetric matrix, with the decomposition that attains it (Tan et al. 2014, (2)).

    Solved by the same engine with a loss that keeps Θ where it is; the gap is that of Lemma 7, relative to λ1 |Θ|_1.
    O(p²) an iteration.

    Parameters
    ----------
    theta : array-like of shape (p, p)
        Symmetric.
    lam1, lam2, lam3 : float
    q : {1, 2}, default=2
        Norm of a column.
    tol : float, default=1e-06
    max_iter : int, default=5000

    Returns
    -------
    HubFit
        ``objective`` is the penalty.

    Examples
    --------
    A star of four leaves, dearer as four edges (3.2) than as one hub (3.0):

    >>> star = np.zeros((5, 5))
    >>> star[0, 1:] = star[1:, 0] = 1.0
    >>> fit = hub_penalty(star, 0.4, 0.25, 1.0)
    >>> round(fit.objective, 4), fit.hubs.tolist()
    (3.0, [0])
    """
    theta = check_symmetric(theta, "theta")
    penalty = HubPenalty.checked(lam1, lam2, lam3, q)
    return solve(_Fixed(theta, penalty), penalty, tol=tol, max_iter=max_iter)


class _Fixed:
    """The loss that is zero at one matrix and infinite elsewhere."""

    def __init__(self, theta, penalty):
        self.theta, self.n_nodes = theta, len(theta)
        off = float(np.abs(theta - np.diag(np.diagonal(theta))).sum())
        price = min(penalty.lam1, 0.5 * (penalty.lam2 + penalty.lam3))
        self.unit = price * off if off > 0 else 1.0
        # Steps of the thresholds are prices over rho: in the unit of the entries they should be about as large.
        self.rho = price / (off / max(np.count_nonzero(theta), 1)) if off > 0 else 1.0

    def start(self):
        return self.theta

    def step(self, A, rho):
        return self.theta

    def value(self, theta):
        return 0.0

    def repair(self, theta):
        return self.theta

    def bound(self, theta, multiplier, prices):
        return prices.feasible_scale(multiplier) * float(np.vdot(multiplier, self.theta))


def _begin(loss, warm_start):
    """(Θ, V, Z) and its multiplier (Λ, -2Λ, -Λ): every multiplier of the constraint has this form."""
    p = loss.n_nodes
    state, multiplier = np.empty((3, p, p)), np.zeros((3, p, p))
    if warm_start is None:
        state[0] = loss.start()
        state[1], state[2] = 0.0, state[0]
        return state, multiplier
    check_has(warm_start, "warm_start", "estimate V Z dual", "a HubFit")
    if np.shape(warm_start.V) != (p, p):
        raise ValueError(f"warm_start must be a solution for {p} nodes, got {np.shape(warm_start.V)}")
    for part, matrix in enumerate((warm_start.estimate, warm_start.V, warm_start.Z)):
        state[part] = matrix
    for part, share in enumerate((1.0, -2.0, -1.0)):
        multiplier[part] = share * warm_start.dual
    return state, multiplier


def _certify(loss, penalty, x, dual):
    """The sparse iterate, its objective, and the distance from a dual bound."""
    V, Z = np.array(x[1]), np.array(x[2])
    diagonal = np.diagonal(Z) + 2.0 * np.diagonal(V)
    np.fill_diagonal(V, 0.0)
    Z = 0.5 * (Z + Z.T)
    np.fill_diagonal(Z, diagonal)
    estimate = V + V.T + Z
    repaired = loss.repair(estimate)
    multiplier = 0.5 * (dual + dual.T)
    np.fill_diagonal(multiplier, 0.0)
    found = {"V": V, "Z": Z, "dual": multiplier, "estimate": estimate, "objective": np.inf, "gap": np.inf}
    if repaired is None:
        return found
    if not isinstance(loss, _Fixed):
        np.fill_diagonal(Z, np.diagonal(repaired))
        found["estimate"] = repaired
    else:
        # What the parts miss of the given matrix is paid as edges: the decomposition is then exact.
        Z += repaired - estimate
        found["estimate"] = repaired
    found["objective"] = loss.value(repaired) + penalty.value(V, Z)
    found["gap"] = found["objective"] - loss.bound(repaired, multiplier, penalty)
    return found
