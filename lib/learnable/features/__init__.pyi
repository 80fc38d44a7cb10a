from .discretization import (
    MDLDiscretizer as MDLDiscretizer,
    mdl_cuts as mdl_cuts,
)
from .fcbf_feature_selection import (
    CFS as CFS,
    FCBF as FCBF,
    FOCUS as FOCUS,
    ReliefF as ReliefF,
    fold_scores as fold_scores,
    inconsistency as inconsistency,
    joint_redundancy as joint_redundancy,
    paired_comparison as paired_comparison,
    predominant_features as predominant_features,
    su_matrix as su_matrix,
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
from .selectors import (
    ColumnSelector as ColumnSelector,
    DiscreteSelector as DiscreteSelector,
)
from .subsets import (
    EstimatorSubsets as EstimatorSubsets,
    NaiveBayesSubsets as NaiveBayesSubsets,
    SubsetEvaluator as SubsetEvaluator,
)
