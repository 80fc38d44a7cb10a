from .bif import (
    read_bif as read_bif,
    write_bif as write_bif,
)
from .bn_model_averaging import (
    AMAClassifier as AMAClassifier,
    GTTClassifier as GTTClassifier,
    NMAClassifier as NMAClassifier,
    SNNClassifier as SNNClassifier,
    average_over_order as average_over_order,
    edge_posterior_all_orders as edge_posterior_all_orders,
    greedy_thick_thin as greedy_thick_thin,
)
from .discrete import (
    DiscreteNetwork as DiscreteNetwork,
    Factor as Factor,
    count_parameters as count_parameters,
    random_network as random_network,
)
from .scores import (
    best_dag as best_dag,
    subset_scores as subset_scores,
)
