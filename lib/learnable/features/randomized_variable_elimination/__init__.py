"""A wrapper that takes big random steps: RVE and RVErS.

If few of many columns matter, a batch drawn at random probably holds none of those: remove it whole, train again, and
put it back only if the error rises. How large the batches should be follows from a small dynamic programme if the
number of relevant columns is known (RVE), and from a search for that number if it is not (RVErS, Stracuzzi and Utgoff
2004).

By concept:

- :mod:`.schedule`: the probability of success, and the batches that it makes cheapest;
- :mod:`.search`: the two eliminations, over any evaluator of subsets;
- :mod:`.wrappers`: forward, backward and filter selection with the same evaluator and the same accounts;
- :mod:`.oracles`: a learner that is told what matters, with or without noise;
- :mod:`.perceptron`: the source's learner, the thermal perceptron;
- :mod:`.estimators`: RVE and RVErS as selectors for a pipeline;
- :mod:`.experiments`: the tables of the source, at any scale.
"""

from learnable.features.randomized_variable_elimination.estimators import RVE, RVErS
from learnable.features.randomized_variable_elimination.oracles import OracleSubsets
from learnable.features.randomized_variable_elimination.perceptron import ThermalPerceptron
from learnable.features.randomized_variable_elimination.schedule import (
    EliminationSchedule,
    cost_bound,
    expected_failures,
    fixed_schedule,
    p_success,
    rve_schedule,
    training_cost,
)
from learnable.features.randomized_variable_elimination.search import Elimination, rve, rvers
from learnable.features.randomized_variable_elimination.wrappers import (
    SubsetSearch,
    backward_elimination,
    filter_selection,
    forward_selection,
    gain_ratio,
)

__all__ = [
    "RVE",
    "Elimination",
    "EliminationSchedule",
    "OracleSubsets",
    "RVErS",
    "SubsetSearch",
    "ThermalPerceptron",
    "backward_elimination",
    "cost_bound",
    "expected_failures",
    "filter_selection",
    "fixed_schedule",
    "forward_selection",
    "gain_ratio",
    "p_success",
    "rve",
    "rve_schedule",
    "rvers",
    "training_cost",
]
