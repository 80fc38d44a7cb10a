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
    code_columns as code_columns,
    conditional_entropy as conditional_entropy,
    conditional_mutual_information as conditional_mutual_information,
    entropy as entropy,
    mutual_information as mutual_information,
    symmetrical_uncertainty as symmetrical_uncertainty,
)
from .subsets import (
    EstimatorSubsets as EstimatorSubsets,
    NaiveBayesSubsets as NaiveBayesSubsets,
    SubsetEvaluator as SubsetEvaluator,
)
from .socp_feature_selection import (
    LPSelector as LPSelector,
    RobustSOCPSelector as RobustSOCPSelector,
    SOCPSelector as SOCPSelector,
    SparseFisher as SparseFisher,
    cantelli_bound as cantelli_bound,
    eta_path as eta_path,
    loo_selection as loo_selection,
    minimax_probability_machine as minimax_probability_machine,
)
from .unsupervised_feature_selection import (
    FSSEM as FSSEM,
    EMClusterer as EMClusterer,
    cross_projection as cross_projection,
    em_k as em_k,
    trace_criterion as trace_criterion,
)
from .selectors import (
    ColumnSelector as ColumnSelector,
    DiscreteSelector as DiscreteSelector,
)
from .cmim_feature_selection import (
    CMIMSelector as CMIMSelector,
    FeatureBoost as FeatureBoost,
    NaiveBayesThreshold as NaiveBayesThreshold,
    ThresholdFeatures as ThresholdFeatures,
    cmim as cmim,
    edge_features as edge_features,
    filter_features as filter_features,
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
