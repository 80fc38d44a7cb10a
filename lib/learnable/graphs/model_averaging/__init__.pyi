from .averaging import (
    OrderedAverage as OrderedAverage,
    average_over_order as average_over_order,
)
from .classifiers import (
    AMAClassifier as AMAClassifier,
    GTTClassifier as GTTClassifier,
    NMAClassifier as NMAClassifier,
    SNNClassifier as SNNClassifier,
)
from .orders import (
    OrderPosterior as OrderPosterior,
    edge_posterior_all_orders as edge_posterior_all_orders,
)
from .search import (
    GreedyStructure as GreedyStructure,
    greedy_thick_thin as greedy_thick_thin,
)
