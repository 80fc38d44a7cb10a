"""The update of one class alone, skeletons without place and size, and the intervals of the source's tables.

Source: Wu and Cheng 2014.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from learnable.ensembles.coboosting.update import _descend, _groups, _refuse_infinite, _sums
from learnable.validation import encode_labels, warn_not_converged


class ClassAccuracy(NamedTuple):
    """What :func:`class_accuracy` returns."""

    classes: np.ndarray
    accuracies: np.ndarray
    mean: float
    sd: float
    halfwidth: float


def class_accuracy(y_true, y_pred, *, level=0.95):
    """Accuracy of each class, their mean, and the interval t × sd / √C of the source's tables."""
    classes, codes = encode_labels(y_true, name="y_true")
    right = np.bincount(codes, classes[codes] == np.asarray(y_pred), minlength=len(classes))
    accuracies = right / np.bincount(codes)
    C = len(classes)
    sd = float(accuracies.std(ddof=1))
    halfwidth = float(student.ppf(0.5 + level / 2, C - 1) * sd / np.sqrt(C))
    return ClassAccuracy(classes, accuracies, float(accuracies.mean()), sd, halfwidth)


def normalise_skeleton(joints, bones, *, origin=0, plane=(0, 1, 2)):
    """Move, turn and scale every frame so that place, orientation and body size drop out."""
    bones = np.asarray(bones)
    moved = joints - joints[:, origin : origin + 1]
    length = np.linalg.norm(moved[:, bones[:, 1]] - moved[:, bones[:, 0]], axis=2).sum(axis=1)
    moved = moved / length[:, None, None]
    a, b = (moved[:, plane[i]] - moved[:, plane[0]] for i in (1, 2))
    normal = np.cross(a, b)
    x = a / np.linalg.norm(a, axis=1, keepdims=True)
    z = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    axes = np.stack([x, np.cross(z, x), z], axis=1)
    return moved @ axes.transpose(0, 2, 1)


def skeleton_features(joints, bones, *, origin=0, plane=(0, 1, 2)):
    """Positions, bone vectors and their changes in time, of normalised skeletons (Wu and Cheng 2014, Appendix A)."""
    made = normalise_skeleton(joints, bones, origin=origin, plane=plane)
    bones = np.asarray(bones)
    still = np.concatenate([made, made[:, bones[:, 1]] - made[:, bones[:, 0]]], axis=1)
    still = still.reshape(len(made), -1)
    return np.hstack([still, np.diff(still, axis=0, prepend=still[:1])])


class FusionRatios(NamedTuple):
    """What :func:`fusion_ratios` returns."""

    ratios: np.ndarray
    products: np.ndarray
    bound: float
    n_iter: int
    converged: bool
    residual: float


def joint_sums(log_odds, said, own):
    """The sums S of the bound: instances grouped by what the views said and by whether they belong to the class."""
    r, said, own = np.asarray(log_odds, float), np.asarray(said), np.asarray(own)
    return _sums(np.where(own, r, -r), _groups(said), own, len(said))


def fusion_ratios(sums, *, smoothing=0.0, max_iter=1000, tol=1e-10):
    """Minimise the bound of one class over the likelihood ratios of all views (Wu and Cheng 2014, Eq. 14)."""
    S = np.asarray(sums, float)
    V = int(np.log2(len(S))) - 1
    top = S.max() + smoothing
    scaled = (S + smoothing) / top
    _refuse_infinite(scaled, V)
    u, bound, n_iter, residual = _descend(scaled, V, max_iter, tol)
    if residual > tol:
        warn_not_converged("fusion_ratios", n_iter, residual, tol, "give a smoothing, or raise max_iter")
    ratios = np.exp(u)
    products = np.exp(_products(u))
    return FusionRatios(ratios, products.reshape((2,) * V), float(bound * top), n_iter, bool(residual <= tol), residual)


def _products(u):
    """ln of the product of ratios of each group."""
    total = np.zeros(1)
    for pair in u:
        total = (total[:, None] + pair).ravel()
    return total
