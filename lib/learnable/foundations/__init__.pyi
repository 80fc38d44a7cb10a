from .bayes_decision_theory import (
    CostSensitiveClassifier as CostSensitiveClassifier,
)
from .bayes_decision_theory import (
    RejectClassifier as RejectClassifier,
)
from .bayes_decision_theory import (
    cost_threshold as cost_threshold,
)
from .bayes_decision_theory import (
    coverage_threshold as coverage_threshold,
)
from .bayes_decision_theory import (
    error_reject_curve as error_reject_curve,
)
from .classical_rules import (
    KNN as KNN,
)
from .classical_rules import (
    CARTClassifier as CARTClassifier,
)
from .classical_rules import (
    CARTRegressor as CARTRegressor,
)
from .classical_rules import (
    HistogramRule as HistogramRule,
)
from .classical_rules import (
    MedianTree as MedianTree,
)
from .classical_rules import (
    ParametricPlugIn as ParametricPlugIn,
)
from .classical_rules import (
    PlugIn as PlugIn,
)
from .classical_rules import (
    PlugInDensity as PlugInDensity,
)
from .classical_rules import (
    Regressogram as Regressogram,
)
from .vc_theory import (
    SRM as SRM,
)
from .vc_theory import (
    KIntervalERM as KIntervalERM,
)
from .vc_theory import (
    growth_function as growth_function,
)
from .vc_theory import (
    sample_complexity as sample_complexity,
)
from .vc_theory import (
    vc_dimension as vc_dimension,
)
