"""Classification and regression trees: grow with one impurity, prune with another, choose by validation.

The engine is `learnable.trees`. Source: Lember 2012, Sec. 6.3; Breiman et al. 1984.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.trees import grow, weakest_links
from learnable.trees.missing import MissingColumns
from learnable.validation import check_choice, check_class_labels, check_scalar, check_seed

__all__ = ["CARTClassifier", "CARTRegressor"]


class _CART(BaseEstimator):
    def _grow(self, X, target, criterion, k=None):
        limits = {"low": 0, "high": X.shape[1] - 1, "integer": True}
        categorical = () if self.categorical_features is None else self.categorical_features
        categorical = [check_scalar(j, "categorical_features", **limits) for j in categorical]
        self._missing = MissingColumns.of(X, categorical)
        self.full_tree_ = grow(
            self._missing.fill(X),
            target,
            criterion,
            n_classes=k,
            max_depth=self.max_depth,
            min_samples_split=max(check_scalar(self.min_samples_split, "min_samples_split", low=1, integer=True), 2),
            categorical_features=categorical,
        )
        self.path_ = weakest_links(self.full_tree_, self._prune_costs(self.full_tree_))
        self._use(self.path_.index_for(check_scalar(self.alpha, "alpha", low=0)))
        return self

    def _use(self, index):
        self.index_ = index
        self.tree_ = self.full_tree_.subtree(self.path_.keep(index))

    def path(self):
        """The pruning path: penalties, leaves and costs (see `learnable.trees.PruningPath`)."""
        check_is_fitted(self)
        return self.path_

    def prune(self, alpha):
        """Switch to the smallest optimal subtree for a penalty alpha per leaf; cheap, and reversible."""
        check_is_fitted(self)
        self._use(self.path_.index_for(alpha))
        return self

    def _path_errors(self, X, y):
        """Validation error of every subtree of the path."""
        X = self._missing.fill(X)
        trees = (self.full_tree_.subtree(self.path_.keep(i)) for i in range(len(self.path_.leaves)))
        return np.array([self._error(tree, X, y) for tree in trees])

    def prune_by_validation(self, X, y):
        """Choose the subtree with the smallest error on held-out data; the smaller one on a tie."""
        check_is_fitted(self)
        X, y = validate_data(self, X, y, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        errors = self._path_errors(X, y)
        self._use(int(len(errors) - 1 - np.argmin(errors[::-1])))
        return self

    def prune_by_cross_validation(self, X, y, cv=10, one_se=True, random_state=None):
        """Choose the penalty by cross-validation; with ``one_se`` the smallest tree within one standard error."""
        check_is_fitted(self)
        X, y = validate_data(self, X, y, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        edges = self.path_.penalty
        middles = np.sqrt(edges[1:] * edges[:-1])
        splitter = StratifiedKFold if isinstance(self, ClassifierMixin) else KFold
        split = splitter(cv, shuffle=True, random_state=check_seed(random_state)).split(X, y)
        errors = np.empty((cv, len(edges)))
        for fold, (train, test) in enumerate(split):
            member = type(self)(**self.get_params()).fit(X[train], y[train])
            share = len(train) / len(X)
            wrong = member._path_errors(X[test], y[test])
            errors[fold, :-1] = [wrong[member.path_.index_for(penalty * share)] for penalty in middles]
            errors[fold, -1] = wrong[-1]  # beyond the last level no unit is left: the root
        mean = errors.mean(axis=0)
        best = int(np.argmin(mean))
        if one_se:
            limit = mean[best] + errors[:, best].std(ddof=1) / np.sqrt(cv)
            best = int(np.flatnonzero(mean <= limit).max())
        self.cv_errors_ = mean
        self._use(best)
        return self

    def apply(self, X):
        """Leaf of each row in the current subtree."""
        X = self._points(X)
        return self.tree_.apply(X)

    def get_n_leaves(self):
        check_is_fitted(self)
        return self.tree_.n_leaves

    def _points(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        return self._missing.fill(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class CARTClassifier(ClassifierMixin, _CART):
    """Classification tree with its whole cost-complexity path.

    A missing value (NaN) goes to the side of each cut that suits the training rows without a value; a column with some
    stands in the trees a second time, behind all columns, with them above its values. Among categories it is one more.
    A column that had none in training sends it to the side of the small values.

    Cost O(n d (log n + depth)): features are sorted once, and the order is carried down.

    Parameters
    ----------
    impurity : {"gini", "entropy", "error"}
        For growing.
    prune_impurity : {"error", "gini", "entropy"}
        For pruning: R_λ(T) = Σ_leaves n_i φ(p̂_i) + λ |T|.
    min_samples_split : int
        A node with fewer samples is not split.
    max_depth : int, optional
    alpha : float
        λ of the subtree in use after `fit`; `prune` changes it without growing again.
    categorical_features : sequence of int, optional
        Columns of X with categories, coded 0…q−1. They are cut into two sets: for two classes the best of all, for
        more the best in the order of some class's share. A category that a node has not seen goes to its heavier child.

    Attributes
    ----------
    tree_ : Tree
        The subtree in use.
    full_tree_, path_ : the grown tree and its `PruningPath`

    Examples
    --------
    >>> rule = CARTClassifier(min_samples_split=2).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "b"])
    >>> rule.get_n_leaves(), rule.prune(1.5).get_n_leaves()
    (2, 1)
    >>> colour = [[0], [1], [2], [0], [1], [2]]  # red and blue against green: no threshold does it
    >>> CARTClassifier(min_samples_split=2, categorical_features=[0]).fit(colour, [1, 0, 1, 1, 0, 1]).get_n_leaves()
    2
    """

    def __init__(
        self,
        impurity="gini",
        prune_impurity="error",
        min_samples_split=5,
        max_depth=None,
        alpha=0.0,
        categorical_features=None,
    ):
        self.impurity = impurity
        self.prune_impurity = prune_impurity
        self.min_samples_split = min_samples_split
        self.max_depth = max_depth
        self.alpha = alpha
        self.categorical_features = categorical_features

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_class_labels(y)
        for name, value in (("impurity", self.impurity), ("prune_impurity", self.prune_impurity)):
            check_choice(value, name, ("gini", "entropy", "error"))
        self.classes_, codes = np.unique(y, return_inverse=True)
        return self._grow(X, codes, self.impurity, len(self.classes_))

    def _prune_costs(self, tree):
        return tree.node_costs(self.prune_impurity)

    def _error(self, tree, X, y):
        return float(np.mean(self.classes_[tree.value[tree.apply(X)].argmax(axis=1)] != y))

    def predict_proba(self, X):
        leaves = self.apply(X)
        counts = self.tree_.value[leaves]
        return counts / counts.sum(axis=1, keepdims=True)

    def predict(self, X):
        leaves = self.apply(X)
        return self.classes_[self.tree_.value[leaves].argmax(axis=1)]


class CARTRegressor(RegressorMixin, _CART):
    """Regression tree by squared error, with its whole cost-complexity path: SSE + λ |T|.

    Missing values are treated as in `CARTClassifier`.

    Cost O(n d (log n + depth)): features are sorted once, and the order is carried down.

    Parameters
    ----------
    min_samples_split, max_depth, alpha, categorical_features : see `CARTClassifier`

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> CARTRegressor(min_samples_split=1, max_depth=1).fit(X, [1.0, 1.0, 5.0, 5.0]).predict([[0.4], [2.6]])
    array([1., 5.])
    """

    def __init__(self, min_samples_split=5, max_depth=None, alpha=0.0, categorical_features=None):
        self.min_samples_split = min_samples_split
        self.max_depth = max_depth
        self.alpha = alpha
        self.categorical_features = categorical_features

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_all_finite="allow-nan")
        return self._grow(X, np.asarray(y, float), "squared")

    def _prune_costs(self, tree):
        return tree.cost

    def _error(self, tree, X, y):
        return float(np.mean((tree.value[tree.apply(X), 0] - y) ** 2))

    def predict(self, X):
        leaves = self.apply(X)
        return self.tree_.value[leaves, 0]
