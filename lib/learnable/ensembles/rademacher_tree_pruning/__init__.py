"""Error certificates for pruned trees: Rademacher penalties, REP and k-REP (Kääriäinen, Malinen and Elomaa 2004).

A tree is grown on one part of the data, by scikit-learn; the other part selects one of its prunings and says how wrong
that pruning can be. The prunings of a given tree are a finite class over which empirical risk is minimised exactly, so
that its Rademacher penalty is a number that can be computed.

By concept:

- :mod:`learnable.trees.given_tree`: the tree as given, REP, k-REP, sums over leaves, the number of prunings;
- :mod:`.growing`: the split of the data, the grown tree with its pruning data;
- :mod:`.penalties`: Rademacher penalties of all prunings, of the restricted ones, of intervals;
- :mod:`.bounds`: Rademacher, Occam and binomial certificates;
- :mod:`.estimators`: the strategy as a classifier, and the choice of the budget;
- :mod:`.experiments`: the table of the source, at any scale.
"""

from learnable.ensembles.rademacher_tree_pruning.bounds import (
    Certificate,
    averaged_bound,
    binomial_bound,
    confidence_term,
    occam_bound,
    rademacher_bound,
)
from learnable.ensembles.rademacher_tree_pruning.estimators import BoundCurve, CertifiedTree, bound_curve, certify
from learnable.ensembles.rademacher_tree_pruning.growing import (
    PrunableTree,
    ThreeWaySplit,
    grow_prunable,
    grow_prune_test_split,
)
from learnable.ensembles.rademacher_tree_pruning.penalties import (
    interval_penalty,
    rademacher_penalty,
    relabelled_penalty,
    sup_deviation,
)
from learnable.trees.given_tree import (
    GivenTree,
    InfeasibleBudget,
    Pruning,
    k_rep,
    largest_sums,
    log_n_prunings,
    node_errors,
    reduced_error_pruning,
)

__all__ = [
    "BoundCurve",
    "Certificate",
    "CertifiedTree",
    "GivenTree",
    "InfeasibleBudget",
    "PrunableTree",
    "Pruning",
    "ThreeWaySplit",
    "averaged_bound",
    "binomial_bound",
    "bound_curve",
    "certify",
    "confidence_term",
    "grow_prunable",
    "grow_prune_test_split",
    "interval_penalty",
    "k_rep",
    "largest_sums",
    "log_n_prunings",
    "node_errors",
    "occam_bound",
    "rademacher_bound",
    "rademacher_penalty",
    "reduced_error_pruning",
    "relabelled_penalty",
    "sup_deviation",
]
