"""Rademacher penalties R = max over a class of |(1/n) Σ r_i loss_i| for random signs r: how well it fits coin flips.

The sum over examples is a sum over the leaves of a pruning, so that one sweep over the nodes finds the maximum over all
prunings, for many draws of the signs at once (Kääriäinen et al. 2004, Sec. 2 and 5).
"""

from __future__ import annotations

import numpy as np

from learnable.trees.given_tree import k_rep, largest_sums, node_errors, reduced_error_pruning
from learnable.validation import check_finite_array, check_has, check_rng, check_scalar

__all__ = ["interval_penalty", "rademacher_penalty", "relabelled_penalty", "sup_deviation"]

_BLOCK = 32  # draws that are swept together: their scores of all nodes stay small


def rademacher_penalty(prunable, k=None, *, signs=None, n_draws=1, random_state=None):
    """R = max over prunings of |(1/n) Σ_i r_i 1[h(x_i) ≠ y_i]|, exactly. Cost O(n · depth + m) for a draw.

    The score of node N is Σ r_i over the pruning examples that reach it with another class than its label; a pruning
    is worth the sum over its leaves; `learnable.trees.given_tree.largest_sums` maximises it, for both signs.

    Parameters
    ----------
    prunable : PrunableTree
    k : int, optional
        Only prunings with at most k growing errors: two runs of k-REP for each draw.
    signs : array (n,) or (draws, n) of ±1, optional
        Drawn if not given.
    n_draws : int, default=1
        Number of draws, if `signs` is not given.
    random_state : None, int or Generator

    Returns
    -------
    float or array (draws,)
        A number for signs of shape (n,), otherwise one for each draw.

    Examples
    --------
    >>> from learnable.datasets import load
    >>> from learnable.ensembles.rademacher_tree_pruning import grow_prunable, grow_prune_test_split
    >>> X, y = load("page_blocks", return_X_y=True)
    >>> grown = grow_prunable(X, y, grow_prune_test_split(len(y), random_state=0), random_state=0)
    >>> some, all_of_them = (rademacher_penalty(grown, k, random_state=1)[0] for k in (grown.tree.errors, None))
    >>> bool(0 < some < all_of_them < 0.05)
    True
    """
    _check_prunable(prunable)
    n = prunable.n_prune
    if signs is None:
        n_draws = check_scalar(n_draws, "n_draws", low=1, integer=True)
        drawn = 2.0 * check_rng(random_state).integers(0, 2, size=(n_draws, n)) - 1
    else:
        drawn = _signs(signs, n)
    rows = np.atleast_2d(drawn)
    found = np.empty(len(rows))
    for low in range(0, len(rows), _BLOCK):
        weights = np.ascontiguousarray(rows[low : low + _BLOCK].T)
        scores = node_errors(prunable.tree, prunable.prune_leaf, prunable.prune_codes, weights)
        best = np.maximum(largest_sums(prunable.tree, scores, k), largest_sums(prunable.tree, -scores, k))
        found[low : low + _BLOCK] = best / n
    return float(found[0]) if drawn.ndim == 1 else found


def relabelled_penalty(prunable, signs, k=None):
    """The same penalty by the road of the source: empirical risk minimisation on relabelled data. Cost of two prunings.

    An example keeps its label y where r = -1 and gets "anything but y" where r = +1; h1 makes the fewest errors on
    these labels z, h2 on their complements z'. R = max(#{r=+1}/n - err_z(h1), #{r=-1}/n - err_z'(h2)) (Kääriäinen et
    al. 2004, Sec. 2).

    Parameters
    ----------
    prunable : PrunableTree
    signs : array (n,) of ±1
    k : int, optional
        Only prunings with at most k growing errors.

    Returns
    -------
    float

    Examples
    --------
    >>> from learnable.datasets import load
    >>> from learnable.ensembles.rademacher_tree_pruning import grow_prunable, grow_prune_test_split
    >>> X, y = load("page_blocks", return_X_y=True)
    >>> grown = grow_prunable(X, y, grow_prune_test_split(len(y), random_state=0), random_state=0)
    >>> signs = np.where(np.arange(grown.n_prune) % 3 == 0, 1, -1)
    >>> relabelled_penalty(grown, signs) == rademacher_penalty(grown, signs=signs)
    True
    """
    _check_prunable(prunable)
    signs = _signs(signs, prunable.n_prune)
    if signs.ndim != 1:
        raise ValueError(f"signs must have shape ({prunable.n_prune},), got {signs.shape}")
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
    """R of the class of intervals on the line, h(x) = 1[a ≤ x ≤ b]: a largest run of sums. Cost O(n log n).

    Kääriäinen et al. 2004, Sec. 1, name it as the first class for which penalties were computed (Lozano 2000).

    Parameters
    ----------
    x : array-like of shape (n,)
        Equal values lie in the same intervals.
    y : array-like of shape (n,) of 0 and 1
    signs : array-like of shape (n,) of ±1

    Returns
    -------
    float

    Examples
    --------
    >>> interval_penalty([0.0, 1.0, 2.0, 3.0], [0, 0, 0, 0], [-1, 1, 1, -1])
    0.5
    """
    x, y = check_finite_array(x, "x", ndim=1), check_finite_array(y, "y", ndim=1)
    if len(x) == 0 or y.shape != x.shape or not np.isin(y, (0.0, 1.0)).all():
        raise ValueError("y must hold one 0 or 1 for each of the values of x, of which there must be at least one")
    signs = _signs(signs, len(x))
    if signs.ndim != 1:
        raise ValueError(f"signs must have shape ({len(x)},), got {signs.shape}")
    # An interval turns the loss of the points inside from y to 1 - y.
    gains = np.bincount(np.unique(x, return_inverse=True)[1], weights=signs * (1 - 2 * y))
    runs = np.concatenate([[0.0], np.cumsum(gains)])
    highest = (runs - np.minimum.accumulate(runs)).max()
    lowest = (runs - np.maximum.accumulate(runs)).min()
    outside = (signs * y).sum()
    return float(max(outside + highest, -outside - lowest) / len(x))


def sup_deviation(prunable, true_errors, k=None):
    """max over prunings of |error probability - error on the pruning data|, what a penalty stands in for. Cost O(m).

    It needs the truth, hence a simulation; both errors are sums over leaves, so that the sweep of the penalty applies.

    Parameters
    ----------
    prunable : PrunableTree
    true_errors : array (m,)
        P(an example reaches the node and is not of its class), for each node.
    k : int, optional
        Only prunings with at most k growing errors.

    Returns
    -------
    float

    Examples
    --------
    >>> from learnable.datasets import load
    >>> from learnable.ensembles.rademacher_tree_pruning import grow_prunable, grow_prune_test_split
    >>> X, y = load("page_blocks", return_X_y=True)
    >>> grown = grow_prunable(X, y, grow_prune_test_split(len(y), random_state=0), random_state=0)
    >>> sup_deviation(grown, grown.prune_errors / grown.n_prune)  # as if the sample were the truth
    0.0
    """
    _check_prunable(prunable)
    true_errors = check_finite_array(true_errors, "true_errors", ndim=1)
    if len(true_errors) != prunable.tree.n_nodes or (true_errors < 0).any() or (true_errors > 1).any():
        raise ValueError(f"true_errors must hold {prunable.tree.n_nodes} probabilities, one for each node")
    gap = true_errors - prunable.prune_errors / prunable.n_prune
    return max(largest_sums(prunable.tree, gap, k), largest_sums(prunable.tree, -gap, k))


def _check_prunable(prunable):
    check_has(prunable, "prunable", "tree prune_leaf prune_codes prune_errors", "a PrunableTree")


def _signs(signs, n):
    signs = check_finite_array(signs, "signs")
    if signs.ndim not in (1, 2) or signs.shape[-1] != n or signs.size == 0:
        raise ValueError(f"signs must have shape ({n},) or (draws, {n}), got {signs.shape}")
    if not (np.abs(signs) == 1).all():
        raise ValueError("signs must be -1 or +1")
    return signs
