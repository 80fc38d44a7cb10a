"""Why learning a network stays hard with infinite data: faithful networks, oracles, and a reduction that runs.

With enough data every consistent score prefers the DAG with fewest parameters among those that can represent the
distribution. Finding it is NP-hard even if all questions about the distribution are answered free of charge
(Chickering, Heckerman and Meek 2004). By concept:

- :mod:`.faithful`: tables that make every active path a dependence, and a report that compares all statements;
- :mod:`.properties`: what such tables have in common: binary-like, lattice, totally strictly positive;
- :mod:`.transformations`: networks changed so that p(unobserved | observed) stays;
- :mod:`.feedback`: feedback arc sets, exact and greedy;
- :mod:`.reduction`: from digraphs to learning and back, with a verifier;
- :mod:`.search`: the DAG with fewest parameters, exact and by local search over orders;
- :mod:`.population`: the score that n records would give on average;
- :mod:`.oracles`: independence, probabilities and information of the reduction's distribution;
- :mod:`.experiments`: the studies of the chapter.
"""

from learnable.graphs.bn_learning_np_hard.faithful import (
    PerfectnessReport,
    conditional_dependence,
    faithful_network,
    faithful_table,
    joint_table,
    perfectness_report,
)
from learnable.graphs.bn_learning_np_hard.feedback import (
    greedy_feedback_arcs,
    is_feedback_arc_set,
    minimum_feedback_arcs,
    prune_digraph,
    random_bounded_digraph,
)
from learnable.graphs.bn_learning_np_hard.oracles import LearnOracle
from learnable.graphs.bn_learning_np_hard.population import population_scores
from learnable.graphs.bn_learning_np_hard.properties import (
    is_binary_like,
    is_bll,
    is_bltsp,
    is_lattice,
    is_totally_strictly_positive,
)
from learnable.graphs.bn_learning_np_hard.reduction import (
    LearnInstance,
    Verification,
    dag_to_feedback,
    dbfas_to_learn,
    feedback_to_dag,
    learn_bound,
    verify_solution,
)
from learnable.graphs.bn_learning_np_hard.search import (
    MinimalImap,
    markov_boundary,
    minimal_imap,
    order_imap,
    order_search,
)
from learnable.graphs.bn_learning_np_hard.transformations import (
    Elimination,
    NamedNetwork,
    eliminate_observed,
    separate_observed_children,
    shorten_paths,
)

__all__ = [
    "Elimination",
    "LearnInstance",
    "LearnOracle",
    "MinimalImap",
    "NamedNetwork",
    "PerfectnessReport",
    "Verification",
    "conditional_dependence",
    "dag_to_feedback",
    "dbfas_to_learn",
    "eliminate_observed",
    "faithful_network",
    "faithful_table",
    "feedback_to_dag",
    "greedy_feedback_arcs",
    "is_binary_like",
    "is_bll",
    "is_bltsp",
    "is_feedback_arc_set",
    "is_lattice",
    "is_totally_strictly_positive",
    "joint_table",
    "learn_bound",
    "markov_boundary",
    "minimal_imap",
    "minimum_feedback_arcs",
    "order_imap",
    "order_search",
    "perfectness_report",
    "population_scores",
    "prune_digraph",
    "random_bounded_digraph",
    "separate_observed_children",
    "shorten_paths",
    "verify_solution",
]
