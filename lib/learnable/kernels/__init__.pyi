from .functions import (
    ANOVA as ANOVA,
    Gaussian as Gaussian,
    Linear as Linear,
    Polynomial as Polynomial,
    as_kernel as as_kernel,
    center_gram as center_gram,
)
from .kernels_and_regression import (
    EpsilonRidge as EpsilonRidge,
    EpsilonSVR as EpsilonSVR,
    KernelRidge as KernelRidge,
    Lasso as Lasso,
    NystroemRidge as NystroemRidge,
    RandomFourierFeatures as RandomFourierFeatures,
    RandomFourierRidge as RandomFourierRidge,
    Ridge as Ridge,
    TextKernel as TextKernel,
    kernel_ridge_path as kernel_ridge_path,
    ridge_path as ridge_path,
)
from .support_vector_machines import (
    DualCoordinateSVM as DualCoordinateSVM,
    HardMarginSVM as HardMarginSVM,
    NuSVM as NuSVM,
    PegasosSVM as PegasosSVM,
    SoftMarginSVM as SoftMarginSVM,
    SquaredNuSVM as SquaredNuSVM,
    support_vector_report as support_vector_report,
)
from .svm_regularization_path import (
    OneVersusRestPath as OneVersusRestPath,
    SVMPath as SVMPath,
    cv_path as cv_path,
)
