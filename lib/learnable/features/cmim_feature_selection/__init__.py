"""Conditional mutual information maximization: exact, lazy, bit-parallel feature selection.

From tens of thousands of binary columns choose a few dozen: informative about the class, and not made superfluous by
one chosen before. Scores only fall, so an old score is a bound, and one call in a hundred gives the same answer as all
of them (Fleuret 2004).

By concept:

- :mod:`.selection`: CMIM as a function and as a transformer (its score calls, and the orders in which they are made,
  are compiled and private);
- :mod:`.rivals`: other filters; :mod:`.boosting`: boosting with columns as weak learners;
- :mod:`.classifiers`: what the chosen columns are tried with;
- :mod:`.binary_features`: edges of pictures and thresholds of continuous columns;
- :mod:`.populations`: data for the experiments;
- :mod:`.experiments`: the tables of the source, at any scale.
"""

from learnable.features.cmim_feature_selection.binary_features import Edge, ThresholdFeatures, edge_at, edge_features
from learnable.features.cmim_feature_selection.boosting import FeatureBoost
from learnable.features.cmim_feature_selection.classifiers import NaiveBayesThreshold, WeightedNeighbors, error_z_score
from learnable.features.cmim_feature_selection.populations import draw_images, make_rare_actives, make_two_populations
from learnable.features.cmim_feature_selection.rivals import filter_features
from learnable.features.cmim_feature_selection.selection import CMIMSelection, CMIMSelector, cmim

__all__ = [
    "CMIMSelection",
    "CMIMSelector",
    "Edge",
    "FeatureBoost",
    "NaiveBayesThreshold",
    "ThresholdFeatures",
    "WeightedNeighbors",
    "cmim",
    "draw_images",
    "edge_at",
    "edge_features",
    "error_z_score",
    "filter_features",
    "make_rare_actives",
    "make_two_populations",
]
