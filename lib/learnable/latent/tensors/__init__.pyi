from .algebra import (
    check_symmetric_tensor as check_symmetric_tensor,
    frobenius_norm as frobenius_norm,
    symmetrize as symmetrize,
)
from .ica import (
    ICATensor as ICATensor,
)
from .mixtures import (
    ProductMixtureTensor as ProductMixtureTensor,
    SphericalGMMTensor as SphericalGMMTensor,
)
from .moments import (
    WordMoments as WordMoments,
    check_counts as check_counts,
    spherical_moments as spherical_moments,
)
from .multiview import (
    HMMTensor as HMMTensor,
    MultiViewTensor as MultiViewTensor,
)
from .power import (
    tensor_eig as tensor_eig,
)
from .text import (
    LDATensor as LDATensor,
    SingleTopicTensor as SingleTopicTensor,
    single_topic_em as single_topic_em,
)
from .whitening import (
    recover_components as recover_components,
    whiten as whiten,
    whiten_operator as whiten_operator,
)
