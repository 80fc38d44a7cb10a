from .benchmark import (
    evaluate as evaluate,
    make_partitions as make_partitions,
)
from .comparison import (
    rank_report as rank_report,
    run_benchmark as run_benchmark,
)
from .fold_errors import (
    cv_errors as cv_errors,
    delta_cv_errors as delta_cv_errors,
)
from .cv_intervals import (
    cv_interval as cv_interval,
    nested_cv_interval as nested_cv_interval,
    paired_test_5x2 as paired_test_5x2,
)
from .f_measures.chains import (
    LabelChain as LabelChain,
)
from .f_measures.general import (
    gfm as gfm,
)
from .f_measures.independent import (
    fm_independent as fm_independent,
)
from .f_measures.learners import (
    FMeasurePlugIn as FMeasurePlugIn,
    NeighborLabels as NeighborLabels,
)
from .f_measures.measures import (
    f_measure as f_measure,
    label_scores as label_scores,
)
from .f_measures.trees import (
    BaggedFMeasureTree as BaggedFMeasureTree,
    FMeasureTree as FMeasureTree,
)
from .ranking import (
    friedman_ranks as friedman_ranks,
    leaderboard as leaderboard,
)
from .significance import (
    compare_pair as compare_pair,
    friedman_test as friedman_test,
    holm_comparisons as holm_comparisons,
    nemenyi_difference as nemenyi_difference,
)
