"""Two classes with a sharp boundary, and labels flipped with a known probability, which is the Bayes risk.

Every ``Bunch`` has ``clean``, the labels before flipping, where labels are flipped at all.
"""

import numpy as np
from scipy import stats

from learnable.datasets._simulate import answer, check_size
from learnable.validation import check_rng, check_scalar

__all__ = [
    "make_checkerboard",
    "make_circle",
    "make_intervals",
    "make_margin_sphere",
    "make_nested_spheres",
    "make_spirals",
    "make_tanh_majority",
    "make_threshold",
    "make_two_balls",
]


def _flip(y, flip, rng):
    """Replace 0/1 labels by the other with probability `flip`."""
    return np.where(rng.random(len(y)) < flip, 1 - y, y)


def make_checkerboard(n_samples=400, *, cells=4, d=2, flip=0.0, random_state=None, return_X_y=False):
    """Uniform points in the cube, labelled by the parity of their cell among cells^d, then flipped.

    Bayes risk: `flip`.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows.
    cells : int, default=4
    d : int, default=2
    flip : float, default=0.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_checkerboard(6, flip=0.1, random_state=0).bayes_risk
    0.1
    """
    n, d, rng = check_size(n_samples), check_size(d, "d"), check_rng(random_state)
    cells, flip = check_size(cells, "cells"), check_scalar(flip, "flip", low=0, high=0.5)
    X = rng.random((n, d))
    clean = np.minimum((X * cells).astype(int), cells - 1).sum(axis=1) % 2
    return answer(X, _flip(clean, flip, rng), return_X_y, bayes_risk=flip, clean=clean)


def make_circle(n_samples=100, *, radius_squared=0.7, flip=0.0, random_state=None, return_X_y=False):
    """Uniform points of [-1, 1]^2, class 1 outside the circle |x|^2 = 0.7 (Chapelle 2004). Bayes risk: `flip`.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    radius_squared : float, default=0.7
    flip : float, default=0.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> X, y = make_circle(50, random_state=0, return_X_y=True)
    >>> bool(((X**2).sum(axis=1)[y == 0] < 0.7).all())
    True
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    radius_squared = check_scalar(radius_squared, "radius_squared", low=0, closed="neither")
    flip = check_scalar(flip, "flip", low=0, high=0.5)
    X = rng.uniform(-1, 1, (n, 2))
    clean = ((X**2).sum(axis=1) > radius_squared).astype(int)
    return answer(X, _flip(clean, flip, rng), return_X_y, bayes_risk=flip, clean=clean)


def make_intervals(n_samples=500, *, n_intervals=3, flip=0.1, random_state=None, return_X_y=False):
    """x uniform on [0, 1]; class 1 on the even-numbered of 2 k0 + 1 equal segments, flipped (Lember 2012, ch. 2).

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    n_intervals : int, default=3
    flip : float, default=0.1
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        ``bayes_risk`` = flip, and ``class_risk[k]``, the least risk of a union of k intervals,
        flip + (1 - 2 flip) (k0 - k)_+ / (2 k0 + 1), for k = 0..k0.

    Examples
    --------
    >>> make_intervals(10, random_state=0).class_risk.round(4).tolist()
    [0.4429, 0.3286, 0.2143, 0.1]
    """
    n, k0, rng = check_size(n_samples), check_size(n_intervals, "n_intervals"), check_rng(random_state)
    flip = check_scalar(flip, "flip", low=0, high=0.5)
    X = rng.random((n, 1))
    segments = 2 * k0 + 1
    clean = (np.floor(X[:, 0] * segments).astype(int) % 2 == 1).astype(int)
    class_risk = flip + (1 - 2 * flip) * np.arange(k0, -1, -1) / segments
    edges = np.arange(1, segments).reshape(-1, 2) / segments
    truth = {"bayes_risk": flip, "class_risk": class_risk, "intervals": edges, "clean": clean}
    return answer(X, _flip(clean, flip, rng), return_X_y, **truth)


def make_margin_sphere(n_samples=1000, *, d=200, margin=0.5, flip=0.02, random_state=None, return_X_y=False):
    """Unit vectors with a margin: x = (margin y, sqrt(1 - margin^2) u), u uniform on the sphere of R^(d-1), y = +-1.

    Labels (0, 1) are flipped with probability `flip`, the Bayes risk. The margin does not depend on d.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    d : int, default=200
    margin : float, default=0.5
    flip : float, default=0.02
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> X = make_margin_sphere(4, d=10, random_state=0).data
    >>> np.linalg.norm(X, axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    n, d, rng = check_size(n_samples), check_size(d, "d", low=2), check_rng(random_state)
    margin = check_scalar(margin, "margin", low=0, high=1)
    flip = check_scalar(flip, "flip", low=0, high=0.5)
    clean = rng.integers(2, size=n)
    u = rng.standard_normal((n, d - 1))
    u *= np.sqrt(1 - margin**2) / np.linalg.norm(u, axis=1, keepdims=True)
    X = np.column_stack([margin * (2 * clean - 1), u])
    return answer(X, _flip(clean, flip, rng), return_X_y, bayes_risk=flip, margin=margin, clean=clean)


def make_nested_spheres(n_samples=2000, *, d=10, flip=0.0, random_state=None, return_X_y=False):
    """x ~ N(0, I_d), class 1 iff |x|^2 exceeds the median of chi-square(d), 9.34 for d = 10. Bayes risk: `flip`.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of rows.
    d : int, default=10
    flip : float, default=0.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> round(make_nested_spheres(4, random_state=0).threshold, 2)
    9.34
    """
    n, d, rng = check_size(n_samples), check_size(d, "d"), check_rng(random_state)
    flip = check_scalar(flip, "flip", low=0, high=0.5)
    X = rng.standard_normal((n, d))
    threshold = float(stats.chi2.median(d))
    clean = ((X**2).sum(axis=1) > threshold).astype(int)
    return answer(X, _flip(clean, flip, rng), return_X_y, bayes_risk=flip, clean=clean, threshold=threshold)


def make_spirals(n_samples=400, *, noise=0.1, random_state=None, return_X_y=False):
    """Two arms of a spiral: t ~ pi U(1/2, 3), r = t / pi, (r cos(t + a pi), r sin(t + a pi)) + noise N(0, I), arm a.

    Goussies, Ubalde and Mejail (2014). No Bayes risk in closed form; ``t`` holds the place on the arm.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows.
    noise : float, default=0.1
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_spirals(7, random_state=0).data.shape
    (7, 2)
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    noise = check_scalar(noise, "noise", low=0)
    y = rng.permutation(np.arange(n) % 2)
    t = np.pi * rng.uniform(0.5, 3, n)
    angle = t + np.pi * y
    X = (t / np.pi)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return answer(X + noise * rng.standard_normal((n, 2)), y, return_X_y, t=t, clean=X)


def make_tanh_majority(n_samples=300, *, d=5, random_state=None, return_X_y=False):
    """x_i = tanh(U[-1, 1]), class 1 iff their sum is positive (Chapelle 2004). Separable: Bayes risk 0.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    d : int, default=5
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> X, y = make_tanh_majority(20, random_state=0, return_X_y=True)
    >>> bool(((X.sum(axis=1) > 0) == y).all())
    True
    """
    n, d, rng = check_size(n_samples), check_size(d, "d"), check_rng(random_state)
    X = np.tanh(rng.uniform(-1, 1, (n, d)))
    return answer(X, (X.sum(axis=1) > 0).astype(int), return_X_y, bayes_risk=0.0)


def make_threshold(n_samples=100, *, threshold=0.4, flip=0.2, random_state=None, return_X_y=False):
    """x uniform on (0, 1), class 1 iff x > threshold, flipped with probability `flip`, the Bayes risk.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    threshold : float, default=0.4
    flip : float, default=0.2
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_threshold(3, random_state=0).bayes_risk
    0.2
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    threshold = check_scalar(threshold, "threshold", low=0, high=1)
    flip = check_scalar(flip, "flip", low=0, high=0.5)
    X = rng.random((n, 1))
    clean = (X[:, 0] > threshold).astype(int)
    return answer(X, _flip(clean, flip, rng), return_X_y, bayes_risk=flip, threshold=threshold, clean=clean)


def make_two_balls(n_samples=200, *, d=2, gap=1.0, random_state=None, return_X_y=False):
    """Uniform points in two unit balls whose centres are 2 + gap apart on the first axis. Bayes risk 0.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    d : int, default=2
    gap : float, default=1.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_two_balls(5, d=3, random_state=0).data.shape
    (5, 3)
    """
    n, d, rng = check_size(n_samples), check_size(d, "d"), check_rng(random_state)
    gap = check_scalar(gap, "gap", low=0)
    y = rng.integers(2, size=n)
    X = rng.standard_normal((n, d))
    X *= (rng.random(n) ** (1 / d) / np.linalg.norm(X, axis=1))[:, None]
    X[:, 0] += (2 * y - 1) * (1 + gap / 2)
    return answer(X, y, return_X_y, bayes_risk=0.0)
