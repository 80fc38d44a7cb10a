"""Bayesian estimation of entropy with mixtures of Pitman-Yor processes (Archer, Park and Pillow 2014).

By concept:

- :mod:`.counts`: multiplicities, and the estimators that correct a bias;
- :mod:`.dirichlet`: moments of the entropy in closed form, and NSB for a known alphabet;
- :mod:`.pitman_yor`: the same for countable alphabets; evidence, coordinates (h, gamma), priors, stick breaking;
- :mod:`.pym`: the mixtures PYM and DPM, intervals, draws from the posterior of the entropy;
- :mod:`.special`, :mod:`.quadrature`, :mod:`.sampling`: the numerics beneath.

Entropies are in nats unless `base` says otherwise.
"""

from learnable.latent.entropy_estimation.counts import (
    entropy_ansb,
    entropy_chao_shen,
    entropy_grassberger,
    entropy_miller_madow,
    entropy_plugin,
    entropy_zhang,
    multiplicities,
)
from learnable.latent.entropy_estimation.dirichlet import dirichlet_entropy_moments, entropy_nsb
from learnable.latent.entropy_estimation.pitman_yor import (
    from_entropy_coordinates,
    log_evidence,
    log_prior,
    py_posterior_moments,
    sample_py,
)
from learnable.latent.entropy_estimation.pym import (
    PYMEntropy,
    entropy_dpm,
    entropy_pym,
    mutual_information_pym,
)
from learnable.latent.entropy_estimation.special import log_progression

__all__ = [
    "PYMEntropy",
    "dirichlet_entropy_moments",
    "entropy_ansb",
    "entropy_chao_shen",
    "entropy_dpm",
    "entropy_grassberger",
    "entropy_miller_madow",
    "entropy_nsb",
    "entropy_plugin",
    "entropy_pym",
    "entropy_zhang",
    "from_entropy_coordinates",
    "log_evidence",
    "log_prior",
    "log_progression",
    "multiplicities",
    "mutual_information_pym",
    "py_posterior_moments",
    "sample_py",
]
