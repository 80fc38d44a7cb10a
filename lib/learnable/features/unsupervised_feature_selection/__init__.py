"""Choosing features without labels: FSSEM wrapper clustering (Dy and Brodley 2004).

Cluster every candidate subset of the features, ask how interesting the clusters are, and keep the smallest subset with
the most interesting ones. Subsets of different size are compared by cross-projection, because both notions of
"interesting" depend on the number of features.

By concept:

- :mod:`.mixture`: EM for Gaussian mixtures with the source's three ways to start, and the estimator;
- :mod:`.order`: the number of clusters by merging, and k-means with a spherical BIC;
- :mod:`.criteria`: separability, likelihood, their bias in the dimension, cross-projection;
- :mod:`.selector`: FSSEM, the search as a scikit-learn selector;
- :mod:`.synthetic`: the five mixtures with irrelevant features, class error, recall and precision;
- :mod:`.experiments`: the tables of the source, at any scale.
"""

from learnable.features.unsupervised_feature_selection.criteria import (
    CrossProjection,
    complete_likelihood,
    cross_projection,
    dimension_bias,
    ml_criterion,
    normalized_values,
    trace_criterion,
)
from learnable.features.unsupervised_feature_selection.mixture import (
    EMClusterer,
    MixtureFit,
    em,
    initial_centres,
    m_step,
)
from learnable.features.unsupervised_feature_selection.order import (
    HardClusters,
    OrderSearch,
    em_k,
    kmeans_k,
    merge_components,
    merge_costs,
)
from learnable.features.unsupervised_feature_selection.selector import FSSEM, SearchStep
from learnable.features.unsupervised_feature_selection.synthetic import (
    ClassErrors,
    NoisyClusters,
    class_error,
    cv_class_error,
    make_noisy_clusters,
    recall_precision,
)

__all__ = [
    "FSSEM",
    "ClassErrors",
    "CrossProjection",
    "EMClusterer",
    "HardClusters",
    "MixtureFit",
    "NoisyClusters",
    "OrderSearch",
    "SearchStep",
    "class_error",
    "complete_likelihood",
    "cross_projection",
    "cv_class_error",
    "dimension_bias",
    "em",
    "em_k",
    "initial_centres",
    "kmeans_k",
    "m_step",
    "make_noisy_clusters",
    "merge_components",
    "merge_costs",
    "ml_criterion",
    "normalized_values",
    "recall_precision",
    "trace_criterion",
]
