from .linear import (
    DualCoordinateSVM as DualCoordinateSVM,
)
from .machines import (
    HardMarginSVM as HardMarginSVM,
    NuSVM as NuSVM,
    SoftMarginSVM as SoftMarginSVM,
    SquaredNuSVM as SquaredNuSVM,
)
from .report import (
    support_vector_report as support_vector_report,
)
