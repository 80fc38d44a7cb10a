"""Penalties by the road of the source, for intervals, and the deviation that a penalty stands in for.

Source: Kääriäinen, Malinen and Elomaa 2004.
"""

from __future__ import annotations

import numpy as np

from learnable.trees.reduced_error import k_rep, largest_sums, node_errors, reduced_error_pruning


def relabelled_penalty(prunable, signs, k=None):
    """`rademacher_penalty` by empirical risk minimisation on relabelled data. Cost of two prunings."""
    signs = np.asarray(signs)
    tree, leaf, codes = prunable.tree, prunable.prune_leaf, prunable.prune_codes
    n = len(leaf)
    flipped = np.stack([signs > 0, signs < 0], axis=1).astype(float)  # who is complemented in z, and in its complement
    reach = node_errors(tree, leaf, np.full(n, -1), flipped)
    wrong = node_errors(tree, leaf, codes, flipped)
    found = []
    for one, other in ((0, 1), (1, 0)):
        errors = wrong[:, other] + reach[:, one] - wrong[:, one]
        best = reduced_error_pruning(tree, errors) if k is None else k_rep(tree, errors, k)
        found.append(flipped[:, one].sum() - best.error)
    return float(max(found) / n)


def interval_penalty(x, y, signs):
    """R of the class of intervals on the line, h(x) = 1[a ≤ x ≤ b]: a largest run of sums. Cost O(n log n)."""
    y, signs = np.asarray(y), np.asarray(signs)
    # An interval turns the loss of the points inside from y to 1 - y.
    gains = np.bincount(np.unique(x, return_inverse=True)[1], weights=signs * (1 - 2 * y))
    runs = np.concatenate([[0.0], np.cumsum(gains)])
    highest = (runs - np.minimum.accumulate(runs)).max()
    lowest = (runs - np.maximum.accumulate(runs)).min()
    outside = (signs * y).sum()
    return float(max(outside + highest, -outside - lowest) / len(x))


def sup_deviation(prunable, true_errors, k=None):
    """max over prunings of |error probability - error on the pruning data|, what a penalty stands in for. Cost O(m)."""
    gap = true_errors - prunable.prune_errors / prunable.n_prune
    return max(largest_sums(prunable.tree, gap, k), largest_sums(prunable.tree, -gap, k))
