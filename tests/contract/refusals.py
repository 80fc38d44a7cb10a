"""What fuzzing found, as calls that must be refused and why: `test_refusals` runs them."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from learnable.ensembles import TransferForestClassifier, grow_prunable, grow_prune_test_split, select_gamma
from learnable.ensembles.stagewise import stagewise_path
from learnable.features import minimax_probability_machine
from learnable.features.socp import fisher_direction, fisher_program, two_class_program
from learnable.features.subsets import NaiveBayesSubsets
from learnable.graphs import order_search
from learnable.graphs.discrete import DiscreteNetwork
from learnable.graphs.hubs import GaussianLoss, hub_covariance
from learnable.kernels import SquaredNuSVM, cv_path
from learnable.kernels.named import named_gamma
from learnable.kernels.smo import regression
from learnable.latent.mixture import em
from learnable.linalg.precision import factor, factor_inverse, factor_logdet
from learnable.optim.coordinate_descent import lasso_path, solve_gram_batch, solve_lasso
from learnable.optim.homotopy import lasso_homotopy
from learnable.selection import evaluate, friedman_ranks, make_partitions, nested_cv_interval
from learnable.selection.benchmark import cohen_kappa

HUGE = 461168601842738790
X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.repeat([0, 1], 6)
CODES = (X > 0).astype(int)
SUBSETS = NaiveBayesSubsets(CODES, Y, cv=2)
CHAIN = DiscreteNetwork([[False, True], [False, False]], [[0.8, 0.2], [[0.9, 0.1], [0.2, 0.8]]])
CUT = make_partitions(Y, random_state=0)

FUZZED = {
    "fisher_direction": (lambda: fisher_direction("moments"), "moments must be of type ClassMoments"),
    "minimax machine": (lambda: minimax_probability_machine(X), "moments must be of type ClassMoments"),
    "two_class_program": (lambda: two_class_program(None, 0.5), "moments must be of type ClassMoments"),
    "fisher_program": (lambda: fisher_program(3, 0.5), "moments must be of type ClassMoments"),
    "columns at infinity": (lambda: SUBSETS.error([np.inf]), "columns: places lie between"),
    "columns between": (lambda: SUBSETS.error([0.5]), "columns must be whole numbers"),
    "columns beyond": (lambda: SUBSETS.error([1e300]), "columns: places lie between"),
    "complex columns": (lambda: SUBSETS.error(np.array([1j])), "columns must be whole numbers"),
    "em without end": (lambda: em(X, 2, n_restarts=HUGE), "n_restarts must be"),
    "kappa of 1e300": (lambda: cohen_kappa(np.full((2, 2), 1e300)), "table"),
    "no grid": (lambda: evaluate(KNeighborsClassifier(), X, Y, CUT, grid="nonsense"), "Parameter grid"),
    "no columns": (lambda: evaluate(KNeighborsClassifier(), X[:, 0], Y, CUT), "X must have rows and columns"),
    "complex accuracy": (lambda: friedman_ranks(np.array([[1j, 0.5]])), "accuracy must be an array of real numbers"),
    "repeats without end": (lambda: nested_cv_interval(KNeighborsClassifier(), X, Y, n_repeats=HUGE), "n_repeats"),
    "leaves": (
        lambda: grow_prunable(X, Y, grow_prune_test_split(12, random_state=0), min_samples_leaf=HUGE),
        "min_samples_leaf must be",
    ),
    "no forest": (lambda: select_gamma(None, X, Y, Y, target=0), "forest must be a TransferForest"),
    "flat X": (lambda: select_gamma(TransferForestClassifier(), X[:, 0], Y, Y), "X must have a row for each"),
    "no evidence": (lambda: CHAIN.query([0], "nonsense"), "evidence must be a mapping"),
    "no fit": (lambda: hub_covariance(np.eye(3), 0.1, 0.1, 0.1, warm_start=[]), "warm_start must be a HubFit"),
    "covariance of 1e300": (lambda: GaussianLoss(np.eye(2) * 1e300), "S"),
    "orders without end": (lambda: order_search(CHAIN.dag, [2, 2], n_restarts=HUGE), "n_restarts must be"),
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
    "stages of 1e300": (lambda: stagewise_path(X * 1e300, Y.astype(float), 0.1, 3), "X must have a largest"),
    "cache without end": (
        lambda: regression(np.eye(2), [0.0, 1.0], epsilon=0.1, C=1.0, cache_mb=10**400),
        "cache_mb must be",
    ),
    "price without end": (
        lambda: regression(np.eye(2), [0.0, 1.0], epsilon=0.1, C=10**400),
        "C must be an array of real numbers that fit",
    ),
    "one point twice": (lambda: SquaredNuSVM(D=0.1).fit(0 * X, Y), "X must hold at least two different points"),
    "ridge of 1e300": (lambda: solve_lasso(X, Y.astype(float), 0.1, l2=1e300), "l2 must be"),
}
