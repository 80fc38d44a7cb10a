"""The forest: trees grown for several tasks, leaves filled for one of them (Goussies et al. 2014, Sec. 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.ensembles.transfer_forests.leaves import METRICS, comparable, edges, propagate_leaves
from learnable.trees.multitask import encode_tasks, grow_multitask
from learnable.validation import check_choice, check_magnitude, check_rng, check_scalar


class TransferForestClassifier(ClassifierMixin, BaseEstimator):
    """A forest for a target task with few labels, whose splits are chosen with the labels of other tasks.

    A node takes, among random candidates, the split with the largest mixed gain (1 - gamma) I(target) + gamma sum_n
    p_n I(source n). Leaves that no target row reaches take the class shares of a leaf nearby, or abstain. Without
    sources it is an ordinary forest of randomised trees. Cost to fit: O(n_estimators max_depth n n_candidates q), q
    features in a projection; n the rows of all tasks.

    Parameters
    ----------
    n_estimators : int, default=50
    max_depth : int or None, default=8
    gamma : float in [0, 1], default=0.25
        Weight of the sources; 0 uses their rows for the leaves alone, 1 ignores the target's labels in the splits.
    n_candidates : int, default=50
        Splits that a node tries.
    min_samples_split : int, default=2
        A node with fewer rows, of all tasks, is a leaf.
    split : {"axis", "oblique"}, default="oblique"
        One feature at a time, or random directions.
    n_active : int, optional
        Number of features in a direction; all by default.
    propagate : {"mahalanobis", "printed", "euclidean", "none"}, default="mahalanobis"
        How leaves without a target row are filled (`leaf_graph`); with "none" a tree abstains there. "printed" and
        "euclidean" depend on the units of the columns.
    source : {"sum", "concatenated"}, default="sum"
        See `mixed_information_gain`.
    source_weight : dict, optional
        Factors of the shares p_n by the name of a source; 1 where none is given.
    shrinkage : float, default=1e-3
        Of the covariances of the leaves, towards the variances of the columns.
    bootstrap : bool, default=False
        Grow each tree from a sample of the rows with replacement, drawn within each task.
    n_jobs : int, optional
        Threads for fitting.
    random_state : None, int or Generator

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels of the target.
    trees_ : list of TaskTree
    values_ : list of ndarray of shape (n_nodes, k)
        Class shares of the leaves of each tree; rows of NaN where the tree abstains.
    empty_share_ : float
        Share of the leaves that no target row reached.
    n_features_in_ : int

    Examples
    --------
    >>> from learnable.datasets import make_spirals
    >>> X, y = make_spirals(416, random_state=0, return_X_y=True)
    >>> task = np.arange(416) >= 16  # 16 rows of the target, 400 of the source
    >>> forest = TransferForestClassifier(gamma=0.5, random_state=0).fit(X, y, task, target=False)
    >>> forest.predict(X[:4]).tolist() == y[:4].tolist()
    True
    """

    def __init__(
        self,
        n_estimators=50,
        *,
        max_depth=8,
        gamma=0.25,
        n_candidates=50,
        min_samples_split=2,
        split="oblique",
        n_active=None,
        propagate="mahalanobis",
        source="sum",
        source_weight=None,
        shrinkage=1e-3,
        bootstrap=False,
        n_jobs=None,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.gamma = gamma
        self.n_candidates = n_candidates
        self.min_samples_split = min_samples_split
        self.split = split
        self.n_active = n_active
        self.propagate = propagate
        self.source = source
        self.source_weight = source_weight
        self.shrinkage = shrinkage
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, task=None, target=0):
        """Grow the trees from the rows of all tasks and fill their leaves with the target's labels.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows of all tasks.
        y : array-like of shape (n,)
            Labels; those of different tasks have nothing to do with each other.
        task : array-like of shape (n,), optional
            Which task a row belongs to; all rows to the target by default.
        target : label, default=0
            Which of them is the target.

        Returns
        -------
        TransferForestClassifier
            The fitted estimator.
        """
        n_estimators = check_scalar(self.n_estimators, "n_estimators", low=1, integer=True)
        check_choice(self.propagate, "propagate", (*METRICS, "none"))
        check_choice(self.source, "source", ("sum", "concatenated"))
        check_scalar(self.shrinkage, "shrinkage", low=0, closed="neither")
        rng = check_rng(self.random_state)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_magnitude(X, "X")
        check_classification_targets(y)
        labels = encode_tasks(y, task, target)
        settings = {
            "gamma": self.gamma,
            "max_depth": self.max_depth,
            "n_candidates": self.n_candidates,
            "min_samples_split": self.min_samples_split,
            "split": self.split,
            "n_active": self.n_active if self.split == "oblique" else None,
            "joint": self.source == "concatenated",
            "task_weight": self._weights(labels),
        }
        which = np.searchsorted(labels.offsets, labels.codes, side="right") - 1
        seeds = rng.integers(2**62, size=n_estimators)
        rows = [_resampled(which, rng) for _ in range(n_estimators)] if self.bootstrap else None
        self.trees_ = grow_multitask(X, labels, rows=rows, seeds=seeds, n_jobs=self.n_jobs, **settings)
        seen = comparable(X, self.propagate)
        filled = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._fill)(tree, *((X, seen) if rows is None else (X[rows[i]], seen[rows[i]])))
            for i, tree in enumerate(self.trees_)
        )
        self.classes_ = labels.classes[0]
        self.values_ = [values for values, _ in filled]
        self.empty_share_ = sum(empty for _, empty in filled) / sum(len(tree.leaves) for tree in self.trees_)
        return self

    def _weights(self, labels):
        if self.source_weight is None:
            return None
        names = labels.tasks.tolist()
        unknown = [name for name in self.source_weight if name not in names[1:]]
        if unknown:
            raise ValueError(f"source_weight names {unknown[0]!r}, which is no source; there are {names[1:]}")
        return [float(self.source_weight.get(name, 1.0)) for name in names]

    def _fill(self, tree, X, seen):
        """The class shares of a tree's nodes, and the number of leaves without a target row; X is what it grew from."""
        leaves = tree.leaves
        counts = tree.counts[leaves]
        total = counts.sum(axis=1)
        n_empty = int((total == 0).sum())
        values = np.full(tree.counts.shape, np.nan)
        if n_empty and self.propagate != "none":
            place = np.searchsorted(leaves, tree.apply(X))
            graph = edges(seen, place, self.propagate, self.shrinkage, total == 0)
            values[leaves] = propagate_leaves(graph, counts).proba
        else:
            known = leaves[total > 0]
            values[known] = counts[total > 0] / total[total > 0, None]
        return values, n_empty

    def predict_proba(self, X):
        """Mean over the trees of the class shares in the leaf of a row; trees that abstain are left out.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, k)
            Equal shares where all trees abstain.
        """
        check_is_fitted(self)
        X = check_magnitude(validate_data(self, X, dtype=np.float64, reset=False), "X")
        proba, votes = np.zeros((len(X), len(self.classes_))), np.zeros((len(X), 1))
        for tree, values in zip(self.trees_, self.values_, strict=True):
            said = values[tree.apply(X)]
            heard = ~np.isnan(said[:, :1])
            proba += np.where(heard, said, 0.0)
            votes += heard
        return np.where(votes > 0, proba / np.maximum(votes, 1), 1 / len(self.classes_))

    def predict(self, X):
        """Class with the largest probability.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        proba = self.predict_proba(X)
        # Sums over trees in any order give the same class: shares that differ by rounding are a tie.
        return self.classes_[np.argmax(proba >= proba.max(axis=1, keepdims=True) - 1e-9, axis=1)]


@dataclass(frozen=True, eq=False)
class GammaSelection:
    """What `select_gamma` returns.

    Attributes
    ----------
    gamma : float
        The weight with the smallest error; the smallest weight, if several have it.
    gammas : ndarray of shape (m,)
        The weights that were tried.
    errors, standard_errors : ndarray of shape (m,)
        Share of target rows in held-out folds that were misclassified, and its standard error.
    """

    gamma: float
    gammas: np.ndarray
    errors: np.ndarray
    standard_errors: np.ndarray


def select_gamma(forest, X, y, task, *, target=0, gammas=(0.0, 0.25, 0.5, 0.75, 1.0), cv=5):
    """Choose gamma by cross-validation over the rows of the target; those of the sources stay in every training set.

    All weights see the same folds, and the same candidate splits if `forest` has a whole number as random_state.

    Parameters
    ----------
    forest : TransferForestClassifier
        Its settings, other than gamma, are used; it is not changed.
    X, y, task, target
        As in `TransferForestClassifier.fit`.
    gammas : sequence of float, default=(0, 0.25, 0.5, 0.75, 1)
    cv : int, default=5
        Number of folds; no class of the target has fewer rows.

    Returns
    -------
    GammaSelection

    Examples
    --------
    >>> from learnable.datasets import make_spirals
    >>> X, y = make_spirals(440, random_state=0, return_X_y=True)
    >>> forest = TransferForestClassifier(20, split="axis", propagate="none", random_state=0)
    >>> select_gamma(forest, X, y, np.arange(440) >= 40, target=False, gammas=(0, 0.5)).gamma
    0.5
    """
    if not isinstance(forest, TransferForestClassifier):
        raise TypeError(f"forest must be a TransferForestClassifier, got {type(forest).__name__}")
    X, y, task = np.asarray(X), np.asarray(y), np.asarray(task)
    if X.ndim != 2 or X.shape[:1] != y.shape:
        raise ValueError(f"X must have a row for each of the labels, got shapes {X.shape} and {y.shape}")
    gammas = np.array([check_scalar(gamma, "gammas", low=0, high=1) for gamma in gammas])
    cv = check_scalar(cv, "cv", low=2, integer=True)
    if len(gammas) == 0:
        raise ValueError("gammas must hold at least one number")
    mine = np.flatnonzero(encode_tasks(y, task, target).codes < encode_tasks(y, task, target).n_classes)
    fewest = np.unique(y[mine], return_counts=True)[1].min()
    if fewest < cv:
        raise ValueError(f"cv is {cv}, but a class of the target has {fewest} rows: take fewer folds, or fix gamma")
    wrong = np.zeros((len(gammas), len(mine)))
    for _, held in StratifiedKFold(cv).split(mine, y[mine]):
        train = np.delete(np.arange(len(y)), mine[held])
        for i, gamma in enumerate(gammas):
            model = TransferForestClassifier(**{**forest.get_params(), "gamma": gamma})
            model.fit(X[train], y[train], task[train], target)
            wrong[i, held] = model.predict(X[mine[held]]) != y[mine[held]]
    errors = wrong.mean(axis=1)
    spread = wrong.std(axis=1, ddof=1) / np.sqrt(len(mine))
    return GammaSelection(float(gammas[errors.argmin()]), gammas, errors, spread)


def _resampled(which, rng):
    """Rows drawn with replacement, as many as there are in each task."""
    parts = [np.flatnonzero(which == t) for t in range(which.max() + 1)]
    return np.concatenate([rng.choice(part, len(part)) for part in parts])
