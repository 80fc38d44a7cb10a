"""Bayesian co-boosting: two views of the same sequences train each other's weak classifiers (Wu and Cheng 2014).

By concept:

- :mod:`.sequences`: a batch of sequences of unequal length in one table;
- :mod:`.models`: Gaussian hidden Markov models on weighted sequences, and the classifier with one for each class;
- :mod:`.update`: the joint update of odds and weights, and the bound that it minimises;
- :mod:`.coboost`: the boosting loop, its special cases, and late fusion;
- :mod:`.skeleton`: features of a moving skeleton;
- :mod:`.evaluation`: accuracy by class, as in the source's tables;
- :mod:`.experiments`: the source's experiments on stand-ins, at any scale.
"""

from learnable.ensembles.bayesian_coboosting.coboost import BayesianCoBoost, LateFusion
from learnable.ensembles.bayesian_coboosting.evaluation import ClassAccuracy, class_accuracy
from learnable.ensembles.bayesian_coboosting.models import HMMClassifier, WeightedGaussianHMM
from learnable.ensembles.bayesian_coboosting.sequences import Sequences, stack_sequences
from learnable.ensembles.bayesian_coboosting.skeleton import normalise_skeleton, skeleton_features
from learnable.ensembles.bayesian_coboosting.update import (
    CoBoostUpdate,
    FusionRatios,
    coboost_update,
    fusion_ratios,
    joint_sums,
)

__all__ = [
    "BayesianCoBoost",
    "ClassAccuracy",
    "CoBoostUpdate",
    "FusionRatios",
    "HMMClassifier",
    "LateFusion",
    "Sequences",
    "WeightedGaussianHMM",
    "class_accuracy",
    "coboost_update",
    "fusion_ratios",
    "joint_sums",
    "normalise_skeleton",
    "skeleton_features",
    "stack_sequences",
]
