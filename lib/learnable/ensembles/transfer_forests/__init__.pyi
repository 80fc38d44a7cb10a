from .forest import (
    GammaSelection as GammaSelection,
    TransferForestClassifier as TransferForestClassifier,
    select_gamma as select_gamma,
)
from .gains import (
    information_gain as information_gain,
    mixed_information_gain as mixed_information_gain,
)
from .leaves import (
    LeafPropagation as LeafPropagation,
    propagate_leaves as propagate_leaves,
)
