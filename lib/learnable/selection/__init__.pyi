from .classifier_benchmark import (
    KernelELM as KernelELM,
    PNN as PNN,
    RDA as RDA,
    RotationForest as RotationForest,
    compare_pair as compare_pair,
    evaluate as evaluate,
    friedman_ranks as friedman_ranks,
    friedman_test as friedman_test,
    holm_comparisons as holm_comparisons,
    leaderboard as leaderboard,
    make_partitions as make_partitions,
    nemenyi_difference as nemenyi_difference,
)
from .cv_variance import (
    cv_errors as cv_errors,
    cv_interval as cv_interval,
    delta_cv_errors as delta_cv_errors,
    nested_cv_interval as nested_cv_interval,
    paired_test_5x2 as paired_test_5x2,
)
from .f_measure_maximization import (
    BaggedFMeasureTree as BaggedFMeasureTree,
    FMeasurePlugIn as FMeasurePlugIn,
    FMeasureTree as FMeasureTree,
    LabelChain as LabelChain,
    NeighborLabels as NeighborLabels,
    f_measure as f_measure,
    fm_independent as fm_independent,
    gfm as gfm,
    label_scores as label_scores,
)
