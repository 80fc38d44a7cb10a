"""How far the power method can be off: the bounds of Anandkumar et al. 2014 as functions to hold against a run.

Throughout T = sum lam_i v_i (x) v_i (x) v_i with orthonormal v_i and lam_i > 0, and T^ = T + E with ||E|| <= eps in
operator norm.
"""

from dataclasses import dataclass

import numpy as np

from learnable.latent.tensor_decompositions.tensors import match_components, operator_norm, sym_rank_one_sum
from learnable.validation import Result, check_finite_array, check_scalar

__all__ = [
    "perturbation_ratios",
    "quadratic_bound",
    "separation",
]


def quadratic_bound(weights, c, t):
    """Bound on ||v_1 - theta_t||^2 after t steps on an exact tensor (Anandkumar et al. 2014, Lemma 5.1).

    2 lam_1^2 sum_(i >= 2) lam_i^(-2) |lam_2 c_2 / (lam_1 c_1)|^(2^(t + 1)), where c_i = v_i' theta_0 and components are
    ordered by lam_i |c_i|.

    Parameters
    ----------
    weights, c : array-like of shape (k,)
        Eigenvalues and coordinates of the start, in any common order.
    t : int or array-like of int
        Number of steps.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> quadratic_bound([1.0, 1.0], [0.8, 0.6], 1).round(3)
    np.float64(0.633)
    """
    weights, c = _eigenvalues(weights), check_finite_array(c, "c", ndim=1)
    if c.size != weights.size or weights.size < 2:
        raise ValueError(f"c must have {weights.size} entries, one for each of at least two components, got {c.size}")
    t = np.asarray(t)
    if t.dtype.kind not in "iu" or (t < 1).any():
        raise ValueError("t must be whole numbers from 1 on")
    pull = weights * np.abs(c)
    order = np.argsort(-pull, kind="stable")
    if pull[order[0]] <= 0 or pull[order[0]] == pull[order[1]]:
        raise ValueError("lam_i |c_i| must have a unique largest value: from a tie the iteration goes nowhere")
    ratio = pull[order[1]] / pull[order[0]]
    factor = 2 * weights[order[0]] ** 2 * (weights[order[1:]] ** -2.0).sum()
    return factor * ratio ** (2.0 ** (t + 1))


def closed_form_iterate(weights, c, t):
    """Coordinates of the iterate after t steps on an exact tensor: lam_i^(2^t - 1) c_i^(2^t), normalised.

    Computed by logarithms. The limit is the component with the largest lam_i |c_i|.

    Examples
    --------
    >>> closed_form_iterate([1.0, 3.0], [0.8, 0.6], 20)
    array([0., 1.])
    """
    weights, c = _eigenvalues(weights), check_finite_array(c, "c", ndim=1)
    t = check_scalar(t, "t", low=0, integer=True)
    if c.size != weights.size or not c.any():
        raise ValueError(f"c must have {weights.size} entries, not all zero")
    if t == 0:
        return c / np.linalg.norm(c)
    with np.errstate(divide="ignore"):
        logs = (2.0**t - 1) * np.log(weights) + 2.0**t * np.log(np.abs(c))
    out = np.exp(logs - logs.max())
    return out / np.linalg.norm(out)


def separation(theta, weights):
    """Return the largest gamma for which a start is gamma-separated, and the component i* that wins.

    gamma = 1 - max_(i != i*) lam_i |theta_i| / (lam_(i*) |theta_(i*)|), in the coordinates of the v_i (Anandkumar et
    al. 2014, App. B.1; the right-hand side of the definition is printed with lam_i in place of lam_(i*)).

    Parameters
    ----------
    theta : array-like of shape (k,)
        Start, in the coordinates of the components.
    weights : array-like of shape (k,)
        Eigenvalues.

    Examples
    --------
    >>> gamma, winner = separation([0.8, 0.6], [1.0, 1.0])
    >>> round(gamma, 3), winner
    (0.25, 0)
    """
    theta, weights = check_finite_array(theta, "theta", ndim=1), check_finite_array(weights, "weights", ndim=1)
    if theta.size != weights.size or weights.size < 1 or weights.min() < 0:
        raise ValueError(f"lam must hold {theta.size} non-negative numbers, one for each coordinate of theta")
    pull = weights * np.abs(theta)
    winner = int(pull.argmax())
    if pull[winner] == 0:
        raise ValueError("theta is orthogonal to every component with a positive eigenvalue")
    rest = np.delete(pull, winner)
    return float(1 - rest.max(initial=0.0) / pull[winner]), winner


def is_separated(theta, weights, gamma, *, component=None):
    """Whether a start is gamma-separated relative to a component (by default the one with the largest eigenvalue).

    lam_(i*) |theta_(i*)| - max_(i != i*) lam_i |theta_i| >= gamma lam_(i*) |theta_(i*)|.

    Examples
    --------
    >>> is_separated([0.8, 0.6], [1.0, 1.0], 0.2), is_separated([0.8, 0.6], [1.0, 1.0], 0.3)
    (True, False)
    """
    gamma = check_scalar(gamma, "gamma", low=0, high=1, closed="neither")
    reached, winner = separation(theta, weights)
    target = int(np.argmax(weights)) if component is None else check_scalar(component, "component", low=0, integer=True)
    return bool(winner == target and reached >= gamma)


@dataclass(frozen=True, eq=False)
class PerturbationBounds(Result):
    """What Theorem 5.1 promises, in the order of `weights`."""

    eigenvector: np.ndarray
    eigenvalue: float
    residual: float
    admissible: bool


def perturbation_bounds(weights, eps):
    """Bounds on what Algorithm 1 returns for T + E with ||E|| <= eps (Anandkumar et al. 2014, Theorem 5.1).

    ||v_i - v^_i|| <= 8 eps / lam_i, |lam_i - lam^_i| <= 5 eps and ||T - sum lam^_j v^_j (x)3|| <= 55 eps; no factor
    grows with k.

    Parameters
    ----------
    weights : array-like of shape (k,)
        Positive.
    eps : float

    Returns
    -------
    PerturbationBounds
        ``eigenvector`` (k,), ``eigenvalue``, ``residual``, and ``admissible``: whether eps <= C_1 lam_min / k for the
        constant 1 / (56 * 9 * 102) that the proof writes down (a third condition, on an unnamed constant, may be
        stricter still). The bounds hold far beyond it in practice.

    Examples
    --------
    >>> bounds = perturbation_bounds([1.0, 2.0], 0.01)
    >>> bounds.eigenvector.tolist(), bounds.eigenvalue, bounds.residual, bounds.admissible
    ([0.08, 0.04], 0.05, 0.55, False)
    """
    weights = _eigenvalues(weights)
    eps = check_scalar(eps, "eps", low=0)
    constant = 1 / (56 * 9 * 102)
    return PerturbationBounds(
        8 * eps / weights, 5 * eps, round(55 * eps, 15), bool(eps <= constant * weights.min() / weights.size)
    )


@dataclass(frozen=True, eq=False)
class PerturbationRatios(Result):
    """Errors over eps, from :func:`perturbation_ratios`.

    Attributes
    ----------
    eigenvector : float
        Largest lam_i ||v_i - v^_i|| / eps (bound 8).
    eigenvalue : float
        Largest |lam_i - lam^_i| / eps (bound 5).
    residual : float
        ||T - T^|| / eps (bound 55).
    order : ndarray of int
        The found component of each true one.
    """

    eigenvector: float
    eigenvalue: float
    residual: float
    order: np.ndarray


def perturbation_ratios(weights, V, found_lam, found_V, eps, *, random_state=None):
    """Errors of a decomposition over eps: how much of the bounds of Theorem 5.1 a run uses up.

    Parameters
    ----------
    weights, V : array-like of shape (k,), (d, k)
        The truth, components as columns.
    found_lam, found_V : array-like of the same shapes
    eps : float
        Operator norm of the perturbation.
    random_state : int, Generator or None
        For :func:`operator_norm`.

    Returns
    -------
    PerturbationRatios

    Examples
    --------
    >>> got = perturbation_ratios([1.0], [[1.0]], [1.1], [[1.0]], 0.1, random_state=0)
    >>> round(got.eigenvalue, 6), round(got.residual, 6)
    (1.0, 1.0)
    """
    weights, eps = _eigenvalues(weights), check_scalar(eps, "eps", low=0, closed="neither")
    V, found_V = check_finite_array(V, "V", ndim=2), check_finite_array(found_V, "found_V", ndim=2)
    found_lam = check_finite_array(found_lam, "found_lam", ndim=1)
    order, _ = match_components(found_V.T, V.T)
    distance = np.linalg.norm(V - found_V[:, order], axis=0)
    rest = sym_rank_one_sum(weights, V) - sym_rank_one_sum(found_lam, found_V)
    return PerturbationRatios(
        eigenvector=float((weights * distance).max() / eps),
        eigenvalue=float(np.abs(weights - found_lam[order]).max() / eps),
        residual=operator_norm(rest, random_state=random_state) / eps,
        order=order,
    )


def deflation_error(weights, V, found_lam, found_V, u):
    """||sum_i E_i(I, u, u)|| with E_i = lam_i v_i (x)3 - lam^_i v^_i (x)3: what deflation leaves behind in direction u.

    Examples
    --------
    >>> deflation_error([1.0], [[1.0], [0.0]], [1.0], [[1.0], [0.0]], [0.6, 0.8])
    0.0
    """
    V, found_V = check_finite_array(V, "V", ndim=2), check_finite_array(found_V, "found_V", ndim=2)
    u = check_finite_array(u, "u", ndim=1)
    left = V @ (check_finite_array(weights, "weights", ndim=1) * (V.T @ u) ** 2)
    right = found_V @ (check_finite_array(found_lam, "found_lam", ndim=1) * (found_V.T @ u) ** 2)
    return float(np.linalg.norm(left - right))


def deflation_bound(weights, eps, projections, *, lam_min=None):
    """Bound on :func:`deflation_error` after t deflations (Anandkumar et al. 2014, Lemma B.5).

    For |lam^_i - lam_i| <= eps and ||v^_i - v_i|| <= min(sqrt 2, 2 eps / lam_i), i <= t, and a unit vector u, with
    r = eps / lam_min, the square is at most

        (4 (5 + 11 r)^2 + 128 (1 + r)^2 r^2) eps^2 sum (u' v_i)^2
        + 64 (1 + r)^2 eps^2 sum (eps / lam_i)^2 + 2048 (1 + r)^2 eps^2 (sum (eps / lam_i)^3)^2.

    The first term is the point: the error acts along what has been removed already, so later components, orthogonal to
    it, hardly feel it.

    Parameters
    ----------
    weights : array-like of shape (t,)
        Eigenvalues of the deflated components.
    eps : float
    projections : array-like of shape (t,)
        u' v_i.
    lam_min : float, optional
        Smallest eigenvalue of all components; that of `weights` by default.

    Returns
    -------
    float
        The bound on the norm (the root).

    Examples
    --------
    >>> round(deflation_bound([1.0], 0.01, [0.0]), 6)
    0.000808
    """
    weights = _eigenvalues(weights)
    eps = check_scalar(eps, "eps", low=0)
    projections = check_finite_array(projections, "projections", ndim=1)
    if projections.size != weights.size or (projections**2).sum() > 1 + 1e-9:
        raise ValueError(f"projections must hold {weights.size} coordinates of a unit vector")
    low = (
        weights.min()
        if lam_min is None
        else check_scalar(lam_min, "lam_min", low=0, high=weights.min(), closed="right")
    )
    r = eps / low
    along = (4 * (5 + 11 * r) ** 2 + 128 * (1 + r) ** 2 * r**2) * (projections**2).sum()
    across = 64 * (1 + r) ** 2 * ((eps / weights) ** 2).sum()
    last = 2048 * (1 + r) ** 2 * ((eps / weights) ** 3).sum() ** 2
    return float(eps * np.sqrt(along + across + last))


def _eigenvalues(lam):
    lam = check_finite_array(lam, "lam", ndim=1)
    if lam.size == 0 or lam.min() <= 0:
        raise ValueError("lam must hold positive eigenvalues")
    return lam
