from .adaboost import (
    AdaBoost as AdaBoost,
)
from .boosted_trees import (
    GradientBoostedTrees as GradientBoostedTrees,
)
from .boosting_path.classifier import (
    BoostedPathClassifier as BoostedPathClassifier,
)
from .boosting_path.constrained import (
    l1_constrained_path as l1_constrained_path,
)
from .cart import (
    CARTClassifier as CARTClassifier,
    CARTRegressor as CARTRegressor,
)
from .certified_trees.estimators import (
    CertifiedTree as CertifiedTree,
    bound_curve as bound_curve,
    certify as certify,
)
from .certified_trees.growing import (
    grow_prunable as grow_prunable,
    grow_prune_test_split as grow_prune_test_split,
)
from .certified_trees.penalties import (
    rademacher_penalty as rademacher_penalty,
)
from .coboosting.coboost import (
    BayesianCoBoost as BayesianCoBoost,
    LateFusion as LateFusion,
)
from .coboosting.models import (
    HMMClassifier as HMMClassifier,
    WeightedGaussianHMM as WeightedGaussianHMM,
)
from .gradient import (
    GradientBoost as GradientBoost,
    LogitBoost as LogitBoost,
)
from .margin_boosting.algorithms import (
    adaboost_star as adaboost_star,
    arc_gv as arc_gv,
    lpboost as lpboost,
)
from .margins import (
    margin_distribution as margin_distribution,
    max_l1_margin as max_l1_margin,
    minimax_margin as minimax_margin,
)
from .stagewise import (
    L2Boost as L2Boost,
    StagewiseRegressor as StagewiseRegressor,
)
from .tree_drawing import (
    draw_tree as draw_tree,
)
from .transfer_forests.forest import (
    TransferForestClassifier as TransferForestClassifier,
    select_gamma as select_gamma,
)
from .transfer_forests.gains import (
    mixed_information_gain as mixed_information_gain,
)
from .weak_learners import (
    StumpERM as StumpERM,
    TreeERM as TreeERM,
)
