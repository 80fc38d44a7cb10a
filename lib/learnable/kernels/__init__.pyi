from .functions.elementary import (
    Gaussian as Gaussian,
    Linear as Linear,
    Polynomial as Polynomial,
    as_kernel as as_kernel,
)
from .functions.points import (
    center_gram as center_gram,
)
from .random_features import (
    RandomFourierFeatures as RandomFourierFeatures,
    RandomFourierRidge as RandomFourierRidge,
)
from .ridge import (
    KernelRidge as KernelRidge,
    kernel_ridge_path as kernel_ridge_path,
)
from .svm.linear import (
    DualCoordinateSVM as DualCoordinateSVM,
)
from .svm.machines import (
    HardMarginSVM as HardMarginSVM,
    NuSVM as NuSVM,
    SoftMarginSVM as SoftMarginSVM,
    SquaredNuSVM as SquaredNuSVM,
)
from .svm.report import (
    support_vector_report as support_vector_report,
)
from .svm_path.path import (
    SVMPath as SVMPath,
)
from .svm_path.validation import (
    OneVersusRestPath as OneVersusRestPath,
    cv_path as cv_path,
)
from .svr import (
    EpsilonRidge as EpsilonRidge,
    EpsilonSVR as EpsilonSVR,
)
from .text import (
    TextKernel as TextKernel,
)
