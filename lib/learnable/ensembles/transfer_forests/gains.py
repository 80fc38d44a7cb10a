"""Entropies of counts, gains of a split for several tasks, and how far small samples mislead (Goussies et al. 2014).

A split of a node is given by the counts of the labels on its two sides: one vector for each task, the target first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from learnable.validation import check_choice, check_finite_array, check_probability_vector, check_scalar

__all__ = [
    "EntropyBounds",
    "entropy",
    "information_gain",
    "mixed_information_gain",
    "plugin_entropy_bounds",
    "task_information",
]


@dataclass(frozen=True)
class EntropyBounds:
    """What `plugin_entropy_bounds` returns.

    Attributes
    ----------
    expected : float
        Mean of the entropy that is computed from the shares in a sample.
    entropy : float
        The entropy of the law itself.
    gap : float
        How much larger than the mean it can be: ``expected <= entropy <= expected + gap``.
    """

    expected: float
    entropy: float
    gap: float


def entropy(counts):
    """Entropy of the shares in a vector of counts, in nats: log n - (1/n) sum c log c, and 0 for no rows. O(k).

    Parameters
    ----------
    counts : array-like of shape (k,)
        How often each label occurs.

    Returns
    -------
    float

    Examples
    --------
    >>> round(entropy([5, 5]), 4), entropy([10, 0]), entropy([0, 0])
    (0.6931, 0.0, 0.0)
    """
    counts = _counts(counts, "counts")
    n = counts.sum()
    return float(special.entr(counts / n).sum()) if n > 0 else 0.0


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
    >>> information_gain([4, 0], [0, 4]) == entropy([1, 1])
    True
    >>> information_gain([2, 2], [1, 1])
    0.0
    """
    left, right = _counts(left, "left"), _counts(right, "right")
    if left.shape != right.shape:
        raise ValueError(f"right must count the same labels as left: {len(left)}, got {len(right)}")
    n = left.sum() + right.sum()
    if n == 0:
        return 0.0
    inside = (left.sum() * entropy(left) + right.sum() * entropy(right)) / n
    return max(0.0, float(entropy(left + right) - inside))


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


def task_information(left, right):
    """Information that the side of a split gives about which source a row comes from. O(number of labels).

    It is the difference of the two forms of the mixed gain: the chain rule gives I(side; source, label) = I(side;
    source) + I(side; label | source), and the last term is the weighted sum.

    Parameters
    ----------
    left, right : sequence of array-like
        As in `mixed_information_gain`; the target is not used.

    Returns
    -------
    float

    Examples
    --------
    >>> round(task_information([[1, 1], [2, 2], [0, 0]], [[1, 1], [0, 0], [2, 2]]), 4)
    0.6931
    """
    left, right = _tasks(left, right)
    if len(left) == 1:
        return 0.0
    return information_gain([part.sum() for part in left[1:]], [part.sum() for part in right[1:]])


def plugin_entropy_bounds(p, n_samples):
    """Mean of the entropy computed from a sample, exactly, with the gap to the truth (Goussies et al. 2014, Thm 1).

    Printed with both inequalities reversed; its proof gives E H(S) <= H(p) <= E H(S) + sum_y p_y log(1 + (1 - p_y) /
    (K p_y)) with K = `n_samples`. Cost O(k K).

    Parameters
    ----------
    p : array-like of shape (k,)
        Probabilities of the labels.
    n_samples : int
        Size K of the sample.

    Returns
    -------
    EntropyBounds

    Examples
    --------
    >>> found = plugin_entropy_bounds([0.5, 0.5], 10)
    >>> round(found.expected, 4), round(found.entropy, 4), round(found.expected + found.gap, 4)
    (0.6401, 0.6931, 0.7354)
    """
    p = check_probability_vector(p, "p")
    size = check_scalar(n_samples, "n_samples", low=1, integer=True)
    p = p[p > 0]
    j = np.arange(size + 1)
    mean = stats.binom.pmf(j, size, p[:, None]) @ special.entr(j / size)
    gap = float((p * np.log1p((1 - p) / (size * p))).sum())
    return EntropyBounds(float(mean.sum()), float(special.entr(p).sum()), gap)


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
