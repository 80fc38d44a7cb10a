from .base import (
    Estimate as Estimate,
    FiniteProblem as FiniteProblem,
    Problem as Problem,
)
from .decisions import (
    bayes_conditional_risk as bayes_conditional_risk,
    bayes_decision as bayes_decision,
    conditional_risk as conditional_risk,
    cost_matrix as cost_matrix,
    cost_threshold as cost_threshold,
    decide as decide,
    loss_from_costs as loss_from_costs,
    zero_one_matrix as zero_one_matrix,
)
from .density import (
    DensityProblem as DensityProblem,
)
from .reject import (
    ErrorRejectCurve as ErrorRejectCurve,
    RejectRule as RejectRule,
    RejectTradeoff as RejectTradeoff,
    augment_loss as augment_loss,
    coverage_threshold as coverage_threshold,
    error_reject_curve as error_reject_curve,
)
from .zoo import (
    five_point as five_point,
    gaussian_bayes_risk as gaussian_bayes_risk,
    gaussian_classes as gaussian_classes,
    gaussian_risk as gaussian_risk,
    height_weight as height_weight,
    plateau as plateau,
    student as student,
    student_tradeoff as student_tradeoff,
    two_gaussians as two_gaussians,
)
