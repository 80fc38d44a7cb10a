"""Entropy under Dirichlet priors: moments in closed form, and the NSB mixture of them.

Draw two symbols I, J from the random law itself. Since H = E[-log p_I | p], moments of H are moments of log p_I and
log p_J after conjugate updating, and the second moment collapses into a variance without cancellation:

    E[H]   = psi(A + 1) - mean,     mean = sum w_i psi(a_i + 1),     w_i = a_i / A,
    Var[H] = [ sum w_i (psi(a_i + 1) - mean)^2 + sum w_i rho(a_i + 1) - rho(A + 1) ] / (A + 1),

with rho(x) = x psi_1(x) - 1. The same two lines hold for Dirichlet and Pitman-Yor processes: all unseen symbols
together enter as one class of weight w_* with a = -d.
"""

import numpy as np
from scipy import special

from learnable.latent.entropy.counts import check_alphabet, in_base, multiplicities
from learnable.latent.entropy.quadrature import integrate_rows
from learnable.latent.entropy.special import log_progression, trigamma_excess
from learnable.validation import check_scalar


def entropy_nsb(data, alphabet_size, *, kind="counts", base=None, n_nodes=128):
    """Posterior mean and standard deviation of H under the mixture of Dirichlet priors of NSB.

    The parameter a of Dir(a, ..., a) gets the density A psi_1(A a + 1) - psi_1(a + 1), under which the prior
    mean of H is uniform on [0, log A] (Nemenman, Shafee and Bialek 2002). One integral over log a. O(L n_nodes).

    Parameters
    ----------
    data, kind
        See :func:`multiplicities`.
    alphabet_size : int
        Number of symbols A, seen or not.
    base : float, optional
        Of the logarithm; nats by default.
    n_nodes : int, default=128

    Returns
    -------
    mean, sd : float

    Examples
    --------
    >>> mean, sd = entropy_nsb([1, 2, 2, 4], alphabet_size=10)
    >>> round(mean, 4)
    1.6183
    """
    k, m = multiplicities(data, kind)
    if alphabet_size is None:
        raise ValueError("alphabet_size is needed: use entropy_dpm where the number of symbols is unknown")
    K, N = int(m.sum()), int(k @ m)
    A = check_alphabet(alphabet_size, K)
    n_nodes = check_scalar(n_nodes, "n_nodes", low=4, high=100_000, integer=True)
    if A == 1:
        return 0.0, 0.0

    def log_density(s):
        a = np.exp(s)
        seen = K * s + log_progression(a[..., None], 1.0, k - 1) @ m
        return seen - np.log(A) - s - log_progression(A * a, 1.0, N - 1) + np.log(_nsb_prior(a, A)) + s

    reach = 2 * np.log(N + A) + 60
    s, logw = integrate_rows(log_density, np.array([-reach]), np.array([reach]), n_nodes)
    a, w = np.exp(s[0]), np.exp(logw[0] - logw.max())
    w /= w.sum()
    grown, counts = np.append(k, 0) + a[:, None], np.append(m, A - K)
    mean, var = moments(grown, counts * grown, N + A * a)
    centre = w @ mean
    sd = np.sqrt(w @ var + w @ (mean - centre) ** 2)
    return in_base(centre, base), in_base(sd, base)


def moments(a, mass, total):
    """Moments of H along the last axis, for classes with parameters a and total masses `mass`; see the module."""
    w = mass / np.asarray(total)[..., None]
    psi = special.digamma(a + 1.0)
    centre = (w * psi).sum(axis=-1)
    spread = (w * ((psi - centre[..., None]) ** 2 + trigamma_excess(a + 1.0))).sum(axis=-1)
    return special.digamma(total + 1.0) - centre, (spread - trigamma_excess(total + 1.0)) / (total + 1.0)


def _nsb_prior(a, A):
    """A psi_1(A a + 1) - psi_1(a + 1), with the leading 1 / a of both taken out."""
    x, y = A * a + 1.0, a + 1.0
    return (A - 1) / (x * y) + A * trigamma_excess(x) / x - trigamma_excess(y) / y
