from .bif import (
    read_bif as read_bif,
    write_bif as write_bif,
)
from .bn_learning_np_hard import (
    conditional_dependence as conditional_dependence,
    faithful_network as faithful_network,
    faithful_table as faithful_table,
    markov_boundary as markov_boundary,
    minimal_imap as minimal_imap,
    minimum_feedback_arcs as minimum_feedback_arcs,
    order_search as order_search,
    perfectness_report as perfectness_report,
    population_scores as population_scores,
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
from .hub_graphical_models import (
    HubBinaryNetwork as HubBinaryNetwork,
    HubCovarianceGraph as HubCovarianceGraph,
    HubGraphicalLasso as HubGraphicalLasso,
    gibbs_ising as gibbs_ising,
    hub_path as hub_path,
)
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
from .order_independent_pc import (
    FCI as FCI,
    PC as PC,
    RFCI as RFCI,
    choose_alpha_bic as choose_alpha_bic,
    ida as ida,
    ida_lower_bounds as ida_lower_bounds,
    stability_selection as stability_selection,
)
from .scores import (
    best_dag as best_dag,
    subset_scores as subset_scores,
)
