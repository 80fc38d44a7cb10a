"""Edges by their number, and the three kinds of data that the chapter draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import affine_transform
from sklearn.utils import Bunch

from learnable.datasets import load, load_mnist
from learnable.features.cmim_selection.binary_features import NORMALS
from learnable.validation import Result, check_rng, check_scalar


@dataclass(frozen=True)
class Edge(Result):
    """Place and kind of an edge feature, as `edge_at` tells it."""

    row: int
    column: int
    step: tuple
    brighter: bool
    tolerance: int


def edge_at(index, shape):
    """What a column of `edge_features` looks for."""
    index = check_scalar(index, "index", low=0, integer=True)
    height, width = (check_scalar(size, "shape", low=1, integer=True) for size in shape)
    place, column = divmod(index, width)
    place, row = divmod(place, height)
    tolerance, kind = divmod(place, 8)
    step = NORMALS[kind // 2]
    return Edge(row, column, (int(step[0]), int(step[1])), kind % 2 == 0, tolerance + 1)


DIGITS = {"3 or 8": (3, 8), "4 or 9": (4, 9)}


def draw_images(task="faces", n=500, *, random_state=None):
    """Training and test pictures of 28 by 28 pixels for one round (Fleuret 2004, Sec. 5.1.1, with other data)."""
    rng = check_rng(random_state)
    n = check_scalar(n, "n", low=2, high=np.inf if task == "faces" else 500, integer=True)
    if task == "faces":
        stored = load("lfw_faces")
        images, target = np.asarray(stored.images, dtype=float), np.asarray(stored.target == 1, dtype=np.int64)
        names = ("background", "face")
    elif task in DIGITS:
        stored = load_mnist(digits=DIGITS[task])
        images, target = stored.images.astype(float), (stored.target == DIGITS[task][1]).astype(np.int64)
        names = tuple(str(digit) for digit in DIGITS[task])
    else:
        raise ValueError(f"task: one of 'faces', {', '.join(map(repr, DIGITS))} is expected, not {task!r}")
    parts = [[], []]
    for c in (0, 1):
        rows = rng.permutation(np.flatnonzero(target == c))
        for part, half in enumerate((rows[: len(rows) // 2], rows[len(rows) // 2 :])):
            count = n // 2 + (n % 2) * c
            parts[part].append(half[np.arange(count) % len(half)])
    drawn = Bunch(names=names)
    for name, rows in zip(("train", "test"), parts, strict=True):
        rows = rng.permutation(np.concatenate(rows))
        drawn[name] = np.stack([_pose(images[i], rng) for i in rows]) if task == "faces" else images[rows]
        drawn[name + "_target"] = target[rows]
    return drawn


def make_rare_actives(n_samples=1909, *, n_features=2500, n_groups=10, share=0.022, random_state=None):
    """Sparse binary columns with few positives and groups of three near copies, in place of the Thrombin data."""
    rng = check_rng(random_state)
    n = check_scalar(n_samples, "n_samples", low=10, integer=True)
    n_groups = check_scalar(n_groups, "n_groups", low=1, integer=True)
    d = check_scalar(n_features, "n_features", low=3 * n_groups, integer=True)
    share = check_scalar(share, "share", low=0, high=1, closed="neither")
    target = np.zeros(n, dtype=np.int64)
    target[rng.permutation(n)[: max(1, round(share * n))]] = 1
    data = np.empty((n, d), dtype=bool)
    for start in range(0, d, 4096):
        block = data[:, start : start + 4096]
        density = rng.uniform(0.005, 0.01, block.shape[1]).astype(np.float32)
        block[:] = rng.random(block.shape, dtype=np.float32) < density
    for g in range(n_groups):
        trait = rng.random(n) < np.where(target == 1, 0.3 + 0.3 * (n_groups - g) / n_groups, 0.03)
        for copy in range(3):
            data[:, 3 * g + copy] = trait ^ (rng.random(n) < 0.01)
    return Bunch(data=data, target=target, groups=np.arange(3 * n_groups).reshape(n_groups, 3))


def make_two_populations(n_samples=1000, *, n_features=400, minority=0.2, random_state=None):
    """A positive class made of two populations that share no informative column (Fleuret 2004, Sec. 7)."""
    rng = check_rng(random_state)
    n = check_scalar(n_samples, "n_samples", low=10, integer=True)
    d = check_scalar(n_features, "n_features", low=2, integer=True)
    minority = check_scalar(minority, "minority", low=0, high=1, closed="neither")
    population = np.zeros(n, dtype=np.int64)
    population[: n // 2] = 1
    population[: round(minority * (n // 2))] = 2
    population = rng.permutation(population)
    chance = np.full((n, d), 0.2)
    chance[population == 1, : d // 2] = 0.5
    chance[population == 2, d // 2 :] = 0.5
    data = rng.random((n, d)) < chance
    return Bunch(data=data, target=(population > 0).astype(np.int64), population=population)


def _pose(image, rng):
    """A picture of 28 by 28 pixels, turned by up to 20 degrees, scaled by up to a tenth and moved by up to a pixel."""
    angle, scale, shift = rng.uniform(-20, 20), rng.uniform(0.9, 1.1), rng.uniform(-1, 1, 2)
    turn = np.deg2rad(angle)
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) * (image.shape[0] / 28) / scale
    centre = (np.array(image.shape) - 1) / 2
    offset = centre - matrix @ (13.5 + shift)
    posed = affine_transform(image, matrix, offset=offset, output_shape=(28, 28), order=1, mode="nearest")
    # Whole grey levels: interpolation leaves differences of the last digit in flat regions, and they would be edges.
    return np.rint(255 * posed)
