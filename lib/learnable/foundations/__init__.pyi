from .cost_sensitive import (
    CostSensitiveClassifier as CostSensitiveClassifier,
    RejectClassifier as RejectClassifier,
)
from .erm import (
    KIntervalERM as KIntervalERM,
)
from .plug_in import (
    ParametricPlugIn as ParametricPlugIn,
)
from .srm import (
    SRM as SRM,
)
from .tail_bounds import (
    sample_complexity as sample_complexity,
)
from .voting import (
    HistogramRule as HistogramRule,
    KNN as KNN,
    Regressogram as Regressogram,
)
