"""AdaBoost as a dynamical system: its weights, their cycles, and the margins that come out.

Follows C. Rudin, I. Daubechies and R. E. Schapire, "The dynamics of AdaBoost: cyclic behavior and convergence of
margins", Journal of Machine Learning Research 5 (2004). Columns and rows are counted from zero.
"""

from learnable.ensembles.adaboost_dynamics.chaos import (
    Crossing,
    crossings,
    random_matrix,
    separation,
)
from learnable.ensembles.adaboost_dynamics.closed_forms import (
    GOLDEN,
    Example,
    block_matrix,
    counterexamples,
    golden_cycles,
    mm_beta1,
    mm_cycle,
    one_error_matrix,
    unfold,
    unfolded_map,
)
from learnable.ensembles.adaboost_dynamics.cycles import (
    Cycle,
    CycleCheck,
    MaxMarginCheck,
    cycle_margin,
    find_cycle,
    theorem5_check,
    verify_cycle,
)
from learnable.ensembles.adaboost_dynamics.dynamics import (
    AdaBoostMatrix,
    History,
    check_matrix,
    edges,
    iterated_map,
    map_jacobian,
    margin,
)
from learnable.ensembles.adaboost_dynamics.margins import (
    MarginRun,
    adaboost_star,
    arc_gv,
    coordinate_ascent,
    lpboost,
    max_margin,
)

__all__ = [
    "GOLDEN",
    "AdaBoostMatrix",
    "Crossing",
    "Cycle",
    "CycleCheck",
    "Example",
    "History",
    "MarginRun",
    "MaxMarginCheck",
    "adaboost_star",
    "arc_gv",
    "block_matrix",
    "check_matrix",
    "coordinate_ascent",
    "counterexamples",
    "crossings",
    "cycle_margin",
    "edges",
    "find_cycle",
    "golden_cycles",
    "iterated_map",
    "lpboost",
    "map_jacobian",
    "margin",
    "max_margin",
    "mm_beta1",
    "mm_cycle",
    "one_error_matrix",
    "random_matrix",
    "separation",
    "theorem5_check",
    "unfold",
    "unfolded_map",
    "verify_cycle",
]
