"""Sparse linear classifiers from class moments: Chebyshev bounds and second-order cones (Bhattacharyya 2004).

Each class is known by its mean and covariance. The one-sided Chebyshev inequality turns "a fraction η of each class,
whatever its law, on its own side" into second-order cones, and the least l1 norm under them uses few features.

By concept:

- :mod:`.cantelli`: the inequality, and the law of two points that attains it;
- :mod:`.moments`: means and factors of covariances, Fisher's discriminant, the minimax probability machine;
- :mod:`.programs`: the three programs of the chapter in one form;
- :mod:`.interior_point`, :mod:`.polish`, :mod:`.columns`: the solver, from a rough point to a certified answer;
- :mod:`.selectors`: estimators; :mod:`.paths`: leave-one-out and levels, with warm starts;
- :mod:`.experiments`: the tables and plots of the source, at any scale.
"""

from learnable.features.socp_feature_selection.cantelli import (
    TwoPointLaw,
    cantelli_bound,
    cantelli_worst_case,
    chebyshev_factor,
)
from learnable.features.socp_feature_selection.columns import ConeSolution, solve_cone_program
from learnable.features.socp_feature_selection.moments import (
    ClassMoments,
    FisherDirection,
    MinimaxMachine,
    fisher_direction,
    minimax_probability_machine,
)
from learnable.features.socp_feature_selection.paths import EtaPath, LOOSelection, eta_path, loo_selection
from learnable.features.socp_feature_selection.programs import (
    ConeProgram,
    fisher_program,
    robust_program,
    two_class_program,
)
from learnable.features.socp_feature_selection.selectors import (
    LPSelector,
    RobustSOCPSelector,
    SOCPSelector,
    SparseFisher,
)

__all__ = [
    "ClassMoments",
    "ConeProgram",
    "ConeSolution",
    "EtaPath",
    "FisherDirection",
    "LOOSelection",
    "LPSelector",
    "MinimaxMachine",
    "RobustSOCPSelector",
    "SOCPSelector",
    "SparseFisher",
    "TwoPointLaw",
    "cantelli_bound",
    "cantelli_worst_case",
    "chebyshev_factor",
    "eta_path",
    "fisher_direction",
    "fisher_program",
    "loo_selection",
    "minimax_probability_machine",
    "robust_program",
    "solve_cone_program",
    "two_class_program",
]
