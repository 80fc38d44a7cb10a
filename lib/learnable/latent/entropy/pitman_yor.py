"""Pitman-Yor processes: moments of the entropy before and after data, evidence, coordinates and priors.

PY(d, alpha) breaks sticks beta_i ~ Beta(1 - d, alpha + i d); d = 0 is the Dirichlet process. Posterior moments are
those of :mod:`.dirichlet` with one more class, the unseen, of mass alpha + K d and a = -d.
"""

import numpy as np
from numba import njit
from scipy import special

from learnable.latent.entropy.special import (
    digamma_from_one,
    log_products,
    log_progression_sum,
    trigamma,
    trigamma_excess,
)
from learnable.validation import check_choice, check_finite_array, check_scalar


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
    if not callable(q):
        check_choice(q, "q", names, also="a function of gamma")
    check_scalar(strength, "strength", low=0)
    check_choice(prior_measure, "prior_measure", ("h_gamma", "d_alpha"))


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
