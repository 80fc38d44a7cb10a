"""Trees with a given number of leaves, grown best leaf first: the weak learner of Rosset et al. 2004, Sec. 6.1.

The engine is `learnable.trees.best_first`.
"""

from __future__ import annotations

from dataclasses import dataclass

from learnable.ensembles.weak_learners import BoundBestFirst
from learnable.validation import check_scalar

__all__ = ["BestFirstTrees"]


@dataclass(frozen=True)
class BestFirstTrees:
    """Trees with leaves -1 and +1 and at most `max_leaf_nodes` of them; the leaf whose cut gains most is split first.

    The gain of a cut is the fall of the weighted Gini impurity. Growth ends early where no cut gains anything.
    O(n d) for each level of the tree, plus one pass over the distinct values of the features for each leaf.

    Parameters
    ----------
    max_leaf_nodes : int, default=10

    Examples
    --------
    >>> import numpy as np
    >>> learner = BestFirstTrees(3).prepare([[0.0], [1.0], [2.0], [3.0]])
    >>> rule = learner.fit(np.array([0.3, 0.2, 0.2, 0.3]), np.array([1.0, -1.0, -1.0, 1.0]))
    >>> rule.predict([[0.2], [1.5], [2.9]])
    array([ 1., -1.,  1.])
    """

    max_leaf_nodes: int = 10

    def prepare(self, X):
        """Number the distinct values of every feature."""
        leaves = check_scalar(self.max_leaf_nodes, "max_leaf_nodes", low=2, integer=True)
        return BoundBestFirst(X, leaves, min_gain=1e-12)
