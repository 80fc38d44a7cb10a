from .bif import (
    read_bif as read_bif,
    write_bif as write_bif,
)
from .discrete import (
    DiscreteNetwork as DiscreteNetwork,
    Factor as Factor,
    count_parameters as count_parameters,
    random_network as random_network,
)
from .faithful import (
    conditional_dependence as conditional_dependence,
    faithful_network as faithful_network,
    faithful_table as faithful_table,
    perfectness_report as perfectness_report,
)
from .fci.estimators import (
    FCI as FCI,
    RFCI as RFCI,
)
from .hubs.binary import (
    HubBinaryNetwork as HubBinaryNetwork,
    gibbs_ising as gibbs_ising,
)
from .hubs.covariance import (
    HubCovarianceGraph as HubCovarianceGraph,
)
from .hubs.gaussian import (
    HubGraphicalLasso as HubGraphicalLasso,
    hub_path as hub_path,
)
from .imaps import (
    minimal_imap as minimal_imap,
    order_search as order_search,
)
from .linear_dags.corrupted import (
    corrected_covariance as corrected_covariance,
)
from .linear_dags.learner import (
    LinearDAGLearner as LinearDAGLearner,
)
from .linear_dags.local_scores import (
    parent_scores as parent_scores,
)
from .linear_dags.moral import (
    estimate_moral_graph as estimate_moral_graph,
)
from .linear_dags.search import (
    best_dag_greedy as best_dag_greedy,
)
from .linear_dags.treewidth import (
    best_dag_treewidth as best_dag_treewidth,
)
from .model_averaging.averaging import (
    average_over_order as average_over_order,
)
from .model_averaging.classifiers import (
    AMAClassifier as AMAClassifier,
    GTTClassifier as GTTClassifier,
    NMAClassifier as NMAClassifier,
    SNNClassifier as SNNClassifier,
)
from .model_averaging.orders import (
    edge_posterior_all_orders as edge_posterior_all_orders,
)
from .model_averaging.search import (
    greedy_thick_thin as greedy_thick_thin,
)
from .pc.effects import (
    ida as ida,
    ida_lower_bounds as ida_lower_bounds,
)
from .pc.estimator import (
    PC as PC,
)
from .pc.tuning import (
    choose_alpha_bic as choose_alpha_bic,
    stability_selection as stability_selection,
)
from .population import (
    population_scores as population_scores,
)
from .scores import (
    best_dag as best_dag,
    subset_scores as subset_scores,
)
