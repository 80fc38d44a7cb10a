from .order_independent_pc import (
    FCI as FCI,
    PC as PC,
    RFCI as RFCI,
    choose_alpha_bic as choose_alpha_bic,
    ida as ida,
    ida_lower_bounds as ida_lower_bounds,
    stability_selection as stability_selection,
from .linear_causal_networks import (
    LinearDAGLearner as LinearDAGLearner,
    best_dag_greedy as best_dag_greedy,
    best_dag_treewidth as best_dag_treewidth,
    corrected_covariance as corrected_covariance,
    direct_lingam_order as direct_lingam_order,
    estimate_moral_graph as estimate_moral_graph,
    parent_scores as parent_scores,
    score_gap as score_gap,
    weight_scan as weight_scan,
)
