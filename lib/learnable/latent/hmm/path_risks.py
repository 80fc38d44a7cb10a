"""What a path costs: the risks of an alignment (Lember 2012, Secs. 7.3.2-7.3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.latent.hmm.recursions import as_posterior


@dataclass(frozen=True)
class Risks:
    """Risks of one path (numbers) or of several (vectors), see :func:`risks`.

    Attributes
    ----------
    paths : ndarray of shape (n,) or (m, n)
    rinf : R_inf(s|x) = 1 - p(s|x). Numerically 1 for long paths: compare logarithms.
    r1 : R_1(s|x) = n - sum p_t(s_t|x), the expected number of errors.
    log_rinf : -ln p(s|x)
    log_r1 : -sum ln p_t(s_t|x)
    prior_log_rinf : -ln p(s)
    prior_log_r1 : -sum ln P(Y_t = s_t)
    """

    paths: np.ndarray
    rinf: float | np.ndarray
    r1: float | np.ndarray
    log_rinf: float | np.ndarray
    log_r1: float | np.ndarray
    prior_log_rinf: float | np.ndarray
    prior_log_r1: float | np.ndarray

    def combined(self, C1=0.0, C2=0.0, C3=0.0, C4=0.0):
        """C1 log_r1 + C2 log_rinf + C3 prior_log_r1 + C4 prior_log_rinf, without the terms whose constant is zero."""
        terms = ((C1, self.log_r1), (C2, self.log_rinf), (C3, self.prior_log_r1), (C4, self.prior_log_rinf))
        return sum(c * r for c, r in terms if c > 0) + np.zeros(np.shape(self.log_r1))


def risks(hmm, x, path):
    """The conditional risks of a path (Lember 2012, Secs. 7.3.2-7.3.5).

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    path : array-like of int of shape (n,) or (m, n)
        One path, or m of them.

    Returns
    -------
    Risks
        With vectors of length m for m paths. O(mn) once the posteriors are known.

    Examples
    --------
    >>> from learnable.latent import DiscreteEmission, HMM
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> found = risks(coin, [0, 0], [1, 1])
    >>> round(found.r1, 3), round(found.rinf, 3)
    (0.517, 0.302)
    """
    post = as_posterior(hmm, x)
    paths = _check_paths(path, len(post), hmm.n_states)
    t = np.arange(len(post))
    log_prior = hmm.log_startprob[paths[..., 0]] + hmm.log_transmat[paths[..., :-1], paths[..., 1:]].sum(axis=-1)
    log_path = log_prior + post.log_f[t, paths].sum(axis=-1) - post.log_likelihood
    made = {
        "rinf": -np.expm1(np.minimum(log_path, 0.0)),
        "r1": len(post) - post.smoothed[t, paths].sum(axis=-1),
        "log_rinf": -log_path,
        "log_r1": -post.log_smoothed[t, paths].sum(axis=-1),
        "prior_log_rinf": -log_prior,
        "prior_log_r1": -post.log_prior[t, paths].sum(axis=-1),
    }
    return Risks(paths, **{name: float(r) if paths.ndim == 1 else r for name, r in made.items()})


def _check_paths(path, n, k):
    paths = np.asarray(path)
    if paths.dtype.kind not in "iu" or paths.ndim not in (1, 2) or paths.shape[-1] != n:
        raise ValueError(f"path must hold {n} integers for each path, got shape {paths.shape} and type {paths.dtype}")
    if paths.size and (paths.min() < 0 or paths.max() >= k):
        raise ValueError(f"path must hold states 0..{k - 1}, got values from {paths.min()} to {paths.max()}")
    return paths
