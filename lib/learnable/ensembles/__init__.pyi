from .adaboost_dynamics import (
    adaboost_star as adaboost_star,
    arc_gv as arc_gv,
    lpboost as lpboost,
)
from .bayesian_coboosting import (
    BayesianCoBoost as BayesianCoBoost,
    HMMClassifier as HMMClassifier,
    LateFusion as LateFusion,
    WeightedGaussianHMM as WeightedGaussianHMM,
    class_accuracy as class_accuracy,
    skeleton_features as skeleton_features,
)
from .boosting_adaboost import (
    AdaBoost as AdaBoost,
    ForwardStagewiseLinear as ForwardStagewiseLinear,
    GradientBoost as GradientBoost,
    GradientBoostedTrees as GradientBoostedTrees,
    L2Boost as L2Boost,
    LogitBoost as LogitBoost,
    StagewiseRegressor as StagewiseRegressor,
    margin_distribution as margin_distribution,
)
from .boosting_l1_path import (
    BoostedPathClassifier as BoostedPathClassifier,
    l1_constrained_path as l1_constrained_path,
    max_l1_margin as max_l1_margin,
)
from .rademacher_tree_pruning import (
    CertifiedTree as CertifiedTree,
    bound_curve as bound_curve,
    certify as certify,
    grow_prunable as grow_prunable,
    grow_prune_test_split as grow_prune_test_split,
    rademacher_penalty as rademacher_penalty,
)
from .weak_learners import (
    StumpERM as StumpERM,
    TreeERM as TreeERM,
)
from .transfer_forests import (
    TransferForestClassifier as TransferForestClassifier,
    mixed_information_gain as mixed_information_gain,
    select_gamma as select_gamma,
)
