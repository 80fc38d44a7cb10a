"""From depth video to a gesture: motion history images, votes of the frames, edit distance (Goussies et al. 2014)."""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable.validation import check_finite_array, check_has, check_scalar, encode_labels

__all__ = [
    "classify_video",
    "levenshtein",
    "motion_features",
    "motion_history_image",
    "sequence_error",
    "video_scores",
]


def motion_history_image(video, *, tau=8, xi=25):
    """One image for each frame that shows where, and how long ago, something moved (Goussies et al. 2014, Sec. 4.1).

    A pixel whose depth changed by `xi` or more since the last frame gets the value `tau`; every other loses 1 until it
    is 0. The first frame has no motion. Cost O(pixels).

    Parameters
    ----------
    video : array-like of shape (n_frames, n_rows, n_columns)
        Depth in units of 0 to 255.
    tau : int, default=8
        For how many frames a motion is seen.
    xi : float, default=25
        The smallest change that counts as motion, in the unit of the video.

    Returns
    -------
    ndarray of int16 of shape (n_frames, n_rows, n_columns)

    Examples
    --------
    >>> video = np.zeros((4, 1, 2))
    >>> video[1:, 0, 0] = 100.0
    >>> motion_history_image(video, tau=3)[:, 0].tolist()
    [[0, 0], [3, 0], [2, 0], [1, 0]]
    """
    tau = check_scalar(tau, "tau", low=1, high=10_000, integer=True)
    xi = check_scalar(xi, "xi", low=0, closed="neither")
    video = check_finite_array(video, "video", ndim=3)
    if len(video) == 0:
        raise ValueError("video must hold at least one frame")
    out = np.zeros(video.shape, np.int16)
    for t in range(1, len(video)):
        moved = np.abs(video[t] - video[t - 1]) >= xi
        out[t] = np.where(moved, tau, np.maximum(out[t - 1] - 1, 0))
    return out


def motion_features(video, *, tau=8, xi=25, shape=(12, 16)):
    """Motion history images, averaged over the cells of a coarse grid and flattened: a row for each frame.

    Parameters
    ----------
    video : array-like of shape (n_frames, n_rows, n_columns)
    tau, xi
        As in `motion_history_image`.
    shape : tuple of int, default=(12, 16)
        Rows and columns of the grid; the source's "16 x 12" is width by height. Cells that cut a pixel take its share.

    Returns
    -------
    ndarray of shape (n_frames, shape[0] * shape[1])

    Examples
    --------
    >>> motion_features(np.zeros((5, 48, 64))).shape
    (5, 192)
    """
    history = motion_history_image(video, tau=tau, xi=xi)
    if len(shape) != 2:
        raise ValueError(f"shape must be two whole numbers, got {shape!r}")
    rows, columns = (
        _averaging(side, check_scalar(cells, "shape", low=1, high=side, integer=True))
        for side, cells in zip(history.shape[1:], shape, strict=True)
    )
    return (rows @ history @ columns.T).reshape(len(history), -1)


def video_scores(frame_proba, *, floor=1e-3):
    """Sum over the frames of a video of the log probability of each class (Goussies et al. 2014, (2)). O(M k).

    Equal priors and frames that are independent given the class. Shares in leaves are often exactly zero, so that
    probabilities below ``floor / k`` count as that: one frame cannot rule out a class.

    Parameters
    ----------
    frame_proba : array-like of shape (n_frames, k)
        Class probabilities of each frame.
    floor : float in (0, 1), default=1e-3

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> int(np.argmax(video_scores([[0.0, 1.0], [0.9, 0.1], [0.9, 0.1], [0.99, 0.01]])))
    0
    """
    p = check_finite_array(frame_proba, "frame_proba", ndim=2)
    floor = check_scalar(floor, "floor", low=0, high=1, closed="neither")
    if p.size == 0 or p.min() < 0 or p.max() > 1 + 1e-9:
        raise ValueError("frame_proba must hold probabilities, at least one frame")
    return np.log(np.maximum(p, floor / p.shape[1])).sum(axis=0)


def classify_video(model, frames, *, floor=1e-3):
    """Label of a video from the frames' probabilities under a classifier.

    Parameters
    ----------
    model : classifier
        With ``predict_proba`` and ``classes_``.
    frames : array-like of shape (n_frames, d)
        Features of the frames, as from `motion_features`.
    floor : float in (0, 1), default=1e-3
        See `video_scores`.

    Returns
    -------
    label
        One of ``model.classes_``.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[0.0], [1.0], [2.0]], ["wave", "wave", "point"])
    >>> str(classify_video(model, [[0.0], [3.0]]))
    'wave'
    """
    check_has(model, "model", "classes_ predict_proba", "a fitted classifier")
    return model.classes_[np.argmax(video_scores(model.predict_proba(frames), floor=floor))]


def levenshtein(a, b):
    """Least number of insertions, deletions and replacements that turn one sequence into the other. O(len(a) len(b)).

    Parameters
    ----------
    a, b : sequence
        Labels of one kind.

    Returns
    -------
    int

    Examples
    --------
    >>> levenshtein([1, 2, 4], [3, 2])
    2
    """
    a, b = list(a), list(b)
    if not a or not b:
        return len(a) + len(b)
    codes = encode_labels(a + b, name="a and b")[1]
    return int(_edits(codes[: len(a)], codes[len(a) :]))


def sequence_error(truth, predicted):
    """Total edit distance over the total number of true labels: the score of the ChaLearn challenge; it can exceed 1.

    Parameters
    ----------
    truth, predicted : sequence of sequences
        True and predicted labels of each recording.

    Returns
    -------
    float

    Examples
    --------
    >>> sequence_error([[1, 2], [3]], [[1, 2, 2], [4]])
    0.6666666666666666
    """
    if len(truth) != len(predicted):
        raise ValueError(f"predicted must hold a sequence for each of the {len(truth)} in truth, got {len(predicted)}")
    total = sum(len(labels) for labels in truth)
    if total == 0:
        raise ValueError("truth must hold at least one label")
    return sum(levenshtein(a, b) for a, b in zip(truth, predicted, strict=True)) / total


def _averaging(size, cells):
    """Matrix (cells, size) that averages pixels over cells of equal width, a cut pixel by its share."""
    edges = np.linspace(0, size, cells + 1)
    pixel = np.arange(size)
    shared = np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel)
    return np.maximum(shared, 0) * cells / size


@njit(cache=True)
def _edits(a, b):
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        corner, row[0] = row[0], i + 1
        for j in range(len(b)):
            best = min(corner + (a[i] != b[j]), row[j] + 1, row[j + 1] + 1)
            corner, row[j + 1] = row[j + 1], best
    return row[-1]
