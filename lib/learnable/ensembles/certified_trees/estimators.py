"""The whole strategy: a pruned tree that comes with a certificate, and the choice of its budget.

Kääriäinen et al. 2004, Sec. 5: split the data, grow a tree, prune it by REP or k-REP, bound its error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.ensembles.certified_trees.bounds import averaged_bound, binomial_bound, occam_bound, rademacher_bound
from learnable.ensembles.certified_trees.growing import grow_prunable, grow_prune_test_split
from learnable.ensembles.certified_trees.penalties import rademacher_penalty
from learnable.trees.reduced_error import log_n_prunings
from learnable.validation import check_choice, check_has, check_rng, check_scalar

CERTIFICATES = ("rademacher", "averaged", "occam", "binomial")


@dataclass(frozen=True, eq=False)
class BoundCurve:
    """Prunings and their bounds along a grid of budgets, valid for all of them together.

    Attributes
    ----------
    c : array (g,)
        Factors of the budget; infinity is REP.
    error, penalty, bound : arrays (g,)
        On the pruning data; twice the Rademacher penalty; the bound with delta / g.
    size : array (g,) of int
        Nodes of the prunings.
    best : int
        Index of the smallest bound.
    """

    c: np.ndarray
    error: np.ndarray
    penalty: np.ndarray
    bound: np.ndarray
    size: np.ndarray
    best: int


def certify(prunable, pruning, kind="rademacher", *, k=None, delta=0.01, n_draws=100, random_state=None):
    """Bound the error probability of a pruning that was chosen by its errors on the pruning data.

    Parameters
    ----------
    prunable : PrunableTree
        From `grow_prunable`, which refuses parts that share rows: the bound holds only if the pruning examples are
        independent of the tree.
    pruning : Pruning
    kind : {"rademacher", "averaged", "occam", "binomial"}, default="rademacher"
        One draw of the signs (the source); the mean of `n_draws`; the exact number of prunings with Hoeffding's
        inequality, or with the binomial tail. Decide before you look: the best of several would need a smaller delta.
    k : int, optional
        The budget that the pruning was chosen under. Its class is then smaller, and so is the bound.
    delta : float, default=0.01
        Probability of failure.
    n_draws : int, default=100
        For "averaged".
    random_state : None, int or Generator

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from learnable.datasets import load
    >>> from learnable.ensembles import grow_prunable, grow_prune_test_split
    >>> X, y = load("page_blocks", return_X_y=True)
    >>> grown = grow_prunable(X, y, grow_prune_test_split(len(y), random_state=0), random_state=0)
    >>> kinds = ("rademacher", "averaged", "occam", "binomial")
    >>> [round(certify(grown, grown.prune(), kind, random_state=0).bound, 2) for kind in kinds]
    [0.25, 0.19, 0.13, 0.07]
    """
    check_has(prunable, "prunable", "tree n_prune prune_leaf", "a PrunableTree")
    check_has(pruning, "pruning", "error grow_errors inner", "a Pruning")
    kind = check_choice(kind, "kind", CERTIFICATES)
    if k is not None and pruning.grow_errors > check_scalar(k, "k", low=prunable.tree.errors, integer=True):
        raise ValueError(f"k must be at least {pruning.grow_errors}, the growing errors of the pruning, got {k}")
    n, error = prunable.n_prune, pruning.error / prunable.n_prune
    if kind == "rademacher":
        return rademacher_bound(error, rademacher_penalty(prunable, k, random_state=random_state)[0], n, delta)
    if kind == "averaged":
        draws = rademacher_penalty(prunable, k, n_draws=n_draws, random_state=random_state)
        return averaged_bound(error, draws, n, delta)
    log_n = log_n_prunings(prunable.tree, k)
    if kind == "occam":
        return occam_bound(error, log_n, n, delta)
    return binomial_bound(pruning.error, n, delta, log_n=log_n)


def bound_curve(prunable, c, *, delta=0.01, random_state=None):
    """Rademacher bounds for several budgets at once, with delta shared equally, and the smallest of them.

    The source recommends a fixed factor c = 1.1 because the sharing costs something: here one sees how much.

    Parameters
    ----------
    prunable : PrunableTree
    c : array-like
        Factors of the growing errors of the unpruned tree, at least 1; infinity is REP.
    delta : float, default=0.01
        Probability that any of the bounds fails.
    random_state : None, int or Generator
        All budgets see the same signs.

    Returns
    -------
    BoundCurve

    Examples
    --------
    >>> from learnable.datasets import load
    >>> from learnable.ensembles import grow_prunable, grow_prune_test_split
    >>> X, y = load("page_blocks", return_X_y=True)
    >>> grown = grow_prunable(X, y, grow_prune_test_split(len(y), random_state=0), random_state=0)
    >>> curve = bound_curve(grown, [1, 1.1, np.inf], random_state=0)
    >>> bool((np.diff(curve.penalty) >= 0).all() and (np.diff(curve.error) <= 0).all())
    True
    """
    check_has(prunable, "prunable", "tree n_prune prune_leaf", "a PrunableTree")
    c = np.asarray(c, dtype=np.float64)
    if c.ndim != 1 or len(c) == 0 or not (c >= 1).all():
        raise ValueError("c must be a list of at least one factor, each at least 1")
    delta = check_scalar(delta, "delta", low=0, high=1, closed="neither")
    n = prunable.n_prune
    signs = 2.0 * check_rng(random_state).integers(0, 2, size=n) - 1
    rows = []
    for factor in c:
        k = prunable.budget(factor)
        pruning = prunable.prune(k)
        part = rademacher_bound(pruning.error / n, rademacher_penalty(prunable, k, signs=signs), n, delta / len(c))
        rows.append((part.error, part.penalty, part.bound, pruning.size))
    error, penalty, bound, size = np.array(rows).T
    return BoundCurve(c, error, penalty, bound, size.astype(int), int(bound.argmin()))


class CertifiedTree(ClassifierMixin, BaseEstimator):
    """A pruned decision tree with an upper bound on its error probability (Kääriäinen et al. 2004, Sec. 5).

    One part of the data grows a tree (scikit-learn's), the other selects a pruning and certifies it. Cost: that of
    growing, plus O(n · depth + nodes) for REP; k-REP adds O(K · growing errors of the root) with K = (c - 1) E.

    Parameters
    ----------
    c : float or None, default=1.1
        k-REP among prunings with at most c times the growing errors E of the unpruned tree. None is REP.
    delta : float, default=0.01
        Probability that the bound does not hold.
    certificate : {"rademacher", "averaged", "occam", "binomial"}, default="rademacher"
        See `certify`.
    n_draws : int, default=100
        Draws of the signs, for "averaged".
    prune_size : float, default=1/3
        Share of the data that is kept for pruning.
    criterion : {"entropy", "gini", "log_loss"}, default="entropy"
        For growing.
    min_samples_leaf : int, default=2
        For growing.
    random_state : None, int or Generator
        For the split, for ties in growing, for the signs.

    Attributes
    ----------
    classes_ : array of labels
    prunable_ : PrunableTree
        The tree as grown, with the errors of its nodes.
    pruning_ : Pruning
        The one that predicts.
    k_ : int or None
        The budget.
    bound_parts_ : Certificate
        Error on the pruning data, penalty and confidence term.
    bound_ : float
        Their sum.
    n_nodes_ : int
        Size of the pruning.
    n_features_in_ : int

    Examples
    --------
    >>> from learnable.datasets import load
    >>> X, y = load("letter", return_X_y=True)
    >>> model = CertifiedTree(random_state=0).fit(X[:15000], y[:15000])
    >>> bool((model.predict(X[15000:]) != y[15000:]).mean() < model.bound_ < 0.4)
    True
    """

    def __init__(
        self,
        c=1.1,
        *,
        delta=0.01,
        certificate="rademacher",
        n_draws=100,
        prune_size=1 / 3,
        criterion="entropy",
        min_samples_leaf=2,
        random_state=None,
    ):
        self.c = c
        self.delta = delta
        self.certificate = certificate
        self.n_draws = n_draws
        self.prune_size = prune_size
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def fit(self, X, y):
        """Split, grow, prune and certify.

        Parameters
        ----------
        X : array-like of shape (n, d)
            NaN is a missing value.
        y : array-like of shape (n,)
            Labels of any number of classes.

        Returns
        -------
        self
        """
        c = None if self.c is None else check_scalar(self.c, "c", low=1)
        check_scalar(self.delta, "delta", low=0, high=1, closed="neither")
        check_choice(self.certificate, "certificate", CERTIFICATES)
        check_scalar(self.n_draws, "n_draws", low=1, integer=True)
        prune = check_scalar(self.prune_size, "prune_size", low=0, high=1, closed="neither")
        rng = check_rng(self.random_state)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2)
        check_classification_targets(y)
        split = grow_prune_test_split(len(y), test=0.0, prune=prune, random_state=rng)
        grown = grow_prunable(
            X, y, split, criterion=self.criterion, min_samples_leaf=self.min_samples_leaf, random_state=rng
        )
        self.classes_ = grown.classes
        self.prunable_ = grown
        self.k_ = grown.budget(c)
        self.pruning_ = grown.prune(self.k_)
        self.bound_parts_ = certify(
            grown,
            self.pruning_,
            self.certificate,
            k=self.k_,
            delta=self.delta,
            n_draws=self.n_draws,
            random_state=rng,
        )
        self.bound_ = self.bound_parts_.bound
        self.n_nodes_ = self.pruning_.size
        shares = np.zeros((grown.tree.n_nodes, len(self.classes_)))
        inside = np.asarray(grown.grown.classes_, dtype=np.int64)
        shares[:, inside] = grown.grown.tree_.value[:, 0, :]
        self._shares = shares / shares.sum(axis=1, keepdims=True)
        return self

    def predict(self, X):
        """Majority class, in the growing data, of the leaf of the pruning.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        return self.classes_[self.prunable_.tree.label[self.apply(X)]]

    def predict_proba(self, X):
        """Shares of the classes of the growing data in the leaf of the pruning; the certificate is for labels only.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n, classes)
        """
        check_is_fitted(self)
        return self._shares[self.apply(X)]

    def apply(self, X):
        """Number of the leaf of the pruning that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return self.pruning_.leaf_of[self.prunable_.apply(X)]

    def export_text(self, feature_names=None, max_depth=3):
        """The pruning as indented rules, in the units of the data.

        Parameters
        ----------
        feature_names : sequence of str, optional
        max_depth : int, default=3
            Deeper branches are summed up in a line.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        names = feature_names if feature_names is not None else [f"x{j}" for j in range(self.n_features_in_)]
        grown, nodes = self.prunable_, self.prunable_.grown.tree_
        lines, stack = [], [(0, 0, "")]
        while stack:
            node, depth, test = stack.pop()
            label = self.classes_[grown.tree.label[node]]
            if not self.pruning_.inner[node]:
                lines.append("   " * depth + f"{test}→ {label}")
                continue
            if depth >= max_depth:
                lines.append("   " * depth + f"{test}… (mostly {label})")
                continue
            if test:
                lines.append("   " * depth + test)
            j = nodes.feature[node]
            cut = grown.low[j] + nodes.threshold[node] * grown.width[j]
            for child, sign in ((nodes.children_right[node], ">"), (nodes.children_left[node], "≤")):
                stack.append((child, depth + bool(test), f"{names[j]} {sign} {cut:.4g} "))
        return "\n".join(line.rstrip() for line in lines)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
