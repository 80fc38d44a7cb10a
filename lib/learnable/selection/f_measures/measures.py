"""How a predicted set of labels is scored: the F-measure by instance, micro and macro, and the losses beside it.

One instance has m labels, a row of zeros and ones. ``F(y, h) = 2 |y and h| / (|y| + |h|)``, and 0/0 counts as 1: to say
"none" when there is none is right. The Jaccard index of the source has 0/0 = 0 (Waegeman et al. 2014, footnote 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.validation import Result, check_choice, check_scalar, check_zero_one


@dataclass(frozen=True, eq=False)
class LabelScores(Result):
    """Scores of predicted label sets, means over instances unless said otherwise; made by `label_scores`.

    Attributes
    ----------
    f, jaccard, precision, recall : float
        The larger the better, between 0 and 1.
    hamming, subset : float
        Share of wrong labels, and share of rows with any wrong label.
    micro_f, macro_f : float
        F of all labels of all rows as one long vector, and the mean over labels of each column's F.
    """

    f: float
    jaccard: float
    precision: float
    recall: float
    hamming: float
    subset: float
    micro_f: float
    macro_f: float


def f_measure(Y, H, *, average="instance", beta=1.0, zero_division=1.0):
    """Score label sets by the F-measure, (1 + beta^2) |y and h| / (beta^2 |y| + |h|). Cost O(N m).

    Parameters
    ----------
    Y, H : array-like of shape (N, m)
        True and predicted labels, zeros and ones.
    average : {"instance", "micro", "macro"} or None, default="instance"
        Mean over rows; all entries as one vector; mean over columns. None returns one value for each row.
    beta : float, default=1.0
        Weight of recall: larger values punish a missed label more.
    zero_division : float, default=1.0
        Value of 0/0, where neither row has a label.

    Returns
    -------
    float or ndarray of shape (N,)

    Examples
    --------
    >>> Y, H = [[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]
    >>> f_measure(Y, H, average=None).round(3).tolist()
    [0.667, 1.0]
    >>> round(f_measure(Y, H, average="micro"), 3)
    0.667
    """
    Y, H = _pair(Y, H)
    check_choice(average, "average", ("instance", "micro", "macro", None))
    beta = check_scalar(beta, "beta", low=1e-6, high=1e6)
    empty = check_scalar(zero_division, "zero_division", low=0, high=1)
    axis = {"macro": 0, "micro": None}.get(average, 1)
    both, true, said = (Y & H).sum(axis), Y.sum(axis), H.sum(axis)
    values = _ratio((1 + beta**2) * both, beta**2 * true + said, empty)
    return values if average is None else float(np.mean(values))


def label_scores(Y, H):
    """Score label sets by all measures of the chapter (Waegeman et al. 2014, Eqs. 1, 6, 9, 12). Cost O(N m).

    Precision of an empty prediction, and recall where no label is true, count as 1, like F of two empty rows.

    Parameters
    ----------
    Y, H : array-like of shape (N, m)
        True and predicted labels, zeros and ones.

    Returns
    -------
    LabelScores

    Examples
    --------
    >>> found = label_scores([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]])
    >>> round(found.f, 3), found.jaccard, found.subset, round(found.hamming, 3)
    (0.833, 0.75, 0.5, 0.167)
    """
    Y, H = _pair(Y, H)
    both, true, said = (Y & H).sum(1), Y.sum(1), H.sum(1)
    return LabelScores(
        f=float(np.mean(_ratio(2 * both, true + said, 1.0))),
        jaccard=float(np.mean(_ratio(both, true + said - both, 0.0))),
        precision=float(np.mean(_ratio(both, said, 1.0))),
        recall=float(np.mean(_ratio(both, true, 1.0))),
        hamming=float(np.mean(Y != H)),
        subset=float(np.mean((Y != H).any(axis=1))),
        micro_f=f_measure(Y, H, average="micro"),
        macro_f=f_measure(Y, H, average="macro"),
    )


def _pair(Y, H):
    Y, H = check_zero_one(Y, "Y"), check_zero_one(H, "H")
    if Y.shape != H.shape:
        raise ValueError(f"Y and H must have one shape, got {Y.shape} and {H.shape}")
    return Y, H


def _ratio(top, bottom, empty):
    top, bottom = np.asarray(top, dtype=float), np.asarray(bottom, dtype=float)
    return np.divide(top, bottom, out=np.full(top.shape, float(empty)), where=bottom > 0)
