"""Relevant is not enough: redundancy analysis and the fast correlation-based filter.

A relevant feature is worth keeping only if no feature that is kept already says the same. Redundancy has an exact
definition by Markov blankets, and an approximation by pairs of features that costs a walk down one sorted list
(Yu and Liu 2004).

By concept:

- :mod:`.walk`: the filter, approximate blankets, a second look with blankets of several features;
- :mod:`.blankets`: relevance, Markov blankets and redundancy in a known distribution;
- :mod:`.rivals`: ReliefF, correlation-based and consistency-based forward selection;
- :mod:`.corral`: CorrAL with copies on a balanced table;
- :mod:`.protocols`: accuracy with selection before or inside the folds, paired tests;
- :mod:`.experiments`: the tables of the source, at any scale.
"""

from learnable.features.fcbf_feature_selection.blankets import (
    Partition,
    is_markov_blanket,
    markov_blanket_filtering,
    partition_features,
    relevance_category,
)
from learnable.features.fcbf_feature_selection.corral import CorralTable, make_balanced_corral
from learnable.features.fcbf_feature_selection.protocols import (
    Comparison,
    FoldScores,
    fold_scores,
    paired_comparison,
)
from learnable.features.fcbf_feature_selection.rivals import CFS, FOCUS, ReliefF, inconsistency
from learnable.features.fcbf_feature_selection.walk import (
    FCBF,
    Walk,
    approximate_blankets,
    joint_redundancy,
    predominant_features,
    su_matrix,
)

__all__ = [
    "CFS",
    "FCBF",
    "FOCUS",
    "Comparison",
    "CorralTable",
    "FoldScores",
    "Partition",
    "ReliefF",
    "Walk",
    "approximate_blankets",
    "fold_scores",
    "inconsistency",
    "is_markov_blanket",
    "joint_redundancy",
    "make_balanced_corral",
    "markov_blanket_filtering",
    "paired_comparison",
    "partition_features",
    "predominant_features",
    "relevance_category",
    "su_matrix",
]
