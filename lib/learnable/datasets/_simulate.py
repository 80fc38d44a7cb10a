"""What all simulators share: checks of sizes, and the form of the answer."""

import numpy as np
from sklearn.utils import Bunch

from learnable.validation import check_scalar

__all__ = ["answer", "check_lengths", "check_size", "random_orthogonal"]


def check_size(n, name="n_samples", *, low=1):
    """Return a whole number of at least `low` and less than 2^31: a larger one is a slip that would fill the memory."""
    return check_scalar(n, name, low=low, high=2**31 - 1, integer=True)


def check_lengths(length, n, rng):
    if np.ndim(length) == 0:
        return np.full(n, check_size(length, "length"))
    low, high = (check_size(v, "length") for v in length)
    if high < low:
        raise ValueError(f"length must be (low, high) with low <= high, got {length}")
    return rng.integers(low, high + 1, size=n)


def answer(data, target, return_X_y=False, **truth):
    """A ``Bunch`` of data, target and what the simulation knows, or the pair (data, target)."""
    return (data, target) if return_X_y else Bunch(data=data, target=target, **truth)


def random_orthogonal(d, rng):
    """A rotation or reflection, uniform over the orthogonal group."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return q * np.sign(np.diag(r))
