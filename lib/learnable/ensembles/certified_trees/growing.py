"""The first half of the strategy: split the data, grow a tree, note where the pruning data fall.

The tree is grown by scikit-learn's ``DecisionTreeClassifier``, with the entropy as in C4.5 and no pruning of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from learnable.trees.reduced_error import GivenTree, k_rep, node_errors, reduced_error_pruning
from learnable.validation import check_has, check_magnitude, check_rng, check_scalar, check_seed, encode_labels


@dataclass(frozen=True, eq=False)
class ThreeWaySplit:
    """Row numbers of the three parts of a sample.

    Attributes
    ----------
    grow, prune, test : arrays of int
    """

    grow: np.ndarray
    prune: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class PrunableTree:
    """A grown tree, and what the pruning data say about each of its nodes.

    Attributes
    ----------
    tree : GivenTree
        Structure, majority labels, growing errors.
    prune_errors : array (m,) of int
        Pruning errors of each node if it were a leaf.
    prune_leaf, prune_codes : arrays (n,) of int
        Leaf and class code of each pruning example.
    classes : array of labels
        Of both parts of the data.
    grown : DecisionTreeClassifier
        It sees the columns mapped to [0, 1].
    low, width : arrays (d,)
        The smallest value of each column in the growing data, and its range.
    """

    tree: GivenTree
    prune_errors: np.ndarray
    prune_leaf: np.ndarray
    prune_codes: np.ndarray
    classes: np.ndarray
    grown: DecisionTreeClassifier
    low: np.ndarray
    width: np.ndarray

    @property
    def n_prune(self):
        """Number of pruning examples, the n of every bound."""
        return len(self.prune_leaf)

    def budget(self, c):
        """The largest number of growing errors for a factor c, floor(c E); None if there is no limit."""
        if c is None or c == np.inf:
            return None
        c = check_scalar(c, "c", low=1)
        return int(np.floor(c * self.tree.errors * (1 + 1e-12)))

    def prune(self, k=None):
        """The best pruning of all (REP), or of those with at most k growing errors (k-REP)."""
        if k is None:
            return reduced_error_pruning(self.tree, self.prune_errors)
        return k_rep(self.tree, self.prune_errors, k)

    def apply(self, X):
        """The leaf of the given tree that each row of X reaches."""
        return self.grown.apply(_scaled(X, self.low, self.width))

    def predict(self, X, pruning=None):
        """Labels by a pruning, or by the given tree."""
        leaf = self.apply(X)
        leaf = leaf if pruning is None else pruning.leaf_of[leaf]
        return self.classes[self.tree.label[leaf]]


def grow_prune_test_split(n_samples, *, test=0.1, prune=1 / 3, random_state=None):
    """Divide a sample at random: a tenth for testing, and two to one for growing and pruning. Cost O(n).

    Kääriäinen et al. 2004, Sec. 6.1.

    Parameters
    ----------
    n_samples : int
        At least two.
    test : float, default=0.1
        Share of the test part; 0 leaves it empty.
    prune : float, default=1/3
        Share of the pruning part in the rest; both parts get at least one row.
    random_state : None, int or Generator

    Returns
    -------
    ThreeWaySplit

    Examples
    --------
    >>> split = grow_prune_test_split(20000, random_state=0)
    >>> len(split.grow), len(split.prune), len(split.test)
    (12000, 6000, 2000)
    """
    n = check_scalar(n_samples, "n_samples", low=2, integer=True)
    test = check_scalar(test, "test", low=0, high=1, closed="left")
    prune = check_scalar(prune, "prune", low=0, high=1, closed="neither")
    rows = check_rng(random_state).permutation(n)
    n_test = min(int(np.floor(test * n)), n - 2)
    n_prune = min(max(int(np.round(prune * (n - n_test))), 1), n - n_test - 1)
    return ThreeWaySplit(rows[n_test + n_prune :], rows[n_test : n_test + n_prune], rows[:n_test])


def grow_prunable(X, y, split, *, criterion="entropy", min_samples_leaf=2, random_state=None):
    """Grow a tree on one part of the data, and count the errors of its nodes on another. Cost O(n d log n).

    Columns are first mapped to [0, 1]: scikit-learn's trees compare in single precision and take values that differ by
    less than 1e-7 as equal, so that the answer would depend on the unit.

    Parameters
    ----------
    X : array-like of shape (n, d)
        NaN is a missing value, which scikit-learn sends to the better side.
    y : array-like of shape (n,)
        Labels. A class that only the pruning data have is an error of every node.
    split : ThreeWaySplit
        Or any object with ``grow`` and ``prune``, arrays of row numbers (or masks). No row may be in both, nor twice in
        ``prune``: errors on rows that the tree has seen, or that count twice, carry no certificate.
    criterion : {"entropy", "gini", "log_loss"}, default="entropy"
        As in ``DecisionTreeClassifier``.
    min_samples_leaf : int, default=2
        As in ``DecisionTreeClassifier``.
    random_state : None, int or Generator
        Decides between splits of equal gain.

    Returns
    -------
    PrunableTree

    Examples
    --------
    >>> from learnable.datasets import load
    >>> X, y = load("page_blocks", return_X_y=True)
    >>> grown = grow_prunable(X, y, grow_prune_test_split(len(y), random_state=0), random_state=0)
    >>> grown.prune().size < grown.prune(grown.budget(1.1)).size < grown.tree.n_nodes
    True
    """
    check_has(split, "split", "grow prune", "a ThreeWaySplit")
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got shape {X.shape}")
    min_samples_leaf = check_scalar(min_samples_leaf, "min_samples_leaf", low=1, high=10**9, integer=True)
    classes, codes = encode_labels(y)
    if len(codes) != len(X):
        raise ValueError(f"y must have {len(X)} entries, as X has rows, got {len(codes)}")
    check_magnitude(np.where(np.isnan(X), 0.0, X), "X", smallest=1e-300, largest=1e300)
    grow, prune = _disjoint_rows(split, len(X))
    low, width = _ranges(X[grow])
    grower = DecisionTreeClassifier(
        criterion=criterion, min_samples_leaf=min_samples_leaf, random_state=check_seed(random_state)
    )
    inside = _scaled(X[grow], low, width)
    grower.fit(inside, codes[grow])
    tree = GivenTree.from_sklearn(grower, inside, codes[grow], np.arange(len(classes)))
    leaf = grower.apply(_scaled(X[prune], low, width))
    errors = node_errors(tree, leaf, codes[prune]).astype(np.int64)
    return PrunableTree(tree, errors, leaf, codes[prune], classes, grower, low, width)


def _disjoint_rows(split, n):
    """Row numbers of the growing and the pruning part, which must not share a row."""
    parts = []
    for name in ("grow", "prune"):
        try:
            # Masks and numbers from the end become plain row numbers, so that a shared row is seen in any spelling.
            parts.append(np.arange(n)[getattr(split, name)])
        except IndexError as trouble:
            raise ValueError(f"split.{name} must hold row numbers of X, which has {n} rows: {trouble}") from None
        if parts[-1].ndim != 1 or len(parts[-1]) == 0:
            raise ValueError(f"split.{name} must be a list of at least one row number")
    grow, prune = parts
    shared = np.intersect1d(grow, prune)
    if len(shared):
        raise ValueError(
            f"split.grow and split.prune must not share rows, got {len(shared)} in both, row {shared[0]} among them: "
            "a tree is certified by rows that it has not seen"
        )
    if len(np.unique(prune)) < len(prune):
        raise ValueError("split.prune must hold each row once: repeated rows are no further evidence")
    return grow, prune


def _ranges(X):
    """Smallest value and range of each column, 0 and 1 where there is nothing to scale."""
    low = np.fmin.reduce(X, axis=0)
    width = np.fmax.reduce(X, axis=0) - low
    plain = ~(width > 0)
    return np.where(np.isnan(low), 0.0, low), np.where(plain, 1.0, width)


def _scaled(X, low, width):
    """Columns on the scale of the growing data; all values beyond its range lie on one side of every threshold."""
    return np.clip((np.asarray(X, dtype=np.float64) - low) / width, -1.0, 2.0)
