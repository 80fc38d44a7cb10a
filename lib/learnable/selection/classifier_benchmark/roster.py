"""Who takes part: classifiers by name, with their family and the grid of parameters that they are tuned over.

The grids are those of Fernandez-Delgado et al. (2014, Sec. 2.2), thinned in the medium roster so that a cell takes
seconds. What came after 2014 (histogram gradient boosting) or is not in it (extra trees) has the family "new".
"""

from __future__ import annotations

from dataclasses import dataclass, field

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

from learnable.selection.classifier_benchmark.committees import (
    AveragedMLP,
    Dagging,
    MultiBoost,
    RandomCommittee,
    RandomSubSpace,
)
from learnable.selection.classifier_benchmark.contestants import PNN, RDA, KernelELM, RotationForest
from learnable.selection.classifier_benchmark.small_rules import ACTIVATIONS, ELM, LVQ, VFI, HyperPipes, OneR, RBFNet
from learnable.validation import check_choice, check_scalar, check_seed

__all__ = ["Entrant", "roster"]

C_FULL, GAMMA_FULL = (2.0 ** np.arange(-5, 15)).tolist(), (2.0 ** np.arange(-16, 9)).tolist()
C_MEDIUM, GAMMA_MEDIUM = [0.5, 4.0, 32.0, 256.0], [2.0**-9, 2.0**-6, 2.0**-3, 1.0]


@dataclass(frozen=True)
class Entrant:
    """One classifier of the comparison.

    Attributes
    ----------
    name : str
    family : str
        As in the source (RF, SVM, NNET, DT, BST, BAG, DA, BY, NN, LMR, RL, OEN, OM), or "new".
    estimator : BaseEstimator
        Not fitted.
    grid : dict
        Lists of parameter values; empty if there is nothing to choose.
    printed : str or None
        The nearest classifier in the source's tables.
    """

    name: str
    family: str
    estimator: BaseEstimator
    grid: dict = field(default_factory=dict)
    printed: str | None = None

    def grid_for(self, n_features):
        """The grid for a table with so many inputs: a forest cannot try more of them at a split.

        Parameters
        ----------
        n_features : int

        Returns
        -------
        dict
        """
        n_features = check_scalar(n_features, "n_features", low=1, integer=True)
        grid = dict(self.grid)
        if "max_features" in grid:
            grid["max_features"] = [m for m in grid["max_features"] if m <= n_features] or [n_features]
        return grid


def roster(scale="medium", *, random_state=None):
    """Classifiers that take part, in the order of their families. Cost O(1).

    Parameters
    ----------
    scale : {"medium", "full"}, default="medium"
        "medium" has 19 classifiers with grids of at most 16 points, forests of 100 trees; "full" has 36 with the
        source's grids (500 points for a Gaussian kernel), forests of 500 trees.
    random_state : None, int or Generator
        One number is drawn from it for every classifier that draws random numbers.

    Returns
    -------
    list of Entrant

    Examples
    --------
    >>> [entrant.name for entrant in roster()][:4]
    ['rf', 'rf_default', 'rotation', 'svm_rbf']
    >>> len(roster("full")) - len(roster())
    17
    """
    check_choice(scale, "scale", ("medium", "full"))
    full, seed = scale == "full", {"random_state": check_seed(random_state)}
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
        Entrant("hist_gb", "new", HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=15, **seed)),
        Entrant("zero_r", "RL", DummyClassifier(strategy="most_frequent"), {}, "ZeroR_w"),
    ]
    return found + _further(seed) if full else found


def _further(seed):
    """What the full roster has besides."""
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
