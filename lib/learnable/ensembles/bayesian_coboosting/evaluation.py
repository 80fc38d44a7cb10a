"""Accuracy by class, as the source's tables report it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from learnable.validation import Result, check_scalar, encode_labels

__all__ = ["ClassAccuracy", "class_accuracy"]


@dataclass(frozen=True, eq=False)
class ClassAccuracy(Result):
    """What :func:`class_accuracy` returns.

    Attributes
    ----------
    classes : ndarray of shape (C,)
    accuracies : ndarray of shape (C,)
        Share of the instances of each class that were recognised.
    mean : float
        Their mean: every class counts alike.
    sd : float
        Their standard deviation.
    halfwidth : float
        Half the length of the t-interval of the mean over the classes.
    """

    classes: np.ndarray
    accuracies: np.ndarray
    mean: float
    sd: float
    halfwidth: float


def class_accuracy(y_true, y_pred, *, level=0.95):
    """Accuracy of each class, their mean, and the interval t × sd / √C of the source's tables.

    The interval describes how accuracy varies over classes, as if they had been drawn at random; it says nothing of
    how it would vary with another sample of the same classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
    level : float, default=0.95

    Returns
    -------
    ClassAccuracy

    Examples
    --------
    >>> made = class_accuracy([0, 0, 1, 1, 2, 2], [0, 0, 1, 0, 2, 2])
    >>> made.accuracies.tolist(), round(made.mean, 3), round(made.halfwidth, 3)
    ([1.0, 0.5, 1.0], 0.833, 0.717)
    """
    classes, codes = encode_labels(y_true, name="y_true")
    predicted = np.asarray(y_pred)
    if predicted.shape != codes.shape or len(codes) == 0:
        raise ValueError(f"y_pred must have {len(codes)} entries like y_true (at least one), got {predicted.shape}")
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    right = np.bincount(codes, classes[codes] == predicted, minlength=len(classes))
    accuracies = right / np.bincount(codes)
    C = len(classes)
    sd = float(accuracies.std(ddof=1)) if C > 1 else 0.0
    halfwidth = float(student.ppf(0.5 + level / 2, C - 1) * sd / np.sqrt(C)) if C > 1 else 0.0
    return ClassAccuracy(classes, accuracies, float(accuracies.mean()), sd, halfwidth)
