from .discretization import (
    MDLDiscretizer as MDLDiscretizer,
    mdl_cuts as mdl_cuts,
)
from .information import (
    CodedColumns as CodedColumns,
    code_columns as code_columns,
    conditional_entropy as conditional_entropy,
    conditional_mutual_information as conditional_mutual_information,
    entropy as entropy,
    mutual_information as mutual_information,
    symmetrical_uncertainty as symmetrical_uncertainty,
)
from .randomized_variable_elimination import (
    RVE as RVE,
    RVErS as RVErS,
    backward_elimination as backward_elimination,
    filter_selection as filter_selection,
    forward_selection as forward_selection,
    gain_ratio as gain_ratio,
    rve as rve,
    rve_schedule as rve_schedule,
    rvers as rvers,
)
from .selectors import (
    ColumnSelector as ColumnSelector,
    DiscreteSelector as DiscreteSelector,
)
from .subsets import (
    EstimatorSubsets as EstimatorSubsets,
    NaiveBayesSubsets as NaiveBayesSubsets,
    SubsetEvaluator as SubsetEvaluator,
)
