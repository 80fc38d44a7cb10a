from .adaboost_dynamics import (
    adaboost_star as adaboost_star,
)
from .adaboost_dynamics import (
    arc_gv as arc_gv,
)
from .adaboost_dynamics import (
    lpboost as lpboost,
)
from .boosting_adaboost import (
    AdaBoost as AdaBoost,
)
from .boosting_adaboost import (
    ForwardStagewiseLinear as ForwardStagewiseLinear,
)
from .boosting_adaboost import (
    GradientBoost as GradientBoost,
)
from .boosting_adaboost import (
    GradientBoostedTrees as GradientBoostedTrees,
)
from .boosting_adaboost import (
    L2Boost as L2Boost,
)
from .boosting_adaboost import (
    LogitBoost as LogitBoost,
)
from .boosting_adaboost import (
    StagewiseRegressor as StagewiseRegressor,
)
from .boosting_adaboost import (
    margin_distribution as margin_distribution,
)
from .boosting_l1_path import (
    BoostedPathClassifier as BoostedPathClassifier,
)
from .boosting_l1_path import (
    l1_constrained_path as l1_constrained_path,
)
from .boosting_l1_path import (
    max_l1_margin as max_l1_margin,
)
from .weak_learners import (
    StumpERM as StumpERM,
)
from .weak_learners import (
    TreeERM as TreeERM,
)
