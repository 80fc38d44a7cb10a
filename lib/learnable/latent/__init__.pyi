from .entropy_estimation import (
    PYMEntropy as PYMEntropy,
    entropy_chao_shen as entropy_chao_shen,
    entropy_grassberger as entropy_grassberger,
    entropy_miller_madow as entropy_miller_madow,
    entropy_nsb as entropy_nsb,
    entropy_plugin as entropy_plugin,
    entropy_pym as entropy_pym,
    mutual_information_pym as mutual_information_pym,
)
from .hmm import (
    HMM as HMM,
    DiscreteEmission as DiscreteEmission,
    GaussianEmission as GaussianEmission,
    baum_welch as baum_welch,
    filtering as filtering,
    fit_labelled as fit_labelled,
    forward_backward as forward_backward,
)
from .hmm_alignment import (
    kblock as kblock,
    pmap as pmap,
    posterior_viterbi as posterior_viterbi,
    sample_paths as sample_paths,
    viterbi as viterbi,
)
from .tensor_decompositions import (
    HMMTensor as HMMTensor,
    ICATensor as ICATensor,
    LDATensor as LDATensor,
    MultiViewTensor as MultiViewTensor,
    ProductMixtureTensor as ProductMixtureTensor,
    SingleTopicTensor as SingleTopicTensor,
    SphericalGMMTensor as SphericalGMMTensor,
    tensor_eig as tensor_eig,
)
