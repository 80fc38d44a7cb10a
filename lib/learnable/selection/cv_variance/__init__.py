"""Why the error bar of cross-validation is wrong, and what can be said instead (Bengio and Grandvalet 2004).

The n errors of K-fold cross-validation are dependent, yet their covariance matrix has only three numbers. One data set
shows two combinations of them; the variance of the mean is the third.

By concept:

- :mod:`.blocks`: the covariance matrix with three numbers, its eigenvalues, and what one data set tells;
- :mod:`.errors`: cross-validated errors of any estimator, one for each example, and the jackknife's;
- :mod:`.variance`: the usual estimates of the variance, and what each of them really estimates;
- :mod:`.intervals`: error bars for the scores of ``cross_val_score``, with what they promise; nested cross-validation;
- :mod:`.replications`: many data sets at once, to see the three numbers and the coverage;
- :mod:`.experiments`: the figures of the source, at any scale.
"""

from learnable.selection.cv_variance.blocks import (
    BlockSpectrum,
    BlockStatistics,
    UnbiasedEquations,
    admissible_gamma,
    block_covariance,
    block_eigenvalues,
    block_statistics,
    unbiased_equations,
    variance_contributions,
)
from learnable.selection.cv_variance.errors import cv_errors, delta_cv_errors, jackknife_errors, optimism
from learnable.selection.cv_variance.intervals import (
    CVInterval,
    PairedTest,
    cv_interval,
    nested_cv_interval,
    paired_test_5x2,
)
from learnable.selection.cv_variance.replications import (
    VarianceComponents,
    draw_regression,
    interval_coverage,
    kfold_residuals,
    variance_components,
)
from learnable.selection.cv_variance.variance import expected_variance, variance_estimate

__all__ = [
    "BlockSpectrum",
    "BlockStatistics",
    "CVInterval",
    "PairedTest",
    "UnbiasedEquations",
    "VarianceComponents",
    "admissible_gamma",
    "block_covariance",
    "block_eigenvalues",
    "block_statistics",
    "cv_errors",
    "cv_interval",
    "delta_cv_errors",
    "draw_regression",
    "expected_variance",
    "interval_coverage",
    "jackknife_errors",
    "kfold_residuals",
    "nested_cv_interval",
    "optimism",
    "paired_test_5x2",
    "unbiased_equations",
    "variance_components",
    "variance_contributions",
    "variance_estimate",
]
