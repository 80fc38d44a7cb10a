"""QUIC: proximal Newton steps for sparse inverse covariances (Hsieh, Sustik, Dhillon and Ravikumar 2014).

By concept:

- :mod:`.problem`: the objective, its smallest subgradient, the duality gap;
- :mod:`.solver`: QUIC and its general block version; :mod:`.history`, what happened on the way;
- :mod:`.newton`: the free set, the Newton direction, the line search;
- :mod:`.estimators`: paths with warm starts, the estimator and its cross-validated form;
- :mod:`.baselines`: ADMM, projected gradients on the dual, greedy coordinates, neighbourhood regressions;
- :mod:`.logistic`: the same template for l1-penalised logistic regression.
"""

from learnable.highdim.quic_graphical_lasso.baselines import (
    Trace,
    admm,
    dual_projected_gradient,
    neighbourhood_lasso,
)
from learnable.highdim.quic_graphical_lasso.estimators import (
    GraphicalLassoQUIC,
    GraphicalLassoQUICCV,
    QUICPath,
    quic_path,
)
from learnable.highdim.quic_graphical_lasso.history import QUICHistory
from learnable.highdim.quic_graphical_lasso.logistic import l1_logistic
from learnable.highdim.quic_graphical_lasso.newton import line_search
from learnable.highdim.quic_graphical_lasso.problem import (
    duality_gap,
    min_norm_subgradient,
    objective,
    penalty_matrix,
)
from learnable.highdim.quic_graphical_lasso.solver import QUIC
from learnable.optim.proximal import soft_threshold

__all__ = [
    "QUIC",
    "GraphicalLassoQUIC",
    "GraphicalLassoQUICCV",
    "QUICHistory",
    "QUICPath",
    "Trace",
    "admm",
    "dual_projected_gradient",
    "duality_gap",
    "l1_logistic",
    "line_search",
    "min_norm_subgradient",
    "neighbourhood_lasso",
    "objective",
    "penalty_matrix",
    "quic_path",
    "soft_threshold",
]
