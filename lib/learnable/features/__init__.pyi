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
from .selectors import (
    ColumnSelector as ColumnSelector,
    DiscreteSelector as DiscreteSelector,
)
from .subsets import (
    EstimatorSubsets as EstimatorSubsets,
    NaiveBayesSubsets as NaiveBayesSubsets,
    SubsetEvaluator as SubsetEvaluator,
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
