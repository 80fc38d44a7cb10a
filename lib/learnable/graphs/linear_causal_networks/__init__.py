"""Linear causal networks: the moral graph from the inverse covariance, then the best DAG inside it, exactly.

Loh and Bühlmann 2014. By concept:

- :mod:`.moral`: neighbours from the inverse covariance, by thresholds, the graphical lasso or one lasso for each node;
- :mod:`.local_scores`: the weighted squared error of every parent set, from any covariance;
- :mod:`.treewidth`: the best DAG by dynamic programming over a tree decomposition;
- :mod:`.search`: the same over subsets, and greedily;
- :mod:`.gap`: how much worse the second best graph is, and how wrong the weights may be;
- :mod:`.corrupted`: covariances from missing or noisy data;
- :mod:`.learner`: all of it as an estimator; :mod:`.baselines`: orders by variance, DirectLiNGAM, PC;
- :mod:`.experiments`: studies of the chapter.

The model itself, :class:`~learnable.graphs.linear_sem.LinearSEM`, is a concept of the part.
"""

from learnable.graphs.linear_causal_networks.baselines import (
    direct_lingam_order,
    pc_cpdag,
    regress_in_order,
    top_down_order,
    variance_order,
)
from learnable.graphs.linear_causal_networks.corrupted import corrected_covariance, nearest_covariance
from learnable.graphs.linear_causal_networks.gap import Gap, gap_ratio, score_gap, weight_scan
from learnable.graphs.linear_causal_networks.learner import LinearDAGLearner
from learnable.graphs.linear_causal_networks.local_scores import ParentScores, dag_score, dag_weights, parent_scores
from learnable.graphs.linear_causal_networks.moral import MoralGraph, cancellations, estimate_moral_graph
from learnable.graphs.linear_causal_networks.search import all_dags, best_dag_greedy, best_dag_subset
from learnable.graphs.linear_causal_networks.treewidth import (
    BestDAG,
    TreeDecomposition,
    best_dag_treewidth,
    tree_decomposition,
)

__all__ = [
    "BestDAG",
    "Gap",
    "LinearDAGLearner",
    "MoralGraph",
    "ParentScores",
    "TreeDecomposition",
    "all_dags",
    "best_dag_greedy",
    "best_dag_subset",
    "best_dag_treewidth",
    "cancellations",
    "corrected_covariance",
    "dag_score",
    "dag_weights",
    "direct_lingam_order",
    "estimate_moral_graph",
    "gap_ratio",
    "nearest_covariance",
    "parent_scores",
    "pc_cpdag",
    "regress_in_order",
    "score_gap",
    "top_down_order",
    "tree_decomposition",
    "variance_order",
    "weight_scan",
]
