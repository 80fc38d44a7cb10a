from .algorithms import (
    MarginRun as MarginRun,
    adaboost_star as adaboost_star,
    arc_gv as arc_gv,
    lpboost as lpboost,
)
from .steps import (
    check_matrix as check_matrix,
)
