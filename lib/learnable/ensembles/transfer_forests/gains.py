"""Information that a split gives about the labels of one task, and of several at once (Goussies et al. 2014).

A split of a node is given by the counts of the labels on its two sides: one vector for each task, the target first.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from learnable.validation import check_choice, check_finite_array, check_scalar


def information_gain(left, right):
    """Entropy of a node less the mean entropy of its two sides (Goussies et al. 2014, Sec. 3.1.1). O(k).

    Parameters
    ----------
    left, right : array-like of shape (k,)
        Counts of the labels on either side.

    Returns
    -------
    float
        Not negative; 0 for a node without rows.

    Examples
    --------
    >>> round(information_gain([4, 0], [0, 4]), 4)
    0.6931
    >>> information_gain([2, 2], [1, 1])
    0.0
    """
    left, right = _counts(left, "left"), _counts(right, "right")
    if left.shape != right.shape:
        raise ValueError(f"right must count the same labels as left: {len(left)}, got {len(right)}")
    n = left.sum() + right.sum()
    if n == 0:
        return 0.0
    inside = (left.sum() * _entropy(left) + right.sum() * _entropy(right)) / n
    return max(0.0, float(_entropy(left + right) - inside))


def mixed_information_gain(left, right, gamma, *, source="sum"):
    """(1 - gamma) I(target) + gamma sum_n p_n I(source n) (Goussies et al. 2014, (1)). O(number of labels).

    Parameters
    ----------
    left, right : sequence of array-like
        For each task, the target first, the counts of its labels on either side.
    gamma : float in [0, 1]
        Weight of the sources.
    source : {"sum", "concatenated"}, default="sum"
        "sum" weights the gain of each source by its share p_n of the node's source rows. "concatenated" takes all
        sources for one task with the union of their labels; it is larger by `task_information`.

    Returns
    -------
    float

    Examples
    --------
    >>> left, right = [[1, 1], [30, 5]], [[1, 1], [2, 40]]
    >>> round(mixed_information_gain(left, right, 0.5), 3)
    0.194
    """
    left, right = _tasks(left, right)
    gamma = check_scalar(gamma, "gamma", low=0, high=1)
    check_choice(source, "source", ("sum", "concatenated"))
    own = information_gain(left[0], right[0])
    if len(left) == 1:
        return (1 - gamma) * own
    if source == "concatenated":
        other = information_gain(np.concatenate(left[1:]), np.concatenate(right[1:]))
    else:
        sizes = np.array([a.sum() + b.sum() for a, b in zip(left[1:], right[1:], strict=True)])
        gains = np.array([information_gain(a, b) for a, b in zip(left[1:], right[1:], strict=True)])
        other = float(sizes @ gains / sizes.sum()) if sizes.sum() > 0 else 0.0
    return (1 - gamma) * own + gamma * other


def _entropy(counts):
    """Plug-in entropy in nats, 0 for no rows: `learnable.latent.entropy_plugin` refuses an empty side of a split."""
    n = counts.sum()
    return special.entr(counts / n).sum() if n > 0 else 0.0


def _counts(counts, name):
    counts = check_finite_array(counts, name, ndim=1)
    if len(counts) == 0 or counts.min() < 0:
        raise ValueError(f"{name} must hold non-negative counts, at least one")
    return counts


def _tasks(left, right):
    if len(left) == 0 or len(left) != len(right):
        raise ValueError(f"right must hold the counts of as many tasks as left: {len(left)}, got {len(right)}")
    left = [_counts(part, "left") for part in left]
    right = [_counts(part, "right") for part in right]
    for a, b in zip(left, right, strict=True):
        if a.shape != b.shape:
            raise ValueError(f"right must count the same labels as left: {len(a)}, got {len(b)}")
    return left, right
