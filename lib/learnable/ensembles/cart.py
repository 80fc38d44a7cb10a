"""Classification and regression trees: grow with one impurity, prune with another, choose by validation.

The engine is `learnable.trees`; how a tree is written down and drawn stands in `learnable.ensembles.tree_drawing`.
Source: Lember 2012, Sec. 6.3; Breiman et al. 1984.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, check_X_y, validate_data

from learnable.ensembles.tree_drawing import tree_text
from learnable.trees import grow, weakest_links
from learnable.trees.frames import CodedColumns
from learnable.trees.missing import MissingColumns
from learnable.validation import (
    check_choice,
    check_class_labels,
    check_finite_array,
    check_has,
    check_scalar,
    check_seed,
)

__all__ = ["CARTClassifier", "CARTRegressor", "PathErrors"]

_ENTRIES = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}


@dataclass(frozen=True, eq=False)
class PathErrors:
    """Cross-validated errors of all subtrees of a pruning path, from the grown tree to its root.

    Attributes
    ----------
    penalty, leaves, cost : array (m,)
        Where each subtree's range of penalties begins, its leaves, and its cost on the training rows.
    error, se : array (m,)
        Mean over the folds, and its standard error as if the folds were independent.
    best : int
        The subtree with the least error; the largest penalty of several.
    chosen : int
        The one in use: `best`, or the smallest within one standard error of it.
    """

    penalty: np.ndarray
    leaves: np.ndarray
    cost: np.ndarray
    error: np.ndarray
    se: np.ndarray
    best: int
    chosen: int

    def summary(self):
        """One line for each subtree, with the best and the chosen one marked."""
        lines = [f"{'leaves':>6}  {'penalty':>9}  {'training cost':>13}  {'cv error':>8}  {'se':>6}"]
        for i, leaves in enumerate(self.leaves):
            marks = [word for word, index in (("best", self.best), ("chosen", self.chosen)) if i == index]
            row = f"{leaves:6d}  {self.penalty[i]:9.3g}  {self.cost[i]:13.4g}  {self.error[i]:8.3f}  {self.se[i]:6.3f}"
            lines.append(f"{row}  {', '.join(marks)}".rstrip())
        return "\n".join(lines)

    def plot(self, ax):
        """Errors with their standard errors over the number of leaves, the chosen subtree marked.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
        """
        check_has(ax, "ax", "errorbar axhline plot", "matplotlib axes")
        ax.errorbar(self.leaves, self.error, self.se, marker="o", ms=3.5, capsize=2, label="cross-validated error")
        ax.axhline(self.error[self.best] + self.se[self.best], ls=":", lw=1, label="one standard error above the least")
        ax.plot(self.leaves[self.chosen], self.error[self.chosen], "s", ms=9, mfc="none", label="chosen")
        ax.set(xscale="log", xlabel="leaves", ylabel="error")
        ax.legend(frameon=False)


class _CART(BaseEstimator):
    def _training(self, X, y, **checks):
        """The table and the targets as numbers; what is learned of the columns stays."""
        self._coded = CodedColumns.of(X, self.categorical_features)
        if self._coded.encoder is None:
            return validate_data(self, X, y, **_ENTRIES, **checks)
        validate_data(self, X, reset=True, skip_check_array=True)
        return check_X_y(self._coded.numbers(X), y, estimator=self, **_ENTRIES, **checks)

    def _table(self, X):
        """A table of new rows as numbers, categories coded as in training."""
        check_is_fitted(self)
        if self._coded.encoder is None:
            return validate_data(self, X, reset=False, **_ENTRIES)
        if not hasattr(X, "iloc"):
            raise ValueError("X must be a frame with the columns of the training table, whose categories have names")
        validate_data(self, X, reset=False, skip_check_array=True)
        return check_array(self._coded.numbers(X), estimator=self, **_ENTRIES)

    def _grow(self, X, target, criterion, k=None, sample_weight=None):
        if sample_weight is not None and sample_weight.any():  # rows of weight zero are no rows
            X, target, sample_weight = (part[sample_weight != 0] for part in (X, target, sample_weight))
        self._missing = MissingColumns.of(X, self._coded.columns)
        X = self._missing.fill(X)
        self._n_categories = {j: int(X[:, j].max()) + 1 for j in self._coded.columns}
        self.full_tree_ = grow(
            X,
            target,
            criterion,
            n_classes=k,
            sample_weight=sample_weight,
            max_depth=self.max_depth,
            min_samples_split=max(check_scalar(self.min_samples_split, "min_samples_split", low=1, integer=True), 2),
            min_samples_leaf=self.min_samples_leaf,
            categorical_features=self._coded.columns,
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

    def _path_errors(self, X, y, weight=None):
        """Validation error of every subtree of the path."""
        X = self._missing.fill(X)
        trees = (self.full_tree_.subtree(self.path_.keep(i)) for i in range(len(self.path_.leaves)))
        return np.array([np.average(self._losses(tree, X, y), weights=weight) for tree in trees])

    def prune_by_validation(self, X, y):
        """Choose the subtree with the smallest error on held-out data; the smaller one on a tie."""
        X = self._table(X)
        y = self._targets(y, len(X))
        errors = self._path_errors(X, y)
        self._use(int(len(errors) - 1 - np.argmin(errors[::-1])))
        return self

    def prune_by_cross_validation(self, X, y, sample_weight=None, *, cv=10, one_se=True, random_state=None):
        """Choose the penalty by cross-validation; with ``one_se`` the smallest tree within one standard error.

        The table is the one of `fit`. Errors of all subtrees stay in ``path_errors_``, a `PathErrors`.
        """
        X = self._table(X)
        y = self._targets(y, len(X))
        weight = self._weights(X, y, sample_weight)
        edges = self.path_.penalty
        middles = np.sqrt(edges[1:] * edges[:-1])
        splitter = StratifiedKFold if isinstance(self, ClassifierMixin) else KFold
        split = splitter(cv, shuffle=True, random_state=check_seed(random_state)).split(X, y)
        settings = self.get_params() | {"categorical_features": self._coded.columns}
        settings |= {"class_weight": None} if "class_weight" in settings else {}
        errors = np.empty((cv, len(edges)))
        for fold, (train, test) in enumerate(split):
            inside, outside = (None, None) if weight is None else (weight[train], weight[test])
            member = type(self)(**settings).fit(X[train], y[train], inside)
            share = len(train) / len(X) if weight is None else inside.sum() / weight.sum()
            wrong = member._path_errors(X[test], y[test], outside)
            errors[fold, :-1] = [wrong[member.path_.index_for(penalty * share)] for penalty in middles]
            errors[fold, -1] = wrong[-1]  # beyond the last level no unit is left: the root
        mean, se = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(cv)
        best = len(mean) - 1 - int(np.argmin(mean[::-1]))
        chosen = int(np.flatnonzero(mean <= mean[best] + se[best]).max()) if one_se else best
        self.path_errors_ = PathErrors(edges, self.path_.leaves, self.path_.cost, mean, se, best, chosen)
        self._use(chosen)
        return self

    def _weights(self, X, y, sample_weight):
        """Weights of the rows times those of their classes; None if all are one."""
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        if getattr(self, "class_weight", None) is None:
            return weight
        return compute_sample_weight(self.class_weight, y) * (1.0 if weight is None else weight)

    def apply(self, X):
        """Leaf of each row in the current subtree."""
        X = self._table(X)
        return self.tree_.apply(self._missing.fill(X))

    def get_n_leaves(self):
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self):
        """What the cuts on each column of the current subtree take off the growing cost, as shares of the sum.

        They favour columns with many values, which offer more cuts, and are computed on the training rows;
        `sklearn.inspection.permutation_importance` on other rows has neither fault.
        """
        check_is_fitted(self)
        tree, d = self.tree_, self.n_features_in_
        inside = np.flatnonzero(~tree.is_leaf)
        gain = tree.cost[inside] - tree.cost[tree.left[inside]] - tree.cost[tree.right[inside]]
        column = self._original(tree.feature[inside])
        total = np.bincount(column, gain, minlength=d)
        return total / total.sum() if total.sum() > 0 else total

    def _original(self, feature):
        """Columns of X behind features of the tree, in which those with missing values stand twice."""
        second = self._missing.columns
        return np.concatenate([np.arange(self.n_features_in_), second])[feature]

    def export_text(self, *, digits=4):
        """The current subtree in words: one line for each question and each leaf.

        Parameters
        ----------
        digits : int
            Significant digits of thresholds and values.
        """
        check_is_fitted(self)
        return tree_text(self, digits)

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
    min_samples_leaf : int
        Fewest samples in a leaf.
    categorical_features : "from_dtype", None, or sequence of int or str
        Columns of categories: those of a frame that are not numbers; none; or these, coded 0…q−1 in an array. They are
        cut into two sets: for two classes the best of all, for more the best in the order of some class's share. A
        category that a node has not seen goes to its heavier child.
    class_weight : dict, "balanced" or None
        Weight of each class, as in scikit-learn; costs and penalties are then sums of weights.

    Attributes
    ----------
    tree_ : Tree
        The subtree in use.
    full_tree_, path_ : the grown tree and its `PruningPath`
    path_errors_ : `PathErrors`, after `prune_by_cross_validation`

    Examples
    --------
    >>> rule = CARTClassifier(min_samples_split=2).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "b"])
    >>> rule.get_n_leaves(), rule.prune(1.5).get_n_leaves()
    (2, 1)
    >>> colour = [[0], [1], [2], [0], [1], [2]]  # red and blue against green: no threshold does it
    >>> tree = CARTClassifier(min_samples_split=2, categorical_features=[0]).fit(colour, [1, 0, 1, 1, 0, 1])
    >>> print(tree.export_text())
    x0 is 1?
      yes: 0 (100% of 2)
      no: 1 (100% of 4)
    """

    def __init__(
        self,
        impurity="gini",
        prune_impurity="error",
        min_samples_split=5,
        max_depth=None,
        alpha=0.0,
        categorical_features="from_dtype",
        min_samples_leaf=1,
        class_weight=None,
    ):
        self.impurity = impurity
        self.prune_impurity = prune_impurity
        self.min_samples_split = min_samples_split
        self.max_depth = max_depth
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        X, y = self._training(X, y)
        check_class_labels(y)
        for name, value in (("impurity", self.impurity), ("prune_impurity", self.prune_impurity)):
            check_choice(value, name, ("gini", "entropy", "error"))
        self.classes_, codes = np.unique(y, return_inverse=True)
        return self._grow(X, codes, self.impurity, len(self.classes_), self._weights(X, y, sample_weight))

    def _targets(self, y, n):
        y = np.asarray(y)
        check_class_labels(y)
        if y.shape != (n,):
            raise ValueError(f"y must hold one label for each of the {n} rows of X, got shape {y.shape}")
        return y

    def _prune_costs(self, tree):
        return tree.node_costs(self.prune_impurity)

    def _losses(self, tree, X, y):
        return self.classes_[tree.value[tree.apply(X)].argmax(axis=1)] != y

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
    min_samples_split, max_depth, alpha, categorical_features, min_samples_leaf : see `CARTClassifier`

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> CARTRegressor(min_samples_split=1, max_depth=1).fit(X, [1.0, 1.0, 5.0, 5.0]).predict([[0.4], [2.6]])
    array([1., 5.])
    """

    def __init__(
        self, min_samples_split=5, max_depth=None, alpha=0.0, categorical_features="from_dtype", min_samples_leaf=1
    ):
        self.min_samples_split = min_samples_split
        self.max_depth = max_depth
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.min_samples_leaf = min_samples_leaf

    def fit(self, X, y, sample_weight=None):
        X, y = self._training(X, y, y_numeric=True)
        y = np.asarray(y, float)
        return self._grow(X, y, "squared", sample_weight=self._weights(X, y, sample_weight))

    def _targets(self, y, n):
        y = check_finite_array(y, "y", ndim=1).astype(np.float64)
        if len(y) != n:
            raise ValueError(f"y must hold one number for each of the {n} rows of X, got {len(y)}")
        return y

    def _prune_costs(self, tree):
        return tree.cost

    def _losses(self, tree, X, y):
        return (tree.value[tree.apply(X), 0] - y) ** 2

    def predict(self, X):
        leaves = self.apply(X)
        return self.tree_.value[leaves, 0]
