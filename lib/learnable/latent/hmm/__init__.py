"""Hidden Markov models: the model, its recursions, its estimation.

By concept:

- :mod:`.model`: the chain and its emissions;
- :mod:`.recursions`: filtering, prediction, smoothing, scaled and in logarithms;
- :mod:`.estimation`: Baum-Welch, and counting where states are known.

Which path to report is a question of its own: see :mod:`learnable.latent.hmm_alignment`.
"""

from learnable.latent.hmm.estimation import BaumWelchResult, baum_welch, fit_labelled
from learnable.latent.hmm.model import HMM, DiscreteEmission, GaussianEmission
from learnable.latent.hmm.recursions import Filtered, Posterior, filtering, forward_backward, predict, smooth

__all__ = [
    "HMM",
    "BaumWelchResult",
    "DiscreteEmission",
    "Filtered",
    "GaussianEmission",
    "Posterior",
    "baum_welch",
    "filtering",
    "fit_labelled",
    "forward_backward",
    "predict",
    "smooth",
]
