"""Predicting for the F-measure: what is optimal, what is cheap, what is wrong (Waegeman et al. 2014).

Which set of labels has the largest expected F? In general neither the labels above one half, nor the most probable set,
nor the labels above any other threshold. The exact answer needs P(y_i = 1, s labels) alone.

By concept:

- :mod:`.measures`: the F-measure by instance, micro and macro, and the losses beside it;
- :mod:`.general`: the exact maximiser for any law of the labels;
- :mod:`.independent`: dynamic programming for independent labels, and the case of exactly one label;
- :mod:`.laws`: laws and samples as tables, the five rules, brute force;
- :mod:`.worst_cases`: laws that hurt each rule, closed forms, a linear programme;
- :mod:`.learners`: neighbours and plug-in regressions, as scikit-learn classifiers;
- :mod:`.trees`: trees that split for the F-measure;
- :mod:`.chains`: probabilistic classifier chains;
- :mod:`.experiments`: the tables and figures of the source, at any scale.
"""

from learnable.selection.f_measure_maximization.chains import JointModes, LabelChain
from learnable.selection.f_measure_maximization.general import FDecision, gfm
from learnable.selection.f_measure_maximization.independent import categorical_f, fm_independent, top_k_values
from learnable.selection.f_measure_maximization.laws import brute_force, decide, expected_f, size_probabilities
from learnable.selection.f_measure_maximization.learners import FMeasurePlugIn, NeighborLabels
from learnable.selection.f_measure_maximization.measures import LabelScores, f_measure, label_scores
from learnable.selection.f_measure_maximization.trees import BaggedFMeasureTree, FMeasureTree
from learnable.selection.f_measure_maximization.worst_cases import (
    WorstCase,
    adversarial_law,
    regret,
    worst_case_bound,
    worst_case_regret,
)

__all__ = [
    "BaggedFMeasureTree",
    "FDecision",
    "FMeasurePlugIn",
    "FMeasureTree",
    "JointModes",
    "LabelChain",
    "LabelScores",
    "NeighborLabels",
    "WorstCase",
    "adversarial_law",
    "brute_force",
    "categorical_f",
    "decide",
    "expected_f",
    "f_measure",
    "fm_independent",
    "gfm",
    "label_scores",
    "regret",
    "size_probabilities",
    "top_k_values",
    "worst_case_bound",
    "worst_case_regret",
]
