from .chains import (
    JointModes as JointModes,
    LabelChain as LabelChain,
)
from .general import (
    FDecision as FDecision,
    gfm as gfm,
)
from .independent import (
    fm_independent as fm_independent,
)
from .learners import (
    FMeasurePlugIn as FMeasurePlugIn,
    NeighborLabels as NeighborLabels,
)
from .measures import (
    LabelScores as LabelScores,
    f_measure as f_measure,
    label_scores as label_scores,
)
from .trees import (
    BaggedFMeasureTree as BaggedFMeasureTree,
    FMeasureTree as FMeasureTree,
)
