from .entropy_estimation import (
    PYMEntropy as PYMEntropy,
)
from .entropy_estimation import (
    entropy_chao_shen as entropy_chao_shen,
)
from .entropy_estimation import (
    entropy_grassberger as entropy_grassberger,
)
from .entropy_estimation import (
    entropy_miller_madow as entropy_miller_madow,
)
from .entropy_estimation import (
    entropy_nsb as entropy_nsb,
)
from .entropy_estimation import (
    entropy_plugin as entropy_plugin,
)
from .entropy_estimation import (
    entropy_pym as entropy_pym,
)
from .entropy_estimation import (
    mutual_information_pym as mutual_information_pym,
)
from .hmm import (
    HMM as HMM,
)
from .hmm import (
    DiscreteEmission as DiscreteEmission,
)
from .hmm import (
    GaussianEmission as GaussianEmission,
)
from .hmm import (
    baum_welch as baum_welch,
)
from .hmm import (
    filtering as filtering,
)
from .hmm import (
    fit_labelled as fit_labelled,
)
from .hmm import (
    forward_backward as forward_backward,
)
from .hmm_alignment import (
    kblock as kblock,
)
from .hmm_alignment import (
    pmap as pmap,
)
from .hmm_alignment import (
    posterior_viterbi as posterior_viterbi,
)
from .hmm_alignment import (
    sample_paths as sample_paths,
)
from .hmm_alignment import (
    viterbi as viterbi,
)
from .tensor_decompositions import (
    HMMTensor as HMMTensor,
)
from .tensor_decompositions import (
    ICATensor as ICATensor,
)
from .tensor_decompositions import (
    LDATensor as LDATensor,
)
from .tensor_decompositions import (
    MultiViewTensor as MultiViewTensor,
)
from .tensor_decompositions import (
    ProductMixtureTensor as ProductMixtureTensor,
)
from .tensor_decompositions import (
    SingleTopicTensor as SingleTopicTensor,
)
from .tensor_decompositions import (
    SphericalGMMTensor as SphericalGMMTensor,
)
from .tensor_decompositions import (
    tensor_eig as tensor_eig,
)
