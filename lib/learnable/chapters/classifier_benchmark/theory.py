"""The source's preparation of data sets, its summaries of a table of accuracies, and the classifiers that take part."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from learnable.chapters.classifier_benchmark.baselines import PNN, RDA, KernelELM, RotationForest
from learnable.chapters.classifier_benchmark.committees import (
    AveragedMLP,
    Dagging,
    MultiBoost,
    RandomCommittee,
    RandomSubSpace,
)
from learnable.chapters.classifier_benchmark.small_rules import ACTIVATIONS, ELM, LVQ, VFI, HyperPipes, OneR, RBFNet
from learnable.selection.ranking import _best, _column, _named, _table
from learnable.validation import encode_labels


def prepare(X, y, *, missing="zero_after", min_count=4):
    """Prepare a table as in Fernandez-Delgado et al. (2014, Sec. 2.1). Cost O(n d log n)."""
    table = _numbers(X)
    labels, codes = encode_labels(y)
    counts = np.bincount(codes, minlength=len(labels))
    kept = counts[codes] >= min_count
    table = table[kept]
    absent = np.isnan(table)
    if missing == "zero_before":
        table[absent] = 0.0
    return _standardised(table, absent), labels[codes[kept]]


def _numbers(X):
    """A float table of its own; the categories of nominal columns are numbered from 1, missing ones are NaN."""
    import pandas as pd

    if not isinstance(X, pd.DataFrame):
        return np.array(X, dtype=float)
    columns = []
    for name in X.columns:
        column = X[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            columns.append(column.to_numpy(dtype=float, na_value=np.nan))
        else:
            codes = column.astype("category").cat.codes.to_numpy()
            columns.append(np.where(codes < 0, np.nan, codes + 1.0))
    return np.column_stack(columns)


def _standardised(table, absent):
    """Mean 0 and standard deviation 1, over what is there; what is missing or constant becomes 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column of which nothing is there
        # 1e15 + k: a difference of neighbours is exact, one of quotients is not.
        low, high = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
        near = high / 2 - low / 2 < 1e-3 * np.maximum(np.abs(low), np.abs(high))
        table = table - np.where(near, low, 0.0)
        # Numbers near 1 first: squares of 1e200 overflow.
        size = np.nanmax(np.abs(table), axis=0)
        size = np.where(np.isfinite(size) & (size > 0), size, 1.0)
        table = table / size
        table = table - np.nanmean(table, axis=0)
        spread = np.nanstd(table, axis=0)
    # A constant column has a spread of rounding errors only.
    usable = np.isfinite(spread) & (spread > 1e-12)
    table = np.where(usable, table / np.where(usable, spread, 1.0), 0.0)
    return np.where(np.isnan(table), 0.0, table) if absent.any() else table


class CoverageCurve(NamedTuple):
    """Share of data sets above x percent of the best accuracy, and the area under the curve."""

    x: np.ndarray
    share: np.ndarray
    area: float


def coverage_curve(accuracy, classifier):
    """Share of data sets on which a classifier exceeds x percent of the best accuracy, for every x. Cost O(N c)."""
    table = _table(accuracy)
    column = _column(accuracy, table, classifier, "classifier")
    ratio = _best(table)[1][:, column]
    ratio = np.sort(ratio[~np.isnan(ratio)])
    x = np.unique(np.concatenate([[0.0], ratio, [1.0]]))
    share = 1 - np.searchsorted(ratio, x, side="right") / len(ratio)
    return CoverageCurve(100 * x, share, float(share[:-1] @ np.diff(x)))


def property_weights(values, *, kind="proportional"):
    """Weights of the data sets by a property; they are not negative and sum to the number of data sets. Cost O(N)."""
    values = np.asarray(values, dtype=float)
    raw = {"proportional": values, "decreasing": values.max() - values, "complexity": 1 - values}[kind]
    total = raw.sum()
    return len(values) * raw / total if total > 0 else np.ones(len(values))


def weighted_accuracy(accuracy, weights):
    """Mean accuracy of each classifier with weights for the data sets, (1/N) sum_i w_i A_ij. Cost O(N c)."""
    table = _table(accuracy)
    there = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        means = (weights @ np.where(there, table, 0.0)) / (weights @ there)
    return _named(means, accuracy, "accuracy")


C_FULL, GAMMA_FULL = (2.0 ** np.arange(-5, 15)).tolist(), (2.0 ** np.arange(-16, 9)).tolist()
C_MEDIUM, GAMMA_MEDIUM = [0.5, 4.0, 32.0, 256.0], [2.0**-9, 2.0**-6, 2.0**-3, 1.0]


@dataclass(frozen=True)
class Entrant:
    """One classifier of the comparison."""

    name: str
    family: str
    estimator: BaseEstimator
    grid: dict = field(default_factory=dict)
    printed: str | None = None

    def grid_for(self, n_features):
        """The grid for a table with so many inputs: a forest cannot try more of them at a split."""
        grid = dict(self.grid)
        if "max_features" in grid:
            grid["max_features"] = [m for m in grid["max_features"] if m <= n_features] or [n_features]
        return grid


def roster(scale="medium", *, random_state=None):
    """Classifiers that take part, in the order of their families. Cost O(1)."""
    full, seed = scale == "full", {"random_state": random_state}
    C, gamma = (C_FULL, GAMMA_FULL) if full else (C_MEDIUM, GAMMA_MEDIUM)
    poly = SVC(kernel="poly", coef0=1.0)
    stump = DecisionTreeClassifier(max_depth=1, **seed)
    trees = RandomForestClassifier(500 if full else 100, **seed)
    logistic = LogisticRegression(max_iter=1000)
    found = [
        Entrant("rf", "RF", trees, {"max_features": [2, 4, 6, 8] if full else [2, 4, 8]}, "parRF_t"),
        Entrant("rf_default", "RF", trees, {}, "rforest_R"),
        Entrant("rotation", "RF", RotationForest(10, **seed), {}, "RotationForest_w"),
        Entrant("svm_rbf", "SVM", SVC(), {"C": C, "gamma": gamma}, "svm_C"),
        Entrant("svm_poly", "SVM", poly, {"gamma": [0.001, 0.01, 0.1], **_poly_grid(full)}, "svmPoly_t"),
        Entrant("kernel_elm", "NNET", KernelELM(), {"C": C, "gamma": gamma}, "elm_kernel_m"),
        Entrant("pnn", "NNET", PNN(), {"spread": np.geomspace(0.01, 10, 19 if full else 7).tolist()}, "pnn_m"),
        Entrant("knn", "NN", KNeighborsClassifier(), _neighbours(full), "knn_R"),
        Entrant("logistic", "LMR", logistic, {"C": [0.1, 1.0, 10.0]}, "multinom_t"),
        Entrant("lda", "DA", LinearDiscriminantAnalysis(), {}, "lda_R"),
        Entrant("qda", "DA", QuadraticDiscriminantAnalysis(), {}, "qda_t"),
        Entrant("rda", "DA", RDA(), _rda_grid(full), "rda_R"),
        Entrant("naive_bayes", "BY", GaussianNB(), {}, "naiveBayes_R"),
        Entrant("cart", "DT", DecisionTreeClassifier(**seed), {"ccp_alpha": [0.0, 0.005, 0.02]}, "rpart_t"),
        Entrant("stump", "DT", stump, {}, "DecisionStump_w"),
        Entrant("bagging", "BAG", BaggingClassifier(DecisionTreeClassifier(), 25, **seed), {}, "treebag_t"),
        Entrant(
            "boosted_stumps",
            "BST",
            AdaBoostClassifier(stump, n_estimators=50, **seed),
            {},
            "AdaBoostM1_DecisionStump_w",
        ),
        Entrant("hist_gb", "new", HistGradientBoostingClassifier(**seed), _boosting_grid()),
        Entrant("zero_r", "RL", DummyClassifier(strategy="most_frequent"), {}, "ZeroR_w"),
    ]
    return found + further(random_state=random_state) if full else found


def further(*, random_state=None):
    """Classifiers that only the full roster has, with the source's grids."""
    seed = {"random_state": random_state}
    sizes = {"hidden_layer_sizes": list(range(1, 20, 2))}
    linear = LinearSVC(max_iter=5000, **seed)
    return [
        Entrant("extra_trees", "new", ExtraTreesClassifier(500, **seed), {"max_features": [2, 4, 6, 8]}),
        Entrant("svm_linear", "SVM", linear, {"C": (2.0 ** np.arange(-2, 8)).tolist()}, "svmLinear_t"),
        Entrant("mlp", "NNET", MLPClassifier(max_iter=500, **seed), sizes, "mlp_t"),
        Entrant("gaussian_process", "OM", GaussianProcessClassifier(**seed), {}, "gaussprRadial_R"),
        Entrant("centroid", "OM", NearestCentroid(), {"shrink_threshold": [None, 0.5, 1.0, 2.0]}, "pam_t"),
        Entrant("elm", "NNET", ELM(**seed), _layers(), "elm_m"),
        Entrant(
            "averaged_mlp", "NNET", AveragedMLP(**seed), {"n_hidden": [1, 3, 5], "alpha": [0.0, 0.1, 1e-4]}, "avNNet_t"
        ),
        Entrant("lvq", "NNET", LVQ(n_neighbors=5, **seed), {"version": [1, 3]}, "lvq_R"),
        Entrant("rbf_network", "NNET", RBFNet(**seed), {}, "RBFNetwork_w"),
        Entrant("multiboost", "BST", MultiBoost(**seed), {}, "MAB_DecisionStump_w"),
        Entrant("multiboost_trees", "BST", MultiBoost(_j48(), **seed), {}, "MAB_J48_w"),
        Entrant("random_committee", "OEN", RandomCommittee(**seed), {}, "RandomCommittee_w"),
        Entrant("random_subspace", "DT", RandomSubSpace(**seed), {}, "RandomSubSpace_w"),
        Entrant("dagging", "OEN", Dagging(**seed), {}, "Dagging_w"),
        Entrant("one_r", "RL", OneR(), {}, "OneR_w"),
        Entrant("hyper_pipes", "OM", HyperPipes(), {}, "HyperPipes_w"),
        Entrant("vfi", "OM", VFI(), {}, "VFI_w"),
    ]


def _boosting_grid():
    """The learning rate, the size of the trees, and leaves that small tables can fill."""
    return {"learning_rate": [0.03, 0.1, 0.3], "max_leaf_nodes": [4, 31], "min_samples_leaf": [5, 20]}


def _layers():
    return {"activation": list(ACTIVATIONS), "n_hidden": np.linspace(3, 200, 20).round().astype(int).tolist()}


def _j48():
    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)


def _neighbours(full):
    return {"n_neighbors": list(range(1, 38, 2)) if full else [1, 3, 7, 13, 25]}


def _rda_grid(full):
    steps = [0.0, 0.25, 0.5, 0.75, 1.0] if full else [0.0, 0.5, 1.0]
    return {"pooling": steps, "shrinkage": steps if full else [0.0, 0.25]}


def _poly_grid(full):
    return {"degree": [1, 2, 3], "C": [0.25, 0.5, 1.0] if full else [1.0]}
