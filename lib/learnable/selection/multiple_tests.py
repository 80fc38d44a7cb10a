"""Many hypotheses tested at once: p-values that keep the probability of any false rejection below a level."""

from __future__ import annotations

import numpy as np

from learnable.validation import check_finite_array, check_probabilities

__all__ = ["holm_pvalues"]


def holm_pvalues(pvalues):
    """p-values adjusted by Holm's rule: reject where the adjusted one is at most the family-wise level. O(k log k).

    The p-values in increasing order are multiplied by k, k - 1, ..., 1 and kept from falling and from exceeding one.
    The rule needs no independence, and rejects whatever Bonferroni's rule, which multiplies all by k, rejects.

    Parameters
    ----------
    pvalues : array-like of shape (k,)

    Returns
    -------
    ndarray of shape (k,)
        In the order of `pvalues`.

    Examples
    --------
    >>> holm_pvalues([0.01, 0.04, 0.02]).round(6).tolist()
    [0.03, 0.04, 0.04]
    """
    pvalues = check_probabilities(check_finite_array(pvalues, "pvalues", ndim=1), "pvalues")
    k = len(pvalues)
    order = np.argsort(pvalues, kind="stable")
    adjusted = np.empty(k)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.arange(k, 0, -1) * pvalues[order]))
    return adjusted
