from .binary_features import (
    ThresholdFeatures as ThresholdFeatures,
    edge_features as edge_features,
)
from .selection import (
    CMIMSelection as CMIMSelection,
    CMIMSelector as CMIMSelector,
    cmim as cmim,
)
