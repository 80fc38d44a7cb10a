from .effects import (
    ida as ida,
    ida_lower_bounds as ida_lower_bounds,
)
from .estimator import (
    LearnedGraph as LearnedGraph,
    PC as PC,
    is_valid_cpdag as is_valid_cpdag,
    pc as pc,
)
from .orientation import (
    ColliderVotes as ColliderVotes,
    collider_votes as collider_votes,
    meek_rules as meek_rules,
    orient_colliders as orient_colliders,
    unshielded_triples as unshielded_triples,
)
from .search import (
    AdjacencySearch as AdjacencySearch,
    SeparatingSets as SeparatingSets,
    adjacency_search as adjacency_search,
)
from .tuning import (
    AlphaChoice as AlphaChoice,
    Stability as Stability,
    choose_alpha_bic as choose_alpha_bic,
    gaussian_bic as gaussian_bic,
    stability_selection as stability_selection,
)
