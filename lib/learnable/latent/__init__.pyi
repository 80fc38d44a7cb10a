from .entropy.counts import (
    entropy_chao_shen as entropy_chao_shen,
    entropy_grassberger as entropy_grassberger,
    entropy_miller_madow as entropy_miller_madow,
    entropy_plugin as entropy_plugin,
)
from .entropy.dirichlet import (
    entropy_nsb as entropy_nsb,
)
from .entropy.pym import (
    PYMEntropy as PYMEntropy,
    entropy_pym as entropy_pym,
    mutual_information_pym as mutual_information_pym,
)
from .hmm.alignments import (
    kblock as kblock,
    pmap as pmap,
    posterior_viterbi as posterior_viterbi,
    viterbi as viterbi,
)
from .hmm.blocks import (
    sample_paths as sample_paths,
)
from .hmm.estimation import (
    baum_welch as baum_welch,
    fit_labelled as fit_labelled,
)
from .hmm.model import (
    DiscreteEmission as DiscreteEmission,
    GaussianEmission as GaussianEmission,
    HMM as HMM,
)
from .hmm.recursions import (
    filtering as filtering,
    forward_backward as forward_backward,
)
from .mixture.gaussian import (
    EMClusterer as EMClusterer,
)
from .mixture.order import (
    em_k as em_k,
)
from .tensors.ica import (
    ICATensor as ICATensor,
)
from .tensors.mixtures import (
    ProductMixtureTensor as ProductMixtureTensor,
    SphericalGMMTensor as SphericalGMMTensor,
)
from .tensors.multiview import (
    HMMTensor as HMMTensor,
    MultiViewTensor as MultiViewTensor,
)
from .tensors.power import (
    tensor_eig as tensor_eig,
)
from .tensors.text import (
    LDATensor as LDATensor,
    SingleTopicTensor as SingleTopicTensor,
)
