"""Graphical models with hubs: one convex penalty, three models, one engine (Tan et al. 2014).

By concept:

- :mod:`.penalty`: sparse edges plus a few dense columns, and the dual set; which of the two a price list allows;
- :mod:`.solver`: consensus ADMM for any convex loss with this penalty, certified by a duality gap;
- :mod:`.gaussian`, :mod:`.covariance`, :mod:`.binary`: the three losses, their functions and estimators;
- :mod:`.blocks`: what the penalties leave apart, solved apart;
- :mod:`.baselines`, :mod:`.metrics`: competitors, and measures of how well hubs were found;
- :mod:`.experiments`: the figures of the source, at any scale.
"""

from learnable.graphs.hub_graphical_models.baselines import (
    HubScreening,
    SparseFit,
    admm_graphical_lasso,
    neighbourhood_selection,
    scale_free_lasso,
    screen_hubs,
    sparse_covariance,
)
from learnable.graphs.hub_graphical_models.binary import (
    HubBinaryNetwork,
    PseudoLikelihood,
    gibbs_ising,
    hub_binary_network,
    pseudo_likelihood,
)
from learnable.graphs.hub_graphical_models.blocks import screen_blocks
from learnable.graphs.hub_graphical_models.covariance import CovarianceLoss, HubCovarianceGraph, hub_covariance
from learnable.graphs.hub_graphical_models.gaussian import (
    GaussianLoss,
    HubGraphicalLasso,
    HubPath,
    hub_bic,
    hub_graphical_lasso,
    hub_path,
    logdet_step,
)
from learnable.graphs.hub_graphical_models.metrics import HubMetrics, hub_metrics
from learnable.graphs.hub_graphical_models.penalty import penalty_regime, sparse_group_shrink, star_penalty
from learnable.graphs.hub_graphical_models.solver import HubFit, hub_admm, hub_penalty

__all__ = [
    "CovarianceLoss",
    "GaussianLoss",
    "HubBinaryNetwork",
    "HubCovarianceGraph",
    "HubFit",
    "HubGraphicalLasso",
    "HubMetrics",
    "HubPath",
    "HubScreening",
    "PseudoLikelihood",
    "SparseFit",
    "admm_graphical_lasso",
    "gibbs_ising",
    "hub_admm",
    "hub_bic",
    "hub_binary_network",
    "hub_covariance",
    "hub_graphical_lasso",
    "hub_metrics",
    "hub_path",
    "hub_penalty",
    "logdet_step",
    "neighbourhood_selection",
    "penalty_regime",
    "pseudo_likelihood",
    "scale_free_lasso",
    "screen_blocks",
    "screen_hubs",
    "sparse_covariance",
    "sparse_group_shrink",
    "star_penalty",
]
