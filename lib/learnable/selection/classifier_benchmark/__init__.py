"""Comparing classifiers over data sets: protocol, roster, summaries and tests (Fernandez-Delgado et al. 2014).

By concept:

- :mod:`.protocol`: prepared inputs, shared partitions, the score of one classifier on one data set;
- :mod:`.roster`: who takes part, with families and grids;
- :mod:`.contestants`: kernel ELM, probabilistic network, RDA and rotation forest, which scikit-learn lacks;
- :mod:`.small_rules`: ELM, one input, boxes, feature intervals, codebooks, radial basis functions;
- :mod:`.committees`: averaged networks, MultiBoost, random committees and subspaces, Dagging;
- :mod:`.ranking`: ranks, probabilities of being best, percentages of the best, weighted means;
- :mod:`.significance`: Friedman, Nemenyi, Wilcoxon and Holm, the Bayesian signed-rank test, the bootstrap;
- :mod:`.published`: the figures of the source, to be read again;
- :mod:`.experiments`: the comparison itself, at any scale.
"""

from learnable.selection.classifier_benchmark.committees import (
    AveragedMLP,
    Dagging,
    MultiBoost,
    RandomCommittee,
    RandomSubSpace,
)
from learnable.selection.classifier_benchmark.contestants import PNN, RDA, KernelELM, RotationForest, ridge_path
from learnable.selection.classifier_benchmark.protocol import (
    CellScore,
    Partitions,
    cohen_kappa,
    evaluate,
    make_partitions,
    prepare,
)
from learnable.selection.classifier_benchmark.published import ensemble_vs_base, family_summary, published_results
from learnable.selection.classifier_benchmark.ranking import (
    CoverageCurve,
    coverage_curve,
    friedman_ranks,
    leaderboard,
    property_weights,
    weighted_accuracy,
)
from learnable.selection.classifier_benchmark.roster import Entrant, roster
from learnable.selection.classifier_benchmark.significance import (
    FriedmanTest,
    PairComparison,
    RankIntervals,
    bayesian_signed_rank,
    bootstrap_ranks,
    compare_pair,
    friedman_test,
    holm_comparisons,
    nemenyi_difference,
    nemenyi_groups,
)
from learnable.selection.classifier_benchmark.small_rules import ELM, LVQ, VFI, HyperPipes, OneR, RBFNet

__all__ = [
    "ELM",
    "LVQ",
    "PNN",
    "RDA",
    "VFI",
    "AveragedMLP",
    "CellScore",
    "CoverageCurve",
    "Dagging",
    "Entrant",
    "FriedmanTest",
    "HyperPipes",
    "KernelELM",
    "MultiBoost",
    "OneR",
    "PairComparison",
    "Partitions",
    "RBFNet",
    "RandomCommittee",
    "RandomSubSpace",
    "RankIntervals",
    "RotationForest",
    "bayesian_signed_rank",
    "bootstrap_ranks",
    "cohen_kappa",
    "compare_pair",
    "coverage_curve",
    "ensemble_vs_base",
    "evaluate",
    "family_summary",
    "friedman_ranks",
    "friedman_test",
    "holm_comparisons",
    "leaderboard",
    "make_partitions",
    "nemenyi_difference",
    "nemenyi_groups",
    "prepare",
    "property_weights",
    "published_results",
    "ridge_path",
    "roster",
    "weighted_accuracy",
]
