from .alignments import (
    combined as combined,
    kblock as kblock,
    penalised_pmap as penalised_pmap,
    pmap as pmap,
    posterior_viterbi as posterior_viterbi,
    restricted_pmap as restricted_pmap,
    viterbi as viterbi,
)
from .blocks import (
    sample_paths as sample_paths,
)
from .estimation import (
    BaumWelchResult as BaumWelchResult,
    baum_welch as baum_welch,
    fit_labelled as fit_labelled,
)
from .model import (
    DiscreteEmission as DiscreteEmission,
    GaussianEmission as GaussianEmission,
    HMM as HMM,
)
from .recursions import (
    Filtered as Filtered,
    Posterior as Posterior,
    filtering as filtering,
    forward_backward as forward_backward,
    predict as predict,
    smooth as smooth,
)
from .path_risks import (
    Risks as Risks,
    risks as risks,
)
