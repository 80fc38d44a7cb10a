"""Several labels at once, with the joint law of the labels known where the simulation defines it."""

import numpy as np
from scipy import special
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from learnable.datasets._simulate import answer, check_size
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = ["make_label_laws", "make_label_prototypes", "make_or_chain", "make_tagged_digits"]


def make_label_laws(n_samples=1000, *, m=25, kind="chain", random_state=None):
    """Label vectors from one random law (Waegeman et al. 2014, Section 6); there are no inputs.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    m : int, default=25
        Number of labels.
    kind : {"independent", "chain"}, default="chain"
        P(y_i = 1) = expit(w_i), or P(y_i = 1 | y_1..y_{i-1}) = expit(w_i0 + sum_{j<i} 2 w_ij (y_j - 1/2)), with
        weights N(0, 3), 3 being the variance.
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``target`` (n, m), ``weights`` (a vector, or a lower triangular matrix with w_i0 on the diagonal),
        ``log_probability`` of each row.

    Examples
    --------
    >>> made = make_label_laws(4, m=3, random_state=0)
    >>> made.target.shape, made.log_probability.shape
    ((4, 3), (4,))
    """
    check_choice(kind, "kind", ("independent", "chain"))
    n, m, rng = check_size(n_samples), check_size(m, "m"), check_rng(random_state)
    weights = np.sqrt(3) * (rng.standard_normal(m) if kind == "independent" else np.tril(rng.standard_normal((m, m))))
    y, logs = np.zeros((n, m), dtype=int), np.zeros(n)
    for i in range(m):
        score = weights[i] if kind == "independent" else weights[i, i] + (2 * y[:, :i] - 1) @ weights[i, :i]
        y[:, i] = rng.random(n) < special.expit(score)
        logs += special.log_expit(np.where(y[:, i], score, -score))
    return Bunch(target=y, weights=weights, log_probability=logs)


def make_label_prototypes(
    n_samples=1000, *, m=20, d=30, n_prototypes=30, flip=0.05, noise=1.0, random_state=None, return_X_y=False
):
    """Correlated labels: one of `n_prototypes` label sets with flips, and inputs around the prototype's centre.

    Prototypes have labels with probability 0.2; centres N(0, I); x = centre + noise N(0, I).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    m : int, default=20
    d : int, default=30
    n_prototypes : int, default=30
    flip : float, default=0.05
    noise : float, default=1.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        ``data``, ``target``, ``prototype`` (index), ``prototypes``, ``centres``, ``marginals`` (exact P(y_j = 1 | x)).

    Examples
    --------
    >>> made = make_label_prototypes(5, m=4, random_state=0)
    >>> made.target.shape, made.marginals.shape
    ((5, 4), (5, 4))
    """
    n, m, d = check_size(n_samples), check_size(m, "m"), check_size(d, "d")
    k, rng = check_size(n_prototypes, "n_prototypes"), check_rng(random_state)
    flip = check_scalar(flip, "flip", low=0, high=1)
    noise = check_scalar(noise, "noise", low=0, closed="neither")
    prototypes, centres = (rng.random((k, m)) < 0.2).astype(int), rng.standard_normal((k, d))
    which = rng.integers(k, size=n)
    X = centres[which] + noise * rng.standard_normal((n, d))
    y = prototypes[which] ^ (rng.random((n, m)) < flip)
    distance = ((X[:, None] - centres) ** 2).sum(axis=-1)
    posterior = special.softmax(-distance / (2 * noise**2), axis=1)
    marginals = posterior @ np.where(prototypes, 1 - flip, flip)
    truth = {"prototype": which, "prototypes": prototypes, "centres": centres, "marginals": marginals}
    return answer(X, y, return_X_y, **truth)


def make_or_chain(n_samples=150, *, m=8, cut=0.35, random_state=None, return_X_y=False):
    """Labels that build on each other: y_i = OR of the half-planes 1..i (Cousins 2014, stand-in for CIRCLE).

    x is uniform in the unit disc, raw_i = 1{<x, (cos t_i, sin t_i)> >= cut}, t_i = i pi / m, i = 1..m, and
    y_i = max(raw_1, ..., raw_i). Inputs are (x1, x2, 1), scaled to unit length.

    Parameters
    ----------
    n_samples : int, default=150
        Number of rows.
    m : int, default=8
    cut : float, default=0.35
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> X, Y = make_or_chain(6, random_state=0, return_X_y=True)
    >>> X.shape, bool((np.diff(Y, axis=1) >= 0).all())
    ((6, 3), True)
    """
    n, m, rng = check_size(n_samples), check_size(m, "m"), check_rng(random_state)
    cut = check_scalar(cut, "cut", low=-1, high=1)
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.random(n))
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    turn = np.arange(1, m + 1) * np.pi / m
    raw = points @ np.vstack([np.cos(turn), np.sin(turn)]) >= cut
    X = np.column_stack([points, np.ones(n)])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return answer(X, np.maximum.accumulate(raw, axis=1).astype(int), return_X_y, points=points, raw=raw)


def make_tagged_digits(*, noise=1.5, silent=0.18, random_state=None):
    """scikit-learn's digits with noisy pixels and simulated tags: images and text of one object (stand-in for Flickr).

    Vocabulary of 50: three tags for each digit (30) and 20 generic. With probability `silent` there is no text; else
    1 + Poisson(4) words, each from the digit's three with probability 0.35, any of the 30 with 0.10, generic with 0.55.
    Pixels are standardised, then N(0, noise^2) is added.

    Parameters
    ----------
    noise : float, default=1.5
    silent : float, default=0.18
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``images`` (1797, 64), ``tags`` (counts, 1797 x 50), ``target`` (the digit), ``attributes`` (1797 x 3: odd,
        has a loop, above four), ``clean`` (pixels without noise).

    Examples
    --------
    >>> made = make_tagged_digits(random_state=0)
    >>> made.images.shape, made.tags.shape
    ((1797, 64), (1797, 50))
    """
    rng, noise = check_rng(random_state), check_scalar(noise, "noise", low=0)
    silent = check_scalar(silent, "silent", low=0, high=1)
    digits = load_digits()
    spread = digits.data.std(axis=0)
    clean = (digits.data - digits.data.mean(axis=0)) / np.where(spread > 0, spread, 1)
    y, n = digits.target, len(digits.target)
    words = np.where(rng.random(n) < silent, 0, 1 + rng.poisson(4, n))
    owner = np.repeat(np.arange(n), words)
    total = len(owner)
    source = np.searchsorted([0.35, 0.45], rng.random(total), side="right")
    own, specific = 3 * y[owner] + rng.integers(3, size=total), rng.integers(30, size=total)
    generic = 30 + rng.integers(20, size=total)
    tags = np.zeros((n, 50))
    np.add.at(tags, (owner, np.choose(source, [own, specific, generic])), 1)
    attributes = np.column_stack([y % 2, np.isin(y, [0, 6, 8, 9]), y > 4]).astype(int)
    images = clean + noise * rng.standard_normal(clean.shape)
    return Bunch(images=images, tags=tags, target=y, attributes=attributes, clean=clean)
