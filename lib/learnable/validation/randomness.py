"""One way to give randomness: `random_state` is None, an int or a ``numpy.random.Generator``."""

from numbers import Integral

import numpy as np

__all__ = ["check_rng", "check_seed"]


def check_rng(random_state, name="random_state"):
    """Return a ``numpy.random.Generator``: a new one from an int or from entropy, or the one that was given.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator
        None draws entropy from the system, an int that is not negative makes the same stream each time, and a
        Generator is used as it is: it moves on, so that a second call continues where the first one stopped.
    name : str, default="random_state"
        The argument's name, for the message.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> check_rng(7).integers(100, size=3).tolist() == check_rng(7).integers(100, size=3).tolist()
    True
    >>> check_rng(-1)
    Traceback (most recent call last):
    ...
    ValueError: random_state must be None, a non-negative integer or a numpy.random.Generator, got -1
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool | np.bool_) and random_state >= 0
    if random_state is None or whole:
        return np.random.default_rng(random_state)
    message = f"{name} must be None, a non-negative integer or a numpy.random.Generator"
    if isinstance(random_state, np.random.RandomState):
        raise TypeError(f"{message}; in place of RandomState(7) write 7 or numpy.random.default_rng(7)")
    raise ValueError(f"{message}, got {random_state!r}")


def check_seed(random_state, name="random_state"):
    """Return None or an int for a library that takes no Generator: an int stays, a Generator draws one.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator
    name : str, default="random_state"
        The argument's name, for the message.

    Returns
    -------
    int or None

    Examples
    --------
    >>> check_seed(7), check_seed(None)
    (7, None)
    """
    rng = check_rng(random_state, name)
    if isinstance(random_state, np.random.Generator):
        return int(rng.integers(2**31))
    return None if random_state is None else int(random_state)
