from .corrupted import (
    corrected_covariance as corrected_covariance,
    nearest_covariance as nearest_covariance,
)
from .learner import (
    LinearDAGLearner as LinearDAGLearner,
)
from .local_scores import (
    ParentScores as ParentScores,
    dag_score as dag_score,
    dag_weights as dag_weights,
    parent_scores as parent_scores,
)
from .moral import (
    MoralGraph as MoralGraph,
    estimate_moral_graph as estimate_moral_graph,
)
from .search import (
    all_dags as all_dags,
    best_dag_greedy as best_dag_greedy,
    best_dag_subset as best_dag_subset,
)
from .treewidth import (
    BestDAG as BestDAG,
    TreeDecomposition as TreeDecomposition,
    best_dag_treewidth as best_dag_treewidth,
    tree_decomposition as tree_decomposition,
)
