"""Causal graphs that do not depend on the order of the columns (Colombo and Maathuis 2014).

By concept:

- :mod:`.search`: step 1, the skeleton, with neighbours that are updated or frozen within a level;
- :mod:`.orientation`: steps 2 and 3, colliders by one separating set or by a vote, and what follows from them;
- :mod:`.pc`: the twelve variants of PC as a function and as an estimator;
- :mod:`.hidden`: FCI and RFCI for data with hidden variables; :mod:`.zhang` has their ten rules;
- :mod:`.effects`: possible causal effects, their lower bounds and their ranking (IDA);
- :mod:`.tuning`: stability selection, and alpha by the Bayesian information criterion;
- :mod:`.comparison`: errors of a learned graph;
- :mod:`.experiments`: the simulations of the source, at any scale.
"""

from learnable.graphs.order_independent_pc.comparison import GraphErrors, graph_errors, hide_common_causes
from learnable.graphs.order_independent_pc.effects import ida, ida_lower_bounds, top_effects_roc
from learnable.graphs.order_independent_pc.hidden import FCI, RFCI, fci, possible_d_sep, rfci
from learnable.graphs.order_independent_pc.orientation import (
    ColliderVotes,
    collider_votes,
    meek_rules,
    orient_colliders,
    unshielded_triples,
)
from learnable.graphs.order_independent_pc.pc import PC, LearnedGraph, is_valid_cpdag, pc
from learnable.graphs.order_independent_pc.search import AdjacencySearch, SeparatingSets, adjacency_search
from learnable.graphs.order_independent_pc.tuning import (
    AlphaChoice,
    Stability,
    choose_alpha_bic,
    gaussian_bic,
    stability_selection,
)

__all__ = [
    "FCI",
    "PC",
    "RFCI",
    "AdjacencySearch",
    "AlphaChoice",
    "ColliderVotes",
    "GraphErrors",
    "LearnedGraph",
    "SeparatingSets",
    "Stability",
    "adjacency_search",
    "choose_alpha_bic",
    "collider_votes",
    "fci",
    "gaussian_bic",
    "graph_errors",
    "hide_common_causes",
    "ida",
    "ida_lower_bounds",
    "is_valid_cpdag",
    "meek_rules",
    "orient_colliders",
    "pc",
    "possible_d_sep",
    "rfci",
    "stability_selection",
    "top_effects_roc",
    "unshielded_triples",
]
