"""Accuracy of a learner on selected columns, with selection before or inside the cross-validation, and paired tests.

The source selects columns once, on all rows, and then cross-validates the learner on them. The test rows have then
helped to choose the columns, and the accuracy is optimistic; selecting anew in each fold is the honest protocol.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from learnable.features.information import code_columns
from learnable.features.subsets import NaiveBayesSubsets
from learnable.validation import check_choice, check_finite_array, check_has, check_scalar, check_seed, encode_labels

__all__ = ["Comparison", "FoldScores", "fold_scores", "paired_comparison"]


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Accuracy in each fold, and how many columns were used there.

    Attributes
    ----------
    accuracy : ndarray
        Share of the test rows that were classified correctly.
    n_selected : ndarray of int
        Number of columns.
    """

    accuracy: np.ndarray
    n_selected: np.ndarray


@dataclass(frozen=True)
class Comparison:
    """Result of a paired t test.

    Attributes
    ----------
    difference : float
        Mean of first minus second.
    p_value : float
        Two-tailed; 1 if all differences vanish.
    verdict : str
        "win" if the first is significantly better, "loss" or "tie".
    """

    difference: float
    p_value: float
    verdict: str


def fold_scores(selector, X, y, *, learner="naive bayes", selection="inside", cv=10, random_state=None):
    """Cross-validated accuracy of a learner on the columns that a selector keeps.

    Parameters
    ----------
    selector : selector or None
        Any selector of scikit-learn's protocol, cloned for each fit; None keeps all columns.
    X : array-like of shape (n, N)
        Discrete columns.
    y : array-like of shape (n,)
        Class labels.
    learner : {"naive bayes", "tree"}, default="naive bayes"
        Naive Bayes with one observation added to each value, or a tree grown by entropy with at least two rows in a
        leaf and a light pruning, in the place of C4.5.
    selection : {"inside", "before"}, default="inside"
        Select in the training rows of each fold, or once on all rows, as the source does.
    cv : int or scikit-learn splitter, default=10
        The number of stratified folds, or the folds themselves.
    random_state : None, int or Generator
        How the rows are dealt to stratified folds; the same number gives the same folds.

    Returns
    -------
    FoldScores
        Accuracy and number of columns of each fold. If no column is kept, the learner knows the classes only.

    Notes
    -----
    Yu and Liu 2004, Sec. 5.3. Cost: a fit of the selector for each fold, and O(n N) for naive Bayes.

    Examples
    --------
    >>> from learnable.features.fcbf_feature_selection import FCBF
    >>> X = np.random.default_rng(0).integers(0, 2, (300, 20))
    >>> fold_scores(FCBF(), X, X[:, 0], cv=5, random_state=0).accuracy
    array([1., 1., 1., 1., 1.])
    """
    check_choice(learner, "learner", ("naive bayes", "tree"))
    check_choice(selection, "selection", ("inside", "before"))
    if isinstance(cv, (int, np.integer)):
        cv = check_scalar(cv, "cv", low=2, integer=True)
        cv = StratifiedKFold(cv, shuffle=True, random_state=check_seed(random_state))
    check_has(cv, "cv", "split get_n_splits", "a number of folds or a splitter")
    if selector is not None:
        check_has(selector, "selector", "fit get_support", "a selector of columns")
    coded = code_columns(X)
    values, labels = encode_labels(y)
    if len(labels) != coded.n_samples:
        raise ValueError(f"y: {len(labels)} labels for {coded.n_samples} rows")
    if len(values) < 2:
        raise ValueError("y: at least two classes are expected")
    if isinstance(cv, StratifiedKFold) and np.bincount(labels).max() < cv.n_splits:
        raise ValueError(f"cv: no class has as many as {cv.n_splits} rows")
    table = np.ascontiguousarray(coded.codes.T)
    chosen = _chosen(selector, table, labels) if selection == "before" else None
    accuracy, counts = [], []
    for train, test in cv.split(table, labels):
        columns = _chosen(selector, table[train], labels[train]) if chosen is None else chosen
        counts.append(len(columns))
        if learner == "tree" and len(columns):
            accuracy.append(_tree_accuracy(table[:, columns], labels, train, test))
        else:
            use = table[:, columns] if len(columns) else np.zeros((len(table), 1), dtype=np.int64)
            evaluator = NaiveBayesSubsets(use, labels, cv=[(train, test)])
            accuracy.append(1 - evaluator.error(range(use.shape[1])))
    return FoldScores(np.array(accuracy), np.array(counts))


def paired_comparison(first, second, *, level=0.1):
    """Student's paired two-tailed t test of two lists of scores on the same folds.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Scores, in pairs; at least two.
    level : float, default=0.1
        Significance level.

    Returns
    -------
    Comparison
        Mean difference, p-value, and win, loss or tie of the first.

    Notes
    -----
    Yu and Liu 2004, Tables 5, 6, 10 and 11. The folds share training rows, so that the p-values are too small. Cost
    O(n).

    Examples
    --------
    >>> paired_comparison([0.9, 0.8, 0.9], [0.7, 0.6, 0.8]).verdict
    'win'
    """
    first, second = check_finite_array(first, "first", ndim=1), check_finite_array(second, "second", ndim=1)
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    if len(first) != len(second) or len(first) < 2:
        raise ValueError("second: as many scores as in first are expected, at least two")
    difference = first - second
    mean, spread = float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))
    if spread <= 1e-12 * np.abs(difference).max(initial=0.0):
        p_value = 1.0 if mean == 0 else 0.0
    else:
        p_value = float(2 * student.sf(abs(mean) / spread, len(difference) - 1))
    verdict = "tie" if p_value > level else ("win" if mean > 0 else "loss")
    return Comparison(mean, p_value, verdict)


def _chosen(selector, X, labels):
    if selector is None:
        return np.arange(X.shape[1])
    return np.flatnonzero(clone(selector).fit(X, labels).get_support())


def _tree_accuracy(codes, labels, train, test):
    bits = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(codes).transform(codes)
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, ccp_alpha=1e-3, random_state=0)
    return float(np.mean(tree.fit(bits[train], labels[train]).predict(bits[test]) == labels[test]))
