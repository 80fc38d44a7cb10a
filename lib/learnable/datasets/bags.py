"""Bags of instances with a label for the bag only: digits, and scenes made of regions."""

from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = ["make_digit_bags", "make_scene_bags"]


def make_digit_bags(n_bags=100, *, rule="conjunction", part="train", random_state=None):
    """Bags of handwritten digits, positive by a rule on which digits they hold (Chen and Wang 2004, stand-in).

    Instances are scikit-learn's digits, reduced to eight principal components and divided by twice their overall
    standard deviation; even-numbered images serve for training, odd-numbered ones for testing.

    Parameters
    ----------
    n_bags : int, default=100
    rule : {"conjunction", "loose", "classical"}, default="conjunction"
        * "conjunction": a positive bag has one 0, one 1 and 2 to 4 others; a negative has exactly one of 0 and 1 and 3
          to 5 others.
        * "loose": the same, but a negative may have neither (a third each).
        * "classical": positive iff a 0 appears; 4 to 6 instances.
    part : {"train", "test"}, default="train"
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (instances), ``bags`` (bag of each instance), ``target`` (of the bags), ``digit`` (of the instances).

    Examples
    --------
    >>> made = make_digit_bags(10, random_state=0)
    >>> made.target.sum(), made.data.shape[1]
    (np.int64(5), 8)
    """
    check_choice(rule, "rule", ("conjunction", "loose", "classical"))
    check_choice(part, "part", ("train", "test"))
    n, rng = check_size(n_bags, "n_bags"), check_rng(random_state)
    reduced, digit = _digit_components()
    half = np.arange(len(reduced)) % 2 == (part == "test")
    pools = [np.flatnonzero(half & (digit == k)) for k in range(10)]
    y = rng.permutation(np.arange(n) % 2)
    chosen, bags = [], []
    for bag, positive in enumerate(y):
        if rule == "classical":
            wanted = rng.integers(1, 10, size=int(rng.integers(4, 7)))
            wanted[0] = 0 if positive else wanted[0]
        elif positive:
            wanted = np.concatenate([[0, 1], rng.integers(2, 10, size=int(rng.integers(2, 5)))])
        else:
            marks = [[0], [1]] + ([[]] if rule == "loose" else [])
            mark = marks[int(rng.integers(len(marks)))]
            wanted = np.concatenate([mark, rng.integers(2, 10, size=int(rng.integers(3, 6)))]).astype(int)
        chosen += [int(rng.choice(pools[int(k)])) for k in wanted]
        bags += [bag] * len(wanted)
    chosen = np.array(chosen)
    return Bunch(data=reduced[chosen], bags=np.array(bags), target=y, digit=digit[chosen], index=chosen)


@cache
def _digit_components():
    """Eight principal components of the digits, the largest entry of each positive, and the labels."""
    digits = load_digits()
    centred = digits.data - digits.data.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, :-9:-1]
    reduced = centred @ axes
    reduced *= np.sign(reduced[np.abs(reduced).argmax(axis=0), np.arange(8)])
    return reduced / (2 * reduced.std()), digits.target


_REGIONS = {
    "sky": ([0.45, 0.6, 0.9], 0.0, 0.01),
    "snow": ([0.92, 0.93, 0.96], 0.4, 0.02),
    "sand": ([0.82, 0.72, 0.5], 0.8, 0.05),
    "water": ([0.2, 0.4, 0.55], 1.6, 0.08),
    "rock": ([0.45, 0.42, 0.4], 2.2, 0.1),
    "grass": ([0.3, 0.5, 0.2], 2.8, 0.12),
    "people": ([0.75, 0.45, 0.4], 1.2, 0.15),
}
_CATEGORIES = ("mountain", "skiing", "beach")


def make_scene_bags(n_images=90, *, shape=(64, 96), feature_noise=0.05, random_state=None):
    """Pictures composed of textured regions; categories are conjunctions of region kinds (stand-in for COREL).

    mountain: rock and sky, no people; skiing: snow and people; beach: people and (water or sand). Two to five
    horizontal or blob-shaped regions, each coloured noise with its kind's mean colour and grating.

    Parameters
    ----------
    n_images : int, default=90
    shape : tuple of int, default=(64, 96)
    feature_noise : float, default=0.05
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``images`` (n, rows, columns, 3); ``data``: one row a region (mean colour, grating orientation as cosine and
        sine, contrast, share of the area, height), with noise; ``bags``; ``region`` (its kind); ``target`` (category),
        ``target_names``, ``region_names``.

    Examples
    --------
    >>> made = make_scene_bags(6, shape=(16, 24), random_state=0)
    >>> made.images.shape, made.target_names
    ((6, 16, 24, 3), ['mountain', 'skiing', 'beach'])
    """
    n, rng = check_size(n_images, "n_images"), check_rng(random_state)
    rows, columns = (check_size(s, "shape", low=8) for s in shape)
    feature_noise = check_scalar(feature_noise, "feature_noise", low=0)
    names = list(_REGIONS)
    y = rng.permutation(np.arange(n) % 3)
    images, features, bags, kinds = np.empty((n, rows, columns, 3)), [], [], []
    v, u = np.mgrid[:rows, :columns]
    for image, category in enumerate(y):
        if category == 0:
            wanted = ["sky", "rock"] + list(rng.permutation(["grass", "snow", "water"])[: rng.integers(0, 2)])
        elif category == 1:
            wanted = ["snow", "people"] + list(rng.permutation(["sky", "rock"])[: rng.integers(0, 3)])
        else:
            wanted = ["people", rng.choice(["water", "sand"])] + (["sky"] if rng.random() < 0.6 else [])
        bands = [k for k in wanted if k != "people"]
        cuts = np.sort(rng.dirichlet(np.full(len(bands), 6.0)).cumsum()[:-1]) * rows
        owner = np.searchsorted(cuts, np.arange(rows), side="right")[:, None] * np.ones((1, columns), dtype=int)
        if "people" in wanted:
            for _ in range(int(rng.integers(2, 6))):
                centre = rng.uniform([rows * 0.4, 0], [rows, columns])
                tall = rng.uniform(0.08, 0.18) * rows
                owner[((v - centre[0]) / tall) ** 2 + ((u - centre[1]) / (tall / 2)) ** 2 < 1] = len(bands)
            bands.append("people")
        for number, kind in enumerate(bands):
            mask = owner == number
            if not mask.any():
                continue
            colour, angle, contrast = _REGIONS[kind]
            tint = np.array(colour) + 0.04 * rng.standard_normal(3)
            grating = contrast * np.sin(0.9 * (u * np.cos(angle) + v * np.sin(angle)) + rng.uniform(0, 2 * np.pi))
            patch = tint + grating[..., None] + 0.5 * contrast * rng.standard_normal((rows, columns, 1))
            images[image][mask] = patch[mask]
            row = [*tint, np.cos(2 * angle), np.sin(2 * angle), 5 * contrast, mask.mean(), v[mask].mean() / rows]
            features.append(np.array(row) + feature_noise * rng.standard_normal(8))
            bags.append(image)
            kinds.append(names.index(kind))
    truth = {"region": np.array(kinds), "region_names": names, "target_names": list(_CATEGORIES)}
    return Bunch(images=np.clip(images, 0, 1), data=np.array(features), bags=np.array(bags), target=y, **truth)
