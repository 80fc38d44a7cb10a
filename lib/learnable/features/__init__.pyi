from .cmim_selection.binary_features import (
    ThresholdFeatures as ThresholdFeatures,
    edge_features as edge_features,
)
from .cmim_selection.selection import (
    CMIMSelector as CMIMSelector,
    cmim as cmim,
)
from .discretization import (
    MDLDiscretizer as MDLDiscretizer,
)
from .fcbf import (
    FCBF as FCBF,
    joint_redundancy as joint_redundancy,
    predominant_features as predominant_features,
    su_matrix as su_matrix,
)
from .filters import (
    CFS as CFS,
    FOCUS as FOCUS,
    ReliefF as ReliefF,
    inconsistency as inconsistency,
)
from .fssem.criteria import (
    cross_projection as cross_projection,
    trace_criterion as trace_criterion,
)
from .fssem.selector import (
    FSSEM as FSSEM,
)
from .information import (
    code_columns as code_columns,
    conditional_entropy as conditional_entropy,
    conditional_mutual_information as conditional_mutual_information,
    entropy as entropy,
    mutual_information as mutual_information,
    symmetrical_uncertainty as symmetrical_uncertainty,
)
from .selectors import (
    ColumnSelector as ColumnSelector,
    DiscreteSelector as DiscreteSelector,
)
from .socp.cantelli import (
    cantelli_bound as cantelli_bound,
)
from .socp.moments import (
    minimax_probability_machine as minimax_probability_machine,
)
from .socp.paths import (
    eta_path as eta_path,
    loo_selection as loo_selection,
)
from .socp.selectors import (
    LPSelector as LPSelector,
    RobustSOCPSelector as RobustSOCPSelector,
    SOCPSelector as SOCPSelector,
    SparseFisher as SparseFisher,
)
from .subsets import (
    EstimatorSubsets as EstimatorSubsets,
    NaiveBayesSubsets as NaiveBayesSubsets,
    SubsetEvaluator as SubsetEvaluator,
)
from .variable_elimination.estimators import (
    RVE as RVE,
    RVErS as RVErS,
)
from .variable_elimination.schedule import (
    rve_schedule as rve_schedule,
)
from .variable_elimination.search import (
    rve as rve,
    rvers as rvers,
)
from .variable_elimination.wrappers import (
    backward_elimination as backward_elimination,
    filter_selection as filter_selection,
    forward_selection as forward_selection,
    gain_ratio as gain_ratio,
)
