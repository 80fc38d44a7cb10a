"""Pitman-Yor processes: moments of the entropy before and after data, evidence, coordinates and priors.

PY(d, alpha) breaks sticks beta_i ~ Beta(1 - d, alpha + i d); d = 0 is the Dirichlet process. Posterior moments are
those of :mod:`.dirichlet` with one more class, the unseen, of mass alpha + K d and a = -d.
"""

import numpy as np
from numba import njit
from scipy import special

from learnable.datasets.counts import pitman_yor_sticks
from learnable.latent.entropy_estimation.counts import multiplicities
from learnable.latent.entropy_estimation.special import (
    digamma_from_one,
    inverse_digamma_from_one,
    inverse_progression_sum,
    log_products,
    log_progression_sum,
    trigamma,
    trigamma_excess,
)
from learnable.validation import check_finite_array, check_scalar

__all__ = [
    "from_entropy_coordinates",
    "log_evidence",
    "log_prior",
    "py_posterior_moments",
    "sample_py",
    "to_entropy_coordinates",
]


def py_prior_moments(d, alpha):
    """Mean and variance of the entropy of a draw from PY(d, alpha), in nats (Archer et al. 2014, eqs. 12 and 13).

    E[H] = psi(alpha + 1) - psi(1 - d), Var[H] = [rho(1 - d) - rho(alpha + 1)] / (alpha + 1), rho(x) = x psi_1(x) - 1;
    the paper's form of the variance is equal, and loses digits for large alpha.

    Parameters
    ----------
    d : array-like in [0, 1)
    alpha : array-like > -d

    Examples
    --------
    >>> mean, var = py_prior_moments(0.0, 1.0)
    >>> round(float(mean), 12), round(float(var), 6)
    (1.0, 0.177533)
    """
    d, alpha = check_parameters(d, alpha)
    mean = digamma_from_one(alpha) - digamma_from_one(-d)
    return mean, (trigamma_excess(1.0 - d) - trigamma_excess(alpha + 1.0)) / (alpha + 1.0)


def py_posterior_moments(data, d, alpha, *, kind="counts"):
    """Mean and variance of H given counts and fixed (d, alpha), in nats (Archer et al. 2014, eqs. 15 and 16).

    O(L n_d + n) for L distinct counts, n_d distinct values of d, n points.

    Parameters
    ----------
    data, kind
        See :func:`multiplicities`.
    d, alpha : array-like, broadcast together
        d in [0, 1), alpha > -d.

    Examples
    --------
    >>> mean, var = py_posterior_moments([5, 3, 2, 1, 1], 0.3, 4.0)
    >>> round(float(mean), 5), round(float(var), 6)
    (2.43829, 0.111304)
    """
    k, m = multiplicities(data, kind)
    d, alpha = check_parameters(d, alpha)
    flat, where = np.unique(d, return_inverse=True)
    mean, var = conditional_moments(CountSums(k, m, flat).take(where.reshape(-1)), d.ravel(), alpha.ravel())
    return mean.reshape(d.shape), var.reshape(d.shape)


def log_evidence(data, d, alpha, *, kind="counts"):
    """log p(x | d, alpha), the probability of the partition of the sample into symbols (Archer et al. 2014, eq. 17).

    sum_{l<K} log(alpha + l d) + sum_i log Gamma(n_i - d) / Gamma(1 - d) + log Gamma(1 + alpha) / Gamma(alpha + N),
    every quotient as the logarithm of a product over a progression: exact to rounding for any alpha. O(L n_d + n).

    Parameters
    ----------
    data : array-like
        Counts, samples or multiplicities; see `kind`.
    d : float or array-like
        Discount, in [0, 1).
    alpha : float or array-like
        Concentration, above -d.
    kind : {"counts", "samples", "multiplicities"}, default="counts"

    Examples
    --------
    >>> round(float(np.exp(log_evidence([1, 1], 0.0, 3.0))), 12)  # the second sample is new: 3 / (3 + 1)
    0.75
    >>> round(float(log_evidence([1, 2, 2, 4], 0.0, 1e12)), 6)
    -136.363346
    """
    k, m = multiplicities(data, kind)
    d, alpha = check_parameters(d, alpha)
    return log_seen(k, m, d) + log_new(k, m, d, alpha)


def log_evidence_derivatives(data, d, alpha, *, kind="counts"):
    """Gradient and Hessian of the log-evidence in (d, alpha). O(K + L).

    Returns
    -------
    gradient : ndarray of shape (2,)
    hessian : ndarray of shape (2, 2)

    Examples
    --------
    >>> gradient, hessian = log_evidence_derivatives([1, 2, 2, 4], 0.2, 1.5)
    >>> gradient.round(4).tolist()
    [-1.5933, -0.0091]
    """
    k, m = multiplicities(data, kind)
    d, alpha = check_parameters(d, alpha)
    if d.ndim:
        raise ValueError("d and alpha must be single numbers")
    n, K = k.astype(float), int(m.sum())
    new = _new_symbol_sums(float(alpha), float(d), K - 1)
    later = np.array([inverse_progression_sum(float(alpha), 1.0, int(k @ m) - 1, p) for p in (1, 2)])
    first = m @ (special.digamma(n - d) - special.digamma(1 - d))
    second = m @ (trigamma(n - d) - trigamma(1 - d))
    gradient = np.array([new[1] - first, new[0] - later[0]])
    hessian = np.array([[second - new[4], -new[3]], [-new[3], later[1] - new[2]]])
    return gradient, hessian


def to_entropy_coordinates(d, alpha):
    """(h, gamma): the prior mean of H, psi(alpha + 1) - psi(1 - d), and the share of it that d contributes.

    Parameters
    ----------
    d : float or array-like
        Discount, in [0, 1).
    alpha : float or array-like
        Concentration, above -d.

    Examples
    --------
    >>> h, gamma = to_entropy_coordinates(0.5, 0.0)
    >>> round(float(h), 4), float(gamma)
    (1.3863, 1.0)
    """
    d, alpha = check_parameters(d, alpha)
    if (alpha < 0).any():
        raise ValueError("alpha must not be negative: gamma would exceed one")
    a, b = digamma_from_one(alpha), -digamma_from_one(-d)
    h = a + b
    return h, np.divide(b, h, out=np.zeros_like(h), where=h > 0)


def from_entropy_coordinates(h, gamma):
    """Invert ``to_entropy_coordinates`` with a Newton inverse of the digamma function.

    Parameters
    ----------
    h : float or array-like
        Prior mean of H.
    gamma : float or array-like
        Share of it that d contributes, in [0, 1).

    Examples
    --------
    >>> d, alpha = from_entropy_coordinates(*to_entropy_coordinates(0.25, 40.0))
    >>> round(float(d), 12), round(float(alpha), 9)
    (0.25, 40.0)
    """
    h, gamma = check_finite_array(h, "h"), check_finite_array(gamma, "gamma")
    if (h < 0).any() or (gamma < 0).any() or (gamma > 1).any():
        raise ValueError("h must not be negative, and gamma must lie in [0, 1]")
    return -inverse_digamma_from_one(-h * gamma), inverse_digamma_from_one(h * (1 - gamma))


def log_prior(d, alpha, *, q="exp", strength=10.0, prior_measure="h_gamma"):
    """Logarithm of the PYM prior's density in (d, alpha), up to a constant.

    p(h, gamma) = q(gamma) makes the prior on the expected entropy flat. In (d, alpha) the density is
    q(gamma) psi_1(1 - d) psi_1(1 + alpha) / h: h gamma depends on d alone and h (1 - gamma) on alpha alone.

    Parameters
    ----------
    d, alpha : array-like
    q : {"exp", "uniform"} or callable, default="exp"
        exp(-strength / (1 - gamma)), constant, or a vectorised function of gamma.
    strength : float, default=10.0
    prior_measure : {"h_gamma", "d_alpha"}, default="h_gamma"
        "d_alpha" leaves out the Jacobian: q(gamma) dd dalpha.

    Examples
    --------
    >>> round(float(log_prior(0.0, 1.0, strength=10.0)), 4)  # -10 + log psi_1(1) + log psi_1(2) - log 1
    -9.9409
    """
    check_prior(q, strength, prior_measure)
    d, alpha = check_parameters(d, alpha)
    a, b = digamma_from_one(alpha), -digamma_from_one(-d)
    if np.any(a + b == 0):
        raise ValueError("d and alpha must not both be 0: the mean entropy is 0 there, and the prior has no density")
    with np.errstate(divide="ignore", invalid="ignore"):
        h = a + b
        if callable(q):
            value = np.log(_tail_density(q, np.where(h > 0, b / h, 0.0)))
        else:
            value = -strength * np.where(a > 0, h / a, np.inf) if q == "exp" and strength > 0 else np.zeros_like(h)
        if prior_measure == "h_gamma":
            value = value + np.log(trigamma(1.0 - d) * trigamma(1.0 + alpha) / h)
    return value


def check_prior(q, strength, prior_measure, names=("exp", "uniform")):
    """Refuse what is no prior of gamma; the values of a function are checked where they are used."""
    if not callable(q) and not (isinstance(q, str) and q in names):
        raise ValueError(f"q must be {', '.join(map(repr, names))} or a function of gamma, got {q!r}")
    check_scalar(strength, "strength", low=0)
    if not (isinstance(prior_measure, str) and prior_measure in ("h_gamma", "d_alpha")):
        raise ValueError(f"prior_measure must be 'h_gamma' or 'd_alpha', got {prior_measure!r}")


def _tail_density(q, gamma):
    """The values of a prior function, one non-negative number for each gamma."""
    value = np.asarray(q(gamma))
    if value.dtype.kind not in "iufb" or value.shape not in ((), np.shape(gamma)):
        raise ValueError("q must return one number for each gamma")
    if not ((value >= 0) & (value < np.inf)).all():
        raise ValueError("q must return finite numbers, none negative")
    return np.broadcast_to(value, np.shape(gamma)).astype(float)


def tail_power(q, strength, prior_measure):
    """The power c of 1 - d by which the prior enters the posterior near d = 1; infinite if it restrains the tails.

    With r symbols seen twice the posterior density behaves like (1 - d)^(r + c), and E[H | x, d] like 1 / (1 - d). So
    the posterior mean exists if r + c > 0 and the standard deviation if r + c > 1. On the line alpha = 0 a flat h has
    the density psi_1(1 - d), so c = -2; in the plane it is shared with gamma, so c = -1; for q ~ (1 - gamma)^p, p more.
    """
    if q == "dpm" or (q == "exp" and strength > 0):
        return np.inf
    measure = 0.0 if prior_measure == "d_alpha" else -2.0 if q == "py" else -1.0
    if not callable(q):
        return measure
    near, nearer = _tail_density(q, np.array([1 - 1e-5, 1 - 1e-7]))
    if nearer == 0 or near == 0:
        return np.inf
    return measure + round(float(np.log(near / nearer) / np.log(100.0)), 3)


def sample_py(d, alpha, *, tol=1e-3, n_sticks=None, max_sticks=2_000_000, random_state=None):
    """Break sticks: weights of a draw from PY(d, alpha), in size-biased order, and the mass that is left.

    beta_i ~ Beta(1 - d, alpha + i d), weight_i = beta_i prod_{j<i} (1 - beta_j), until less than `tol` is left.
    Nothing is normalised: the weights and the rest sum to one.

    Parameters
    ----------
    d : float in [0, 1)
    alpha : float > -d
    tol : float, default=1e-3
        Not used if `n_sticks` is given.
    n_sticks : int, optional
        Break exactly that many.
    max_sticks : int, default=2_000_000
        With a large d the mass decays like a power of the number of sticks.
    random_state : int, Generator or None

    Returns
    -------
    weights : ndarray
    left : float

    Examples
    --------
    >>> weights, left = sample_py(0.2, 5.0, random_state=0)
    >>> left < 1e-3, round(float(weights.sum()) + left, 12)
    (True, 1.0)
    """
    return pitman_yor_sticks(d, alpha, tol=tol, n_sticks=n_sticks, max_sticks=max_sticks, random_state=random_state)


def check_parameters(d, alpha):
    """Broadcast (d, alpha) after checking d in [0, 1) and alpha > -d (alpha = 0 with d = 0 is a point mass)."""
    d, alpha = check_finite_array(d, "d"), check_finite_array(alpha, "alpha")
    if (d < 0).any() or (d >= 1).any():
        raise ValueError("d must lie in [0, 1)")
    try:
        d, alpha = np.broadcast_arrays(d, alpha)
    except ValueError:
        raise ValueError(f"d and alpha must broadcast, got shapes {d.shape} and {alpha.shape}") from None
    if ((alpha <= -d) & ~((d == 0) & (alpha == 0))).any():
        raise ValueError("alpha must exceed -d")
    return d, alpha


class CountSums:
    """The sums over symbols that the posterior moments need: they depend on d, not on alpha. O(L) for each d."""

    def __init__(self, k, m, d):
        a = k - d[:, None]
        psi, mass = special.digamma(a + 1.0), m * a
        self.total = mass.sum(axis=1)
        self.centre = (mass * psi).sum(axis=1) / self.total
        self.spread = (mass * ((psi - self.centre[:, None]) ** 2 + trigamma_excess(a + 1.0))).sum(axis=1) / self.total
        self.N, self.K = float(k @ m), float(m.sum())

    def take(self, where):
        """The same sums at d[where]."""
        for name in ("total", "centre", "spread"):
            setattr(self, name, getattr(self, name)[where])
        return self


def conditional_moments(sums, d, alpha):
    """E[H | x, d, alpha] and Var[H | x, d, alpha], elementwise: the seen and the unseen as two groups."""
    S, unseen = alpha + sums.N, alpha + sums.K * d
    ws, wu = sums.total / S, unseen / S
    new = special.digamma(1.0 - d)
    gap = sums.centre - new
    spread = ws * sums.spread + wu * trigamma_excess(1.0 - d) + ws * wu * gap**2
    # The unseen have mean psi(1 - d), the seen `centre`: the weighted mean, from the heavier group.
    centre = np.where(ws > wu, sums.centre - wu * gap, new + ws * gap)
    return special.digamma(S + 1.0) - centre, (spread - trigamma_excess(S + 1.0)) / (S + 1.0)


def log_seen(k, m, d):
    """sum_i log Gamma(n_i - d) / Gamma(1 - d) for every d, of any shape."""
    flat, where = np.unique(d, return_inverse=True)
    return _log_seen(k, m.astype(np.float64), flat)[where.reshape(-1)].reshape(np.shape(d))


def log_new(k, m, d, alpha):
    """The factors of the evidence that depend on alpha."""
    N, K = int(k @ m), int(m.sum())
    with np.errstate(divide="ignore"):
        return log_products(alpha, d, K - 1) - log_products(alpha, 1.0, N - 1)


@njit(cache=True)
def _log_seen(k, m, d):
    out, head = np.zeros(len(d)), np.zeros(33)
    for i in range(len(d)):
        for j in range(1, 33):
            head[j] = head[j - 1] + np.log(j - d[i])
        for j in range(len(k)):
            if k[j] <= 33:
                out[i] += m[j] * head[k[j] - 1]
            else:
                out[i] += m[j] * (head[32] + log_progression_sum(32.0 - d[i], 1.0, k[j] - 33))
    return out


@njit(cache=True)
def _new_symbol_sums(alpha, d, n):
    """Sums over l = 1..n of 1/x, l/x, 1/x^2, l/x^2, l^2/x^2 with x = alpha + l d."""
    out = np.zeros(5)
    for j in range(1, n + 1):
        u = 1.0 / (alpha + j * d)
        out[0] += u
        out[1] += j * u
        out[2] += u * u
        out[3] += j * u * u
        out[4] += (j * u) ** 2
    return out
