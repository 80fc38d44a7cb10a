"""Boosting as an l1-regularised path to the maximum-margin classifier (Rosset, Zhu and Hastie 2004).

By concept:

- :mod:`.stepping`: boosting in small steps over a dictionary, with line search, and its l2 relative;
- :mod:`.constrained`: the exact minimisers under a bound on the l1 norm, their direction, sparse versions of them;
- :mod:`.margins`: l1 and l2 margins and the separators that maximise them;
- :mod:`.dictionaries`: monomials, stumps, scaled columns;
- :mod:`.classifier`: the practical machine with trees and early stopping;
- :mod:`.best_first`: trees with a given number of leaves, as the source grew them;
- :mod:`.experiments`: the source's plots, at any scale.
"""

from learnable.ensembles.boosting_l1_path.classifier import BoostedPathClassifier
from learnable.ensembles.boosting_l1_path.constrained import (
    ConstrainedPath,
    l1_constrained_path,
    path_direction,
    separable_limit,
    sparsify,
)
from learnable.ensembles.boosting_l1_path.dictionaries import monomials, scale_columns
from learnable.ensembles.boosting_l1_path.margins import (
    MaxMargin,
    lemma4_threshold,
    margin,
    max_l1_margin,
    max_l2_margin,
    normalised_margins,
)
from learnable.ensembles.boosting_l1_path.stepping import BoostPath, eps_boost, l2_boost_path

__all__ = [
    "BoostPath",
    "BoostedPathClassifier",
    "ConstrainedPath",
    "MaxMargin",
    "eps_boost",
    "l1_constrained_path",
    "l2_boost_path",
    "lemma4_threshold",
    "margin",
    "max_l1_margin",
    "max_l2_margin",
    "monomials",
    "normalised_margins",
    "path_direction",
    "scale_columns",
    "separable_limit",
    "sparsify",
]
