"""Kernels, the representer theorem, kernel ridge and epsilon-insensitive regression.

* `recognition`: which functions are kernels.  * `rkhs`: functions built from a kernel, and the representer theorem.
* `linear`: ridge and lasso.  * `kernel_ridge`, `epsilon`: regression with kernels.  * `text`: kernels for documents.
* `features`: random Fourier features and Nystroem.  The kernels themselves are in `learnable.kernels.functions`.

Source: Lember 2012, sections 4.5 and 4.6.
"""

from learnable.kernels.functions import (
    ANOVA,
    AllSubsets,
    Centered,
    Constant,
    Exp,
    FromFunction,
    Gaussian,
    Kernel,
    Linear,
    Normalised,
    Poly,
    Polynomial,
    Precomputed,
    Rank1,
    as_kernel,
    center_gram,
    squared_distances,
)
from learnable.kernels.kernels_and_regression.epsilon import (
    EpsilonRidge,
    EpsilonSVR,
    epsilon_objective,
)
from learnable.kernels.kernels_and_regression.features import (
    NystroemRidge,
    RandomFourierFeatures,
    RandomFourierRidge,
)
from learnable.kernels.kernels_and_regression.kernel_ridge import (
    KernelRidge,
    KernelRidgePath,
    kernel_ridge_path,
)
from learnable.kernels.kernels_and_regression.linear import (
    Lasso,
    Ridge,
    RidgePath,
    lam_to_alpha,
    ridge_path,
)
from learnable.kernels.kernels_and_regression.recognition import (
    Violation,
    find_violation,
    gram,
    is_psd_gram,
)
from learnable.kernels.kernels_and_regression.rkhs import RepresenterSolution, RKHSFunction, representer_solve
from learnable.kernels.kernels_and_regression.text import (
    TextKernel,
    cooccurrence_proximity,
    docstring_corpus,
)

__all__ = [
    "ANOVA",
    "AllSubsets",
    "Centered",
    "Constant",
    "EpsilonRidge",
    "EpsilonSVR",
    "Exp",
    "FromFunction",
    "Gaussian",
    "Kernel",
    "KernelRidge",
    "KernelRidgePath",
    "Lasso",
    "Linear",
    "Normalised",
    "NystroemRidge",
    "Poly",
    "Polynomial",
    "Precomputed",
    "RKHSFunction",
    "RandomFourierFeatures",
    "RandomFourierRidge",
    "Rank1",
    "RepresenterSolution",
    "Ridge",
    "RidgePath",
    "TextKernel",
    "Violation",
    "as_kernel",
    "center_gram",
    "cooccurrence_proximity",
    "docstring_corpus",
    "epsilon_objective",
    "find_violation",
    "gram",
    "is_psd_gram",
    "kernel_ridge_path",
    "lam_to_alpha",
    "representer_solve",
    "ridge_path",
    "squared_distances",
]
