"""What a split tells about the task, the bias of plug-in entropies, leaf graphs, and the road from video to gesture.

Motion history images, votes of the frames, edit distance. Source: Goussies, Ubalde and Mejail 2014.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import special, stats

from learnable.ensembles.transfer_forests.gains import _tasks, information_gain
from learnable.ensembles.transfer_forests.leaves import comparable, edges
from learnable.validation import encode_labels


class EntropyBounds(NamedTuple):
    """Mean of the plug-in entropy, the entropy itself, and the gap that the theorem allows."""

    expected: float
    entropy: float
    gap: float


def task_information(left, right):
    """Information that the side of a split gives about which source a row comes from. O(number of labels)."""
    left, right = _tasks(left, right)
    if len(left) == 1:
        return 0.0
    return information_gain([part.sum() for part in left[1:]], [part.sum() for part in right[1:]])


def plugin_entropy_bounds(p, n_samples):
    """Mean of the entropy computed from a sample, exactly, with the gap to the truth (Goussies et al. 2014, Thm 1)."""
    p, size = np.asarray(p, float), n_samples
    p = p[p > 0]
    j = np.arange(size + 1)
    mean = stats.binom.pmf(j, size, p[:, None]) @ special.entr(j / size)
    gap = float((p * np.log1p((1 - p) / (size * p))).sum())
    return EntropyBounds(float(mean.sum()), float(special.entr(p).sum()), gap)


def leaf_graph(X, leaves, *, metric="mahalanobis", shrinkage=1e-3):
    """Lengths of the edges between the leaves of a tree, from the rows of all tasks (Goussies et al. 2014)."""
    X, leaves = np.asarray(X, float), np.asarray(leaves)
    kept = np.ones(leaves.max() + 1, np.bool_)
    return edges(comparable(X, metric), leaves, metric, shrinkage, kept)


def motion_history_image(video, *, tau=8, xi=25):
    """One image for each frame that shows where, and how long ago, something moved (Goussies et al. 2014, Sec. 4.1)."""
    video = np.asarray(video, float)
    out = np.zeros(video.shape, np.int16)
    for t in range(1, len(video)):
        moved = np.abs(video[t] - video[t - 1]) >= xi
        out[t] = np.where(moved, tau, np.maximum(out[t - 1] - 1, 0))
    return out


def motion_features(video, *, tau=8, xi=25, shape=(12, 16)):
    """Motion history images, averaged over the cells of a coarse grid and flattened: a row for each frame."""
    history = motion_history_image(video, tau=tau, xi=xi)
    rows, columns = (_averaging(side, cells) for side, cells in zip(history.shape[1:], shape, strict=True))
    return (rows @ history @ columns.T).reshape(len(history), -1)


def video_scores(frame_proba, *, floor=1e-3):
    """Sum over the frames of a video of the log probability of each class (Goussies et al. 2014, (2)). O(M k)."""
    return np.log(np.maximum(frame_proba, floor / np.shape(frame_proba)[1])).sum(axis=0)


def classify_video(model, frames, *, floor=1e-3):
    """Label of a video from the frames' probabilities under a classifier."""
    return model.classes_[np.argmax(video_scores(model.predict_proba(frames), floor=floor))]


def levenshtein(a, b):
    """Least number of insertions, deletions and replacements that turn one sequence into the other. O(|a| |b|)."""
    a, b = list(a), list(b)
    if not a or not b:
        return len(a) + len(b)
    codes = encode_labels(a + b, name="a and b")[1]
    return int(_edits(codes[: len(a)], codes[len(a) :]))


def sequence_error(truth, predicted):
    """Total edit distance over the total number of true labels, which can exceed 1: the score of ChaLearn."""
    edits = sum(levenshtein(a, b) for a, b in zip(truth, predicted, strict=True))
    return edits / sum(len(labels) for labels in truth)


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
