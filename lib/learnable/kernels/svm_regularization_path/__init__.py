"""The whole regularization path of the support vector machine (Hastie, Rosset, Tibshirani and Zhu 2004).

By concept:

- :mod:`.path`: the path itself, with and without intercept, from any starting point, up and down;
- :mod:`.validation`: exact validation curves, one class against the rest;
- :mod:`.comparators`: what stands beside it: the Parzen rule, ridge-penalised logistic and discriminant paths.
"""

from learnable.kernels.svm_regularization_path.comparators import (
    angle_to,
    effective_rank,
    logistic_path,
    regularised_lda_path,
    rotate_wide,
)
from learnable.kernels.svm_regularization_path.path import SVMPath
from learnable.kernels.svm_regularization_path.validation import OneVersusRestPath, StepCurve, cv_path

__all__ = [
    "OneVersusRestPath",
    "SVMPath",
    "StepCurve",
    "angle_to",
    "cv_path",
    "effective_rank",
    "logistic_path",
    "regularised_lda_path",
    "rotate_wide",
]
