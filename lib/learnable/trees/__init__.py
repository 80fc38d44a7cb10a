"""Binary trees: one compiled builder for classification and regression, and cost-complexity pruning.

Chapters on CART, boosting and pruning bounds share this module. A tree is a set of flat arrays (`Tree`); growing sorts
every feature once and carries the sorted order down (`grow`); pruning gives the whole nested sequence of optimal
subtrees (`weakest_links`).
"""

from learnable.trees.growing import CRITERIA, Tree, grow
from learnable.trees.pruning import PruningPath, weakest_links

__all__ = ["CRITERIA", "PruningPath", "Tree", "grow", "weakest_links"]
