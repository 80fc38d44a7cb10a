from .functions import (
    ANOVA as ANOVA,
)
from .functions import (
    Gaussian as Gaussian,
)
from .functions import (
    Linear as Linear,
)
from .functions import (
    Polynomial as Polynomial,
)
from .functions import (
    as_kernel as as_kernel,
)
from .functions import (
    center_gram as center_gram,
)
from .kernels_and_regression import (
    EpsilonRidge as EpsilonRidge,
)
from .kernels_and_regression import (
    EpsilonSVR as EpsilonSVR,
)
from .kernels_and_regression import (
    KernelRidge as KernelRidge,
)
from .kernels_and_regression import (
    Lasso as Lasso,
)
from .kernels_and_regression import (
    NystroemRidge as NystroemRidge,
)
from .kernels_and_regression import (
    RandomFourierFeatures as RandomFourierFeatures,
)
from .kernels_and_regression import (
    RandomFourierRidge as RandomFourierRidge,
)
from .kernels_and_regression import (
    Ridge as Ridge,
)
from .kernels_and_regression import (
    TextKernel as TextKernel,
)
from .kernels_and_regression import (
    kernel_ridge_path as kernel_ridge_path,
)
from .kernels_and_regression import (
    ridge_path as ridge_path,
)
from .support_vector_machines import (
    DualCoordinateSVM as DualCoordinateSVM,
)
from .support_vector_machines import (
    HardMarginSVM as HardMarginSVM,
)
from .support_vector_machines import (
    NuSVM as NuSVM,
)
from .support_vector_machines import (
    PegasosSVM as PegasosSVM,
)
from .support_vector_machines import (
    SoftMarginSVM as SoftMarginSVM,
)
from .support_vector_machines import (
    SquaredNuSVM as SquaredNuSVM,
)
from .support_vector_machines import (
    support_vector_report as support_vector_report,
)
from .svm_regularization_path import (
    OneVersusRestPath as OneVersusRestPath,
)
from .svm_regularization_path import (
    SVMPath as SVMPath,
)
from .svm_regularization_path import (
    cv_path as cv_path,
)
