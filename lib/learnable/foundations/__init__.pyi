from .bayes_decision_theory import (
    CostSensitiveClassifier as CostSensitiveClassifier,
    RejectClassifier as RejectClassifier,
    cost_threshold as cost_threshold,
    coverage_threshold as coverage_threshold,
    error_reject_curve as error_reject_curve,
)
from .classical_rules import (
    KNN as KNN,
    CARTClassifier as CARTClassifier,
    CARTRegressor as CARTRegressor,
    HistogramRule as HistogramRule,
    MedianTree as MedianTree,
    ParametricPlugIn as ParametricPlugIn,
    PlugIn as PlugIn,
    PlugInDensity as PlugInDensity,
    Regressogram as Regressogram,
)
from .vc_theory import (
    SRM as SRM,
    KIntervalERM as KIntervalERM,
    growth_function as growth_function,
    sample_complexity as sample_complexity,
    vc_dimension as vc_dimension,
)
