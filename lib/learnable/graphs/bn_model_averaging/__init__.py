"""Averaging over exponentially many Bayesian networks with one network (Dash and Cooper 2004).

Along a fixed order, with at most k parents for each node, the posterior average over all structures is a product of
sums over parent sets, and equals the distribution of a single network. By concept:

- :mod:`.averaging`: weights of parent sets, edge posteriors, averaged predictions, the summary network;
- :mod:`.classifiers`: naive Bayes averaged over all subsets of features, and three competitors;
- :mod:`.search`: one structure by greedy thick-thin search;
- :mod:`.orders`: edge posteriors over all orders;
- :mod:`.trials`: random networks, ROC areas, and the share of missing area that is recovered;
- :mod:`.experiments`: the tables of the source, at any scale.
"""

from learnable.graphs.bn_model_averaging.averaging import (
    OrderedAverage,
    ama_parents,
    average_over_order,
    log_number_of_structures,
    posterior_mean_table,
)
from learnable.graphs.bn_model_averaging.classifiers import AMAClassifier, GTTClassifier, NMAClassifier, SNNClassifier
from learnable.graphs.bn_model_averaging.orders import OrderPosterior, edge_posterior_all_orders
from learnable.graphs.bn_model_averaging.search import GreedyStructure, fitted_network, greedy_thick_thin
from learnable.graphs.bn_model_averaging.trials import (
    TrialSummary,
    recovered_area,
    roc_area,
    sample_random_network,
    summarise_trials,
)

__all__ = [
    "AMAClassifier",
    "GTTClassifier",
    "GreedyStructure",
    "NMAClassifier",
    "OrderPosterior",
    "OrderedAverage",
    "SNNClassifier",
    "TrialSummary",
    "ama_parents",
    "average_over_order",
    "edge_posterior_all_orders",
    "fitted_network",
    "greedy_thick_thin",
    "log_number_of_structures",
    "posterior_mean_table",
    "recovered_area",
    "roc_area",
    "sample_random_network",
    "summarise_trials",
]
