"""Transfer-learning decision forests: splits chosen with the labels of related tasks (Goussies, Ubalde, Mejail 2014).

By concept:

- :mod:`.gains`: entropies of counts, the mixed information gain, what small samples do to them;
- :mod:`.forest`: the estimator, and the choice of gamma;
- :mod:`.leaves`: the graph of the leaves and the shortest paths to those with a target row;
- :mod:`.gestures`: motion history images, votes of frames, the edit distance;
- :mod:`.experiments`: the experiments of the source, at any scale.

The compiled search for splits is :mod:`learnable.trees.several_tasks`.
"""

from learnable.ensembles.transfer_forests.forest import GammaSelection, TransferForestClassifier, select_gamma
from learnable.ensembles.transfer_forests.gains import (
    EntropyBounds,
    entropy,
    information_gain,
    mixed_information_gain,
    plugin_entropy_bounds,
    task_information,
)
from learnable.ensembles.transfer_forests.gestures import (
    classify_video,
    levenshtein,
    motion_features,
    motion_history_image,
    sequence_error,
    video_scores,
)
from learnable.ensembles.transfer_forests.leaves import LeafPropagation, leaf_graph, propagate_leaves

__all__ = [
    "EntropyBounds",
    "GammaSelection",
    "LeafPropagation",
    "TransferForestClassifier",
    "classify_video",
    "entropy",
    "information_gain",
    "leaf_graph",
    "levenshtein",
    "mixed_information_gain",
    "motion_features",
    "motion_history_image",
    "plugin_entropy_bounds",
    "propagate_leaves",
    "select_gamma",
    "sequence_error",
    "task_information",
    "video_scores",
]
