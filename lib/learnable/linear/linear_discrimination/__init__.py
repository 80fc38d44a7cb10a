"""Linear discrimination: moment bounds, exact error minimisation, least squares, logistic, Fisher.

* `base`: hyperplanes.  * `moments`: scatter, Fisher's criterion, what two moments guarantee.
* `exact`: the fewest training errors.  * `surrogate`: sigmoids instead of steps.
* `least_squares`, `logistic`, `gaussian`: the classical fits.  * `gallery`: laws on which they fail.

Source: Lember 2012, chapter 3.
"""

from learnable.linear.linear_discrimination.exact import (
    FingeringClassifier,
    HalfspaceERM2D,
    SplitERM,
    best_halfplane,
    best_split,
)
from learnable.linear.linear_discrimination.gallery import (
    FourPointAnswer,
    constant_model_scores,
    four_point,
    four_point_flip,
    four_point_population,
    masking3,
    two_model_logistic,
    weighted_sample,
)
from learnable.linear.linear_discrimination.gaussian import (
    FisherLDA,
    GaussianBayes,
    linear_gaussian_risk,
    linear_gaussian_rule,
)
from learnable.linear.linear_discrimination.least_squares import LeastSquaresClassifier, TwoClassOLS, two_class_ols
from learnable.linear.linear_discrimination.logistic import LogisticDiscriminant, SeparationWarning, linear_separation
from learnable.linear.linear_discrimination.moments import (
    MomentBoundClassifier,
    Scatter,
    Split,
    best_split_population,
    halfspace_bounds,
    max_J,
    moment_bound,
    scatter,
    separation_J,
)
from learnable.linear.linear_discrimination.surrogate import SigmoidRiskClassifier
from learnable.linear.rules import Hyperplane

__all__ = [
    "FingeringClassifier",
    "FisherLDA",
    "FourPointAnswer",
    "GaussianBayes",
    "HalfspaceERM2D",
    "Hyperplane",
    "LeastSquaresClassifier",
    "LogisticDiscriminant",
    "MomentBoundClassifier",
    "Scatter",
    "SeparationWarning",
    "SigmoidRiskClassifier",
    "Split",
    "SplitERM",
    "TwoClassOLS",
    "best_halfplane",
    "best_split",
    "best_split_population",
    "constant_model_scores",
    "four_point",
    "four_point_flip",
    "four_point_population",
    "halfspace_bounds",
    "linear_gaussian_risk",
    "linear_gaussian_rule",
    "linear_separation",
    "masking3",
    "max_J",
    "moment_bound",
    "scatter",
    "separation_J",
    "two_class_ols",
    "two_model_logistic",
    "weighted_sample",
]
