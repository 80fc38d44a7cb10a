"""What fuzzing found in the newer chapters, as calls that must be refused and why: `test_refusals` runs them."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from learnable.ensembles.boosting_adaboost import stagewise_path
from learnable.ensembles.boosting_l1_path import sparsify
from learnable.ensembles.boosting_l1_path.experiments import mixture, unit_columns
from learnable.ensembles.rademacher_tree_pruning import grow_prunable, grow_prune_test_split
from learnable.ensembles.transfer_forests import TransferForestClassifier, classify_video, select_gamma
from learnable.features.cmim_feature_selection import WeightedNeighbors
from learnable.features.fcbf_feature_selection import make_balanced_corral
from learnable.features.socp_feature_selection import (
    fisher_direction,
    fisher_program,
    minimax_probability_machine,
    two_class_program,
)
from learnable.features.subsets import NaiveBayesSubsets
from learnable.features.unsupervised_feature_selection import cv_class_error, em
from learnable.foundations.vc_theory import KIntervalERM, risk_decomposition
from learnable.foundations.vc_theory.learners import density_loss
from learnable.graphs.bn_learning_np_hard import order_search
from learnable.graphs.bn_model_averaging import fitted_network
from learnable.graphs.discrete import DiscreteNetwork
from learnable.graphs.hub_graphical_models import GaussianLoss, hub_covariance
from learnable.highdim.debiased_lasso import conditional_variance, efficiency_factor
from learnable.kernels.kernels_and_regression import cooccurrence_proximity, epsilon_objective
from learnable.kernels.named import named_gamma
from learnable.kernels.smo import regression
from learnable.kernels.support_vector_machines import C_to_D, SquaredNuSVM
from learnable.kernels.svm_regularization_path import cv_path
from learnable.linalg.precision import factor, factor_inverse, factor_logdet
from learnable.optim.coordinate_descent import lasso_path, solve_gram_batch, solve_lasso
from learnable.optim.homotopy import lasso_homotopy
from learnable.selection.classifier_benchmark import cohen_kappa, evaluate, friedman_ranks, make_partitions
from learnable.selection.classifier_benchmark.contestants import PNN
from learnable.selection.cv_variance import nested_cv_interval
from learnable.selection.f_measure_maximization import brute_force

HUGE = 461168601842738790
X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.repeat([0, 1], 6)
CODES = (X > 0).astype(int)
SUBSETS = NaiveBayesSubsets(CODES, Y, cv=2)
CHAIN = DiscreteNetwork([[False, True], [False, False]], [[0.8, 0.2], [[0.9, 0.1], [0.2, 0.8]]])
CUT = make_partitions(Y, random_state=0)

FUZZED = {
    "fisher_direction": (lambda: fisher_direction("moments"), "moments must be a ClassMoments"),
    "minimax machine": (lambda: minimax_probability_machine(X), "moments must be a ClassMoments"),
    "two_class_program": (lambda: two_class_program(None, 0.5), "moments must be a ClassMoments"),
    "fisher_program": (lambda: fisher_program(3, 0.5), "moments must be a ClassMoments"),
    "columns at infinity": (lambda: SUBSETS.error([np.inf]), "columns: places lie between"),
    "columns between": (lambda: SUBSETS.error([0.5]), "columns must be whole numbers"),
    "columns beyond": (lambda: SUBSETS.error([1e300]), "columns: places lie between"),
    "complex columns": (lambda: SUBSETS.error(np.array([1j])), "columns must be whole numbers"),
    "em without end": (lambda: em(X, 2, n_restarts=HUGE), "n_restarts must be"),
    "corral without end": (lambda: make_balanced_corral(n_blocks=HUGE), "n_blocks must be"),
    "no clusterer": (lambda: cv_class_error([], X, Y), "estimator must be a clusterer"),
    "kappa of 1e300": (lambda: cohen_kappa(np.full((2, 2), 1e300)), "table"),
    "no grid": (lambda: evaluate(KNeighborsClassifier(), X, Y, CUT, grid="nonsense"), "Parameter grid"),
    "no columns": (lambda: evaluate(KNeighborsClassifier(), X[:, 0], Y, CUT), "X must have rows and columns"),
    "complex accuracy": (lambda: friedman_ranks(np.array([[1j, 0.5]])), "accuracy must be an array of real numbers"),
    "distances overflow": (lambda: PNN().fit(X * 1e160, Y), "X"),
    "beta of 1e300": (lambda: brute_force([[1, 0]], beta=1e300), "beta must be"),
    "repeats without end": (lambda: nested_cv_interval(KNeighborsClassifier(), X, Y, n_repeats=HUGE), "n_repeats"),
    "constant column": (lambda: unit_columns([[1.0], [1.0]], [0.0, 1.0]), "X has a constant column"),
    "seed of words": (lambda: mixture("nonsense"), "random_state"),
    "tolerance": (lambda: sparsify([[1.0, 1.0]], [0.5, 0.5], tol=10**400), "tol must be"),
    "leaves": (
        lambda: grow_prunable(X, Y, grow_prune_test_split(12, random_state=0), min_samples_leaf=HUGE),
        "min_samples_leaf must be",
    ),
    "no forest": (lambda: select_gamma(None, X, Y, Y, target=0), "forest must be a TransferForest"),
    "flat X": (lambda: select_gamma(TransferForestClassifier(), X[:, 0], Y, Y), "X must have a row for each"),
    "no model": (lambda: classify_video("", X), "model must be a fitted classifier"),
    "no graph": (lambda: fitted_network(CODES, "nonsense"), "dag must be a DAG"),
    "no evidence": (lambda: CHAIN.query([0], "nonsense"), "evidence must be a mapping"),
    "no fit": (lambda: hub_covariance(np.eye(3), 0.1, 0.1, 0.1, warm_start=[]), "warm_start must be a HubFit"),
    "covariance of 1e300": (lambda: GaussianLoss(np.eye(2) * 1e300), "S"),
    "orders without end": (lambda: order_search(CHAIN.dag, [2, 2], n_restarts=HUGE), "n_restarts must be"),
    "variable that is not there": (lambda: conditional_variance(np.eye(2), 5, [1]), "i must be"),
    "half a variable": (lambda: conditional_variance(np.eye(2), 0, [0.5]), "S must hold numbers of variables"),
    "row that is not there": (lambda: efficiency_factor(np.eye(2), HUGE), "i must be"),
    "counts in a list": (lambda: cooccurrence_proximity([[1, 0]]), "counts must be a matrix"),
    "gamma of 1e300": (lambda: named_gamma(1e300, X), "gamma must be"),
    "no path": (lambda: cv_path(X, Y, 2, path=3), "path must be an SVMPath"),
    "objects": (lambda: factor(np.array([[None, None], [None, None]])), "A must"),
    "not square": (lambda: factor(np.ones((2, 3))), "A must be square"),
    "no factor": (lambda: factor_inverse([[1.0]]), "L must be a square float64 matrix"),
    "factor of one row": (lambda: factor_logdet(np.ones((1, 2))), "L must be a square float64 matrix"),
    "factor with a zero": (lambda: factor_inverse(np.zeros((2, 2))), "L must have a positive diagonal"),
    "logarithm of a zero": (lambda: factor_logdet(np.zeros((2, 2))), "L must have a positive diagonal"),
    "path of 1e300": (lambda: lasso_path(X * 1e300, Y.astype(float)), "X must have a largest absolute value"),
    "response of 1e300": (lambda: solve_lasso(X, Y * 1e300, 0.1), "y must have a largest absolute value"),
    "homotopy of 1e300": (lambda: lasso_homotopy(X * 1e300, Y.astype(float)), "X must have a largest absolute value"),
    "complex weights": (
        lambda: solve_gram_batch(np.eye(2), np.eye(2), weights=[1j, 1.0]),
        "weights must be an array of real numbers",
    ),
    "no law": (lambda: risk_decomposition(KIntervalERM(1), 3, 500, 20), "problem must be"),
    "complex density": (lambda: density_loss(None, [1j]), "density must be an array of real numbers"),
    "stages of 1e300": (lambda: stagewise_path(X * 1e300, Y.astype(float), 0.1, 3), "X must have a largest"),
    "neighbours at 1e300": (lambda: WeightedNeighbors().fit(X * 1e300, Y), "X must have a largest"),
    "cache without end": (
        lambda: regression(np.eye(2), [0.0, 1.0], epsilon=0.1, C=1.0, cache_mb=10**400),
        "cache_mb must be",
    ),
    "price without end": (
        lambda: regression(np.eye(2), [0.0, 1.0], epsilon=0.1, C=10**400),
        "C must be an array of real numbers that fit",
    ),
    "tolerance of a price": (lambda: C_to_D(np.eye(2), [-1, 1], 1.0, tol=1e18), "tol must be"),
    "one point twice": (lambda: SquaredNuSVM(D=0.1).fit(0 * X, Y), "X must hold at least two different points"),
    "penalty without end": (lambda: epsilon_objective(np.eye(1), [0.0], [1.0], 0.0, 10**400, 0.1), "alpha must be"),
    "ridge of 1e300": (lambda: solve_lasso(X, Y.astype(float), 0.1, l2=1e300), "l2 must be"),
}
