"""Plug-in rules, histograms, nearest neighbours and CART: four rules whose large-sample behaviour is understood.

* `plugin`: estimate the posterior and threshold it; what the error costs; when consistent estimates fail.
* `voting`: partitions, histograms, k nearest neighbours with exact ties, and their limit risks.
* `prototypes`: the points that the nearest-neighbour rule needs, and those that it believes.
* `cart`: trees with the whole pruning path, on the shared builder `learnable.trees`.

Source: Lember 2012, chapter 6.
"""

from learnable.foundations.classical_rules.cart import CARTClassifier, CARTRegressor, MedianTree
from learnable.foundations.classical_rules.plugin import (
    FAMILIES,
    ParametricPlugIn,
    PlugIn,
    PlugInDensity,
    PlugInPair,
    plug_in_bounds,
)
from learnable.foundations.classical_rules.prototypes import condense, edit
from learnable.foundations.classical_rules.voting import (
    KNN,
    HistogramRule,
    PartitionRule,
    Regressogram,
    cover_hart,
    exact_risk_1d,
    knn_limit_risk,
    knn_regions_1d,
    student_joint_cdf,
    two_ball_risk,
)
from learnable.trees.pruning import best_subtree as best_subtree_bruteforce

__all__ = [
    "FAMILIES",
    "KNN",
    "CARTClassifier",
    "CARTRegressor",
    "HistogramRule",
    "MedianTree",
    "ParametricPlugIn",
    "PartitionRule",
    "PlugIn",
    "PlugInDensity",
    "PlugInPair",
    "Regressogram",
    "best_subtree_bruteforce",
    "condense",
    "cover_hart",
    "edit",
    "exact_risk_1d",
    "knn_limit_risk",
    "knn_regions_1d",
    "plug_in_bounds",
    "student_joint_cdf",
    "two_ball_risk",
]
