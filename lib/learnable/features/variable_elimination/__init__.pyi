from .estimators import (
    RVE as RVE,
    RVErS as RVErS,
)
from .schedule import (
    EliminationSchedule as EliminationSchedule,
    expected_failures as expected_failures,
    fixed_schedule as fixed_schedule,
    rve_schedule as rve_schedule,
    training_cost as training_cost,
)
from .search import (
    Elimination as Elimination,
    rve as rve,
    rvers as rvers,
)
from .wrappers import (
    SubsetSearch as SubsetSearch,
    backward_elimination as backward_elimination,
    filter_selection as filter_selection,
    forward_selection as forward_selection,
    gain_ratio as gain_ratio,
)
