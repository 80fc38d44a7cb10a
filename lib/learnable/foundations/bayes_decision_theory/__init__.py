"""Bayesian decision theory and the reject option.

If the joint law of (x, y) were known, which classifier would be best, and how good can it be? For each
x take the decision with the smallest posterior expected loss; its average loss, the Bayes risk, is a
floor under every method. Where even the best decision is too risky, a classifier may reject.

* `decisions`: conditional risk and Bayes decisions from posteriors; costs and thresholds.
* `reject`: the optimal reject rule and the error-reject curve.
* `problems`, `density`: known laws, finite or with densities; exact, integrated or simulated risks.
* `risks`: the Bayes error in its many forms, real-valued predictors, plug-in regret.
* `zoo`: problems with known answers.
* `estimators`: scikit-learn meta-estimators for costs and rejection.

Convention everywhere: classes 0..k-1, and ``L[j, i]`` is the loss when the truth is j and the decision i.

Source: J. Lember, *Introduction to statistical learning*, lecture notes, Aalto University 2012, Chapter 1.
"""

from learnable.foundations.bayes_decision_theory.estimators import CostSensitiveClassifier, RejectClassifier
from learnable.foundations.bayes_decision_theory.risks import (
    lp_regret,
    lp_risk,
)
from learnable.laws.decisions import (
    bayes_conditional_risk,
    bayes_decision,
    conditional_risk,
    cost_matrix,
    cost_threshold,
    decide,
    empirical_risk,
    loss_from_costs,
    zero_one_matrix,
)
from learnable.laws.density import DensityProblem
from learnable.laws.problems import Estimate, FiniteProblem, Problem
from learnable.laws.reject import (
    ErrorRejectCurve,
    RejectRule,
    RejectTradeoff,
    augment_loss,
    coverage_threshold,
    error_reject_curve,
)
from learnable.laws.zoo import (
    five_point,
    gaussian_bayes_risk,
    gaussian_classes,
    gaussian_risk,
    height_weight,
    plateau,
    student,
    student_tradeoff,
    two_gaussians,
)

__all__ = [
    "CostSensitiveClassifier",
    "DensityProblem",
    "ErrorRejectCurve",
    "Estimate",
    "FiniteProblem",
    "Problem",
    "RejectClassifier",
    "RejectRule",
    "RejectTradeoff",
    "augment_loss",
    "bayes_conditional_risk",
    "bayes_decision",
    "conditional_risk",
    "cost_matrix",
    "cost_threshold",
    "coverage_threshold",
    "decide",
    "empirical_risk",
    "error_reject_curve",
    "five_point",
    "gaussian_bayes_risk",
    "gaussian_classes",
    "gaussian_risk",
    "height_weight",
    "loss_from_costs",
    "lp_regret",
    "lp_risk",
    "plateau",
    "student",
    "student_tradeoff",
    "two_gaussians",
    "zero_one_matrix",
]
