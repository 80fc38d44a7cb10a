"""Rademacher penalties R = max over a class of |(1/n) Σ r_i loss_i| for random signs r: how well it fits coin flips.

The sum over examples is a sum over the leaves of a pruning, so that one sweep over the nodes finds the maximum over all
prunings, for many draws of the signs at once (Kääriäinen et al. 2004, Sec. 2 and 5).
"""

from __future__ import annotations

import numpy as np

from learnable.trees.reduced_error import largest_sums, node_errors
from learnable.validation import check_finite_array, check_has, check_rng, check_scalar

_BLOCK = 32  # draws that are swept together: their scores of all nodes stay small


def rademacher_penalty(prunable, k=None, *, signs=None, n_draws=1, random_state=None):
    """R = max over prunings of |(1/n) Σ_i r_i 1[h(x_i) ≠ y_i]|, exactly. Cost O(n · depth + m) for a draw.

    The score of node N is Σ r_i over the pruning examples that reach it with another class than its label; a pruning
    is worth the sum over its leaves; `learnable.trees.reduced_error.largest_sums` maximises it, for both signs.

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
    >>> from learnable.ensembles import grow_prunable, grow_prune_test_split
    >>> X, y = load("page_blocks", return_X_y=True)
    >>> grown = grow_prunable(X, y, grow_prune_test_split(len(y), random_state=0), random_state=0)
    >>> some, all_of_them = (rademacher_penalty(grown, k, random_state=1)[0] for k in (grown.tree.errors, None))
    >>> bool(0 < some < all_of_them < 0.05)
    True
    """
    check_has(prunable, "prunable", "tree prune_leaf prune_codes prune_errors", "a PrunableTree")
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


def _signs(signs, n):
    signs = check_finite_array(signs, "signs")
    if signs.ndim not in (1, 2) or signs.shape[-1] != n or signs.size == 0:
        raise ValueError(f"signs must have shape ({n},) or (draws, {n}), got {signs.shape}")
    if not (np.abs(signs) == 1).all():
        raise ValueError("signs must be -1 or +1")
    return signs
