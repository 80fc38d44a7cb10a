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

from learnable.graphs.hubs.penalty import parts_prox, tie
from learnable.optim.admm import admm
from learnable.validation import Result, check_has


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
        """The graph, that is, the off-diagonal entries of the estimate that are not zero."""
        found = self.estimate != 0
        np.fill_diagonal(found, False)
        return found


def solve(loss, penalty, rho=None, relaxation=1.8, adapt=True, tol=1e-6, max_iter=2000, warm_start=None):
    """The alternating directions, for penalties that are checked."""
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


class _Fixed:
    """The loss that is zero at one matrix and infinite elsewhere."""

    def __init__(self, theta, penalty):
        self.theta, self.n_nodes = theta, len(theta)
        off = float(np.abs(theta - np.diag(np.diagonal(theta))).sum())
        price = min(penalty.alpha_edge, 0.5 * (penalty.alpha_hub_edge + penalty.alpha_hub))
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
