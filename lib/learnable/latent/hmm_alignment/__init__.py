"""Alignments of hidden Markov models: Viterbi, PMAP and everything in between (Lember 2012, Ch. 7).

By concept:

- :mod:`.alignments`: the family of paths, all by one dynamic program;
- :mod:`.risks`: what a path costs, and the search over all paths;
- :mod:`.blocks`: the posterior as a Markov chain: transitions, blocks, sampling, Rabiner's alignment.

The model and its recursions are in :mod:`learnable.latent.hmm`; their names are available here too.
"""

from learnable.latent.hmm import (
    HMM,
    DiscreteEmission,
    Filtered,
    GaussianEmission,
    Posterior,
    baum_welch,
    filtering,
    fit_labelled,
    forward_backward,
    predict,
    smooth,
)
from learnable.latent.hmm_alignment.alignments import (
    combined,
    kblock,
    penalised_pmap,
    pmap,
    posterior_viterbi,
    restricted_pmap,
    viterbi,
)
from learnable.latent.hmm_alignment.blocks import (
    conditional_transitions,
    kblock_risk,
    rabiner_blocks,
    sample_paths,
)
from learnable.latent.hmm_alignment.risks import Risks, is_admissible, risks

__all__ = [
    "HMM",
    "DiscreteEmission",
    "Filtered",
    "GaussianEmission",
    "Posterior",
    "Risks",
    "baum_welch",
    "combined",
    "conditional_transitions",
    "filtering",
    "fit_labelled",
    "forward_backward",
    "is_admissible",
    "kblock",
    "kblock_risk",
    "penalised_pmap",
    "pmap",
    "posterior_viterbi",
    "predict",
    "rabiner_blocks",
    "restricted_pmap",
    "risks",
    "sample_paths",
    "smooth",
    "viterbi",
]
