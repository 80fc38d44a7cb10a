from .binary import (
    HubBinaryNetwork as HubBinaryNetwork,
    PseudoLikelihood as PseudoLikelihood,
    gibbs_ising as gibbs_ising,
    hub_binary_network as hub_binary_network,
    pseudo_likelihood as pseudo_likelihood,
)
from .blocks import (
    screen_blocks as screen_blocks,
)
from .covariance import (
    CovarianceLoss as CovarianceLoss,
    HubCovarianceGraph as HubCovarianceGraph,
    hub_covariance as hub_covariance,
)
from .gaussian import (
    GaussianLoss as GaussianLoss,
    HubGraphicalLasso as HubGraphicalLasso,
    HubPath as HubPath,
    hub_bic as hub_bic,
    hub_graphical_lasso as hub_graphical_lasso,
    hub_path as hub_path,
)
from .solver import (
    HubFit as HubFit,
)
