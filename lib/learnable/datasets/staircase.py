"""Two classes whose first features differ more and more, among many that do not differ."""

import numpy as np
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_rng

__all__ = ["make_staircase"]


def make_staircase(n_samples=50, n_features=1000, *, n_informative=10, random_state=None):
    """Labels ±1 by a fair coin; feature i is y N(-i, 1) for i = 1, ..., `n_informative`, the others are N(0, 1).

    The synthetic data of Bhattacharyya (2004, Section 5): the last informative feature separates best, the means of the
    classes lie 2 i standard deviations apart. Both labels occur.

    Parameters
    ----------
    n_samples : int, default=50
        Number of rows, at least two.
    n_features : int, default=1000
        Number of columns.
    n_informative : int, default=10
        How many of them differ, at most `n_features`.
    random_state : None, int or Generator
        Source of randomness.

    Returns
    -------
    Bunch
        ``data`` of shape (n_samples, n_features), ``target`` of -1 and 1, and ``informative``, the columns that differ.

    Examples
    --------
    >>> made = make_staircase(random_state=0)
    >>> made.data.shape, made.informative.tolist()[-1], bool(made.data[made.target == 1, 9].max() < 0)
    ((50, 1000), 9, True)
    """
    n_samples, n_features = check_size(n_samples, "n_samples"), check_size(n_features, "n_features")
    n_informative, rng = check_size(n_informative, "n_informative"), check_rng(random_state)
    if n_samples < 2:
        raise ValueError("n_samples must be at least 2, one for each class")
    if n_informative > n_features:
        raise ValueError(f"n_informative must be at most n_features, {n_features}, got {n_informative}")
    y = np.where(rng.random(n_samples) < 0.5, 1, -1)
    if abs(y.sum()) == n_samples:
        y[0] = -y[0]
    X = rng.normal(size=(n_samples, n_features))
    X[:, :n_informative] -= np.arange(1, n_informative + 1)
    X[:, :n_informative] *= y[:, None]
    return Bunch(data=X, target=y, informative=np.arange(n_informative))
