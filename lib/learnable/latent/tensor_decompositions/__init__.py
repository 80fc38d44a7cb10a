"""Learning latent variable models with orthogonal tensor decompositions (Anandkumar, Ge, Hsu, Kakade, Telgarsky 2014).

By concept:

- :mod:`.tensors`: tensors as multilinear maps, norms, matching of components;
- :mod:`.power`: the robust power method, deflation, and its variants;
- :mod:`.whitening`: to orthonormal components and back, also for a matrix known only by its products;
- :mod:`.moments`: moments of words, points and cumulants that have the form the power method needs;
- :mod:`.text`: topic models, and EM to polish them;
- :mod:`.mixtures`, :mod:`.ica`, :mod:`.multiview`: Gaussian and product mixtures, independent components, three views
  and hidden Markov models;
- :mod:`.baselines`: contraction, joint diagonalisation, flattening;
- :mod:`.perturbation`: the bounds of the theory, as functions.
"""

from learnable.latent.tensor_decompositions.baselines import (
    flattening_svd,
    joint_diagonalization,
    random_contraction,
)
from learnable.latent.tensor_decompositions.ica import ICATensor
from learnable.latent.tensor_decompositions.mixtures import (
    ProductMixtureTensor,
    SphericalGMMTensor,
)
from learnable.latent.tensor_decompositions.moments import (
    WordMoments,
    check_counts,
    pair_triple_moments,
    spherical_moments,
)
from learnable.latent.tensor_decompositions.multiview import HMMTensor, MultiViewTensor
from learnable.latent.tensor_decompositions.perturbation import (
    perturbation_ratios,
    quadratic_bound,
)
from learnable.latent.tensor_decompositions.power import (
    is_isolated_maximizer,
    tensor_eig,
    tensor_power,
)
from learnable.latent.tensor_decompositions.tensors import (
    T_IIu,
    T_Iuu,
    T_uuu,
    check_symmetric,
    frobenius_norm,
    match_components,
    operator_norm,
    sym_rank_one_sum,
    symmetrize,
)
from learnable.latent.tensor_decompositions.text import LDATensor, SingleTopicTensor, single_topic_em
from learnable.latent.tensor_decompositions.whitening import recover_components, whiten, whiten_operator

__all__ = [
    "HMMTensor",
    "ICATensor",
    "LDATensor",
    "MultiViewTensor",
    "ProductMixtureTensor",
    "SingleTopicTensor",
    "SphericalGMMTensor",
    "T_IIu",
    "T_Iuu",
    "T_uuu",
    "WordMoments",
    "check_counts",
    "check_symmetric",
    "flattening_svd",
    "frobenius_norm",
    "is_isolated_maximizer",
    "joint_diagonalization",
    "match_components",
    "operator_norm",
    "pair_triple_moments",
    "perturbation_ratios",
    "quadratic_bound",
    "random_contraction",
    "recover_components",
    "single_topic_em",
    "spherical_moments",
    "sym_rank_one_sum",
    "symmetrize",
    "tensor_eig",
    "tensor_power",
    "whiten",
    "whiten_operator",
]
