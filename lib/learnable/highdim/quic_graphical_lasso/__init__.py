"""QUIC: proximal Newton steps for sparse inverse covariances (Hsieh, Sustik, Dhillon and Ravikumar 2014).

By concept:

- :mod:`.problem`: the objective, its smallest subgradient, the duality gap;
- :mod:`.solver`: the Newton direction, the line search, QUIC and its general block version;
- :mod:`.estimators`: paths with warm starts, the estimator and its cross-validated form;
- :mod:`.baselines`: ADMM, projected gradients on the dual, greedy coordinates, neighbourhood regressions;
- :mod:`.logistic`: the same template for l1-penalised logistic regression.
"""

from learnable.highdim.quic_graphical_lasso.baselines import (
    Trace,
    admm,
    dual_projected_gradient,
    neighbourhood_lasso,
    sinco,
)
from learnable.highdim.quic_graphical_lasso.estimators import (
    GraphicalLassoQUIC,
    GraphicalLassoQUICCV,
    QUICPath,
    max_penalty,
    quic_path,
)
from learnable.highdim.quic_graphical_lasso.logistic import l1_logistic
from learnable.highdim.quic_graphical_lasso.problem import (
    duality_gap,
    kkt_residual,
    min_norm_subgradient,
    objective,
    penalty_matrix,
)
from learnable.highdim.quic_graphical_lasso.solver import (
    QUIC,
    QUICHistory,
    block_quic,
    free_set,
    line_search,
    newton_direction,
)
from learnable.optim.proximal import soft_threshold

__all__ = [
    "QUIC",
    "GraphicalLassoQUIC",
    "GraphicalLassoQUICCV",
    "QUICHistory",
    "QUICPath",
    "Trace",
    "admm",
    "block_quic",
    "dual_projected_gradient",
    "duality_gap",
    "free_set",
    "kkt_residual",
    "l1_logistic",
    "line_search",
    "max_penalty",
    "min_norm_subgradient",
    "neighbourhood_lasso",
    "newton_direction",
    "objective",
    "penalty_matrix",
    "quic_path",
    "sinco",
    "soft_threshold",
]
