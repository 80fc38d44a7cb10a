"""Boosting: surrogate losses, AdaBoost, margin bounds, gradient boosting, and boosting for regression.

The losses and the weak learners live in `learnable.ensembles.losses` and `learnable.ensembles.weak_learners`, because
later chapters share them; this package has the algorithms and the bounds of Lember 2012, chapter 5.
"""

from learnable.ensembles.boosting_adaboost.adaboost import AdaBoost, RoundResult, adaboost_round
from learnable.ensembles.boosting_adaboost.bounds import (
    margin_bound,
    rademacher_margin_bound,
    rademacher_vc_bound,
    rounds_to_separate,
    sample_size_for,
    training_bound,
)
from learnable.ensembles.boosting_adaboost.rademacher import rademacher
from learnable.ensembles.boosting_adaboost.regression import (
    ForwardStagewiseLinear,
    L2Boost,
    StagewiseRegressor,
    stagewise_path,
)
from learnable.ensembles.boosting_adaboost.trees import GradientBoostedTrees
from learnable.ensembles.gradient import GradientBoost, LogitBoost, line_search
from learnable.ensembles.margins import MinimaxMargin, margin_distribution, minimax_margin

__all__ = [
    "AdaBoost",
    "ForwardStagewiseLinear",
    "GradientBoost",
    "GradientBoostedTrees",
    "L2Boost",
    "LogitBoost",
    "MinimaxMargin",
    "RoundResult",
    "StagewiseRegressor",
    "adaboost_round",
    "line_search",
    "margin_bound",
    "margin_distribution",
    "minimax_margin",
    "rademacher",
    "rademacher_margin_bound",
    "rademacher_vc_bound",
    "rounds_to_separate",
    "sample_size_for",
    "stagewise_path",
    "training_bound",
]
