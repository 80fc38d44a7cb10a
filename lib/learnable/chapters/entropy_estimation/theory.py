"""Estimators that the source compares with, moments and evidence of the Pitman-Yor process, and its coordinates.

Source: Archer, Park and Pillow 2014.
"""

import numpy as np
from scipy import special

from learnable.datasets.counts import pitman_yor_sticks
from learnable.latent.entropy.counts import _no_coincidence, in_base, multiplicities
from learnable.latent.entropy.dirichlet import moments
from learnable.latent.entropy.pitman_yor import CountSums, conditional_moments, log_new, log_seen
from learnable.latent.entropy.pym import entropy_pym
from learnable.latent.entropy.special import EULER, ZETAS, digamma_from_one, trigamma_excess


def entropy_ansb(data, *, kind="counts", base=None):
    """2 log N - psi(N - K) - psi(1) - log 2, from coincidences alone (Nemenman 2011)."""
    k, m = multiplicities(data, kind)
    N, K = float(k @ m), float(m.sum())
    if N == K:
        return _no_coincidence("entropy_ansb counts coincidences")
    return in_base(2 * np.log(N) - special.digamma(N - K) + np.euler_gamma - np.log(2.0), base)


def dirichlet_entropy_moments(alpha, multiplicity=None):
    """Mean and variance of the entropy of p ~ Dirichlet(alpha), in nats (Wolpert and Wolf 1995). O(L)."""
    a = np.asarray(alpha, float)
    m = np.ones(a.size) if multiplicity is None else np.asarray(multiplicity, float)
    mean, var = moments(a, m * a, float(m @ a))
    return float(mean), float(var)


def py_prior_moments(d, alpha):
    """Mean and variance of the entropy of a draw from PY(d, alpha), in nats (Archer et al. 2014, eqs. 12 and 13)."""
    d, alpha = np.broadcast_arrays(np.asarray(d, float), np.asarray(alpha, float))
    mean = digamma_from_one(alpha) - digamma_from_one(-d)
    return mean, (trigamma_excess(1.0 - d) - trigamma_excess(alpha + 1.0)) / (alpha + 1.0)


def py_posterior_moments(data, d, alpha, *, kind="counts"):
    """Mean and variance of H given counts and fixed (d, alpha), in nats (Archer et al. 2014, eqs. 15 and 16)."""
    k, m = multiplicities(data, kind)
    d, alpha = np.broadcast_arrays(np.asarray(d, float), np.asarray(alpha, float))
    flat, where = np.unique(d, return_inverse=True)
    mean, var = conditional_moments(CountSums(k, m, flat).take(where.reshape(-1)), d.ravel(), alpha.ravel())
    return mean.reshape(d.shape), var.reshape(d.shape)


def log_evidence(data, d, alpha, *, kind="counts"):
    """log p(x | d, alpha), the probability of the partition of the sample into symbols (Archer et al. 2014, eq. 17)."""
    k, m = multiplicities(data, kind)
    d, alpha = np.broadcast_arrays(np.asarray(d, float), np.asarray(alpha, float))
    return log_seen(k, m, d) + log_new(k, m, d, alpha)


def from_entropy_coordinates(h, gamma):
    """Invert ``to_entropy_coordinates`` with a Newton inverse of the digamma function."""
    h, gamma = np.asarray(h, float), np.asarray(gamma, float)
    return -inverse_digamma_from_one(-h * gamma), inverse_digamma_from_one(h * (1 - gamma))


def sample_py(d, alpha, *, tol=1e-3, n_sticks=None, max_sticks=2_000_000, random_state=None):
    """Break sticks: weights of a draw from PY(d, alpha), in size-biased order, and the mass that is left."""
    return pitman_yor_sticks(d, alpha, tol=tol, n_sticks=n_sticks, max_sticks=max_sticks, random_state=random_state)


def entropy_dpm(data, *, kind="counts", base=None, **settings):
    """The same for mixtures of Dirichlet processes (d = 0): NSB without an alphabet."""
    return entropy_pym(data, kind=kind, base=base, q="dpm", **settings)


def inverse_digamma(y):
    """Solve psi(x) = y for x > 0 by Newton's method (Minka 2003, App. C). Five steps suffice everywhere."""
    y = np.asarray(y, dtype=np.float64)
    with np.errstate(over="ignore", divide="ignore"):
        x = np.where(y >= -2.22, np.exp(np.minimum(y, 700.0)) + 0.5, -1.0 / (np.minimum(y, -2.0) + EULER))
        for _ in range(6):
            x = np.maximum(x - (special.digamma(x) - y) / special.zeta(2.0, x), x * 1e-3)
    return x


def inverse_digamma_from_one(y):
    """Solve psi(1 + x) - psi(1) = y for x > -1, with full relative precision near zero."""
    y = np.asarray(y, dtype=np.float64)
    x = np.where(np.abs(y) < 0.01, y / ZETAS[0], inverse_digamma(y - EULER) - 1.0)
    near = np.abs(y) < 0.5
    for _ in range(3):
        step = (digamma_from_one(x) - y) / special.zeta(2.0, 1.0 + np.where(near, x, 0.0))
        x = np.where(near, x - step, x)
    return x
