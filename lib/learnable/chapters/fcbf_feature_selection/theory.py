"""The data of the worked example, scores over folds, their paired comparison, and blankets by similarities alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from learnable.datasets.rules import make_corral
from learnable.features.fcbf import _check_similarities
from learnable.features.information import code_columns
from learnable.features.subsets import NaiveBayesSubsets
from learnable.validation import (
    check_rng,
    check_seed,
    encode_labels,
)

RATIOS = tuple(k / 16 for k in range(7))


@dataclass(frozen=True, eq=False)
class CorralTable:
    """A table of CorrAL with copies."""

    data: np.ndarray
    target: np.ndarray
    feature_names: list
    origin: list


def make_balanced_corral(n_blocks=1, *, with_r=True, chance=False, ratios=RATIOS, random_state=None):
    """CorrAL-47 or CorrAL-46 on a balanced table of 256 rows, or several of them."""
    ratios = np.asarray(ratios, dtype=float)
    rng = check_rng(random_state)
    table, y = make_corral(return_X_y=True)
    half = len(y)
    table, y = np.tile(table.astype(np.int64), (2 * n_blocks, 1)), np.tile(y, 2 * n_blocks)
    n, k = len(y), len(ratios)
    four = table[:, :4]
    second = rng.permutation(n) % 2 if chance else np.arange(n) // half % 2
    pair = np.column_stack([table[:, 4], second])
    turned = np.repeat(pair, 6, axis=1) ^ (np.arange(12) % 2)
    flips = np.zeros((n, 4 * k), dtype=np.int64)
    for column in range(4 * k):
        flips[rng.permutation(n)[: round(n * ratios[column % k])], column] = 1
    copies = np.repeat(four, k, axis=1) ^ flips
    names = ["A0", "A1", "B0", "B1"]
    copied = [f"{name}~{j}" for name in names for j in range(k)]
    irrelevant = ["I0", "I1", *(f"I{i // 6}~{i % 6}" for i in range(12))]
    blocks = [four, table[:, 5:], pair, turned, copies] if with_r else [four, pair, turned, copies]
    names += ["R"] * bool(with_r) + irrelevant + copied
    return CorralTable(np.hstack(blocks), y, names, [name.partition("~")[0] for name in names])


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Accuracy in each fold, and how many columns were used there."""

    accuracy: np.ndarray
    n_selected: np.ndarray


@dataclass(frozen=True)
class Comparison:
    """Result of a paired t test."""

    difference: float
    p_value: float
    verdict: str


def fold_scores(selector, X, y, *, learner="naive bayes", selection="inside", cv=10, random_state=None):
    """Cross-validated accuracy of a learner on the columns that a selector keeps."""
    if isinstance(cv, (int, np.integer)):
        cv = StratifiedKFold(cv, shuffle=True, random_state=check_seed(random_state))
    coded = code_columns(X)
    _, labels = encode_labels(y)
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
    """Student's paired two-tailed t test of two lists of scores on the same folds."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
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


def approximate_blankets(relevance, similarity):
    """Which column is an approximate Markov blanket of which."""
    relevance, similarity = _check_similarities(relevance, similarity)
    found = (relevance[:, None] >= relevance[None, :]) & (similarity >= relevance[None, :])
    np.fill_diagonal(found, False)
    return found
