"""What all simulators share: the random generator, checks of sizes, and the form of the answer."""

import numpy as np
from sklearn.utils import Bunch

from learnable.validation import check_scalar

__all__ = ["answer", "check_choice", "check_size", "generator", "random_orthogonal"]


def generator(random_state):
    """Turn an int, a ``Generator``, a ``RandomState``, a ``SeedSequence`` or None into a ``Generator``."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state._bit_generator)
    if isinstance(random_state, bool) or (isinstance(random_state, (int, np.integer)) and random_state < 0):
        raise ValueError(f"random_state must be None, a non-negative integer or a Generator, got {random_state!r}")
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        message = f"random_state must be None, a non-negative integer or a Generator, got {random_state!r}"
        raise ValueError(message) from None


def check_size(n, name="n_samples", *, low=1):
    """Return a whole number of at least `low` and less than 2^31: a larger one is a slip that would fill the memory."""
    return check_scalar(n, name, low=low, high=2**31 - 1, integer=True)


def check_choice(value, name, choices):
    """Return `value` if it is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def answer(data, target, return_X_y=False, **truth):
    """A ``Bunch`` of data, target and what the simulation knows, or the pair (data, target)."""
    return (data, target) if return_X_y else Bunch(data=data, target=target, **truth)


def random_orthogonal(d, rng):
    """A rotation or reflection, uniform over the orthogonal group."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return q * np.sign(np.diag(r))
