"""Checks of single values: numbers in an interval, one of a few words, objects with certain attributes."""

from numbers import Integral, Rational, Real

import numpy as np

__all__ = [
    "check_bool",
    "check_callable",
    "check_choice",
    "check_has",
    "check_instance",
    "check_number_or_word",
    "check_scalar",
]


def check_scalar(value, name, *, low=-np.inf, high=np.inf, closed="both", integer=False):
    """Return `value` as a float (or int) after checking that it lies in an interval.

    Parameters
    ----------
    value : number
        Booleans, NaN and infinities are refused; an end of the interval that is infinite is never
        attained.
    name : str
        The argument's name, for the message.
    low, high : float, default=-inf, inf
        The ends of the interval.
    closed : {"both", "left", "right", "neither"}, default="both"
        Which ends belong to it.
    integer : bool, default=False
        Accept whole numbers of 64 bits only, and return an ``int``.

    Returns
    -------
    float or int

    Examples
    --------
    >>> check_scalar(0.25, "coverage", low=0, high=1, closed="right")
    0.25
    >>> check_scalar(0, "coverage", low=0, high=1, closed="right")
    Traceback (most recent call last):
    ...
    ValueError: coverage must be a number in (0, 1], got 0
    """
    check_choice(closed, "closed", ("both", "left", "right", "neither"))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    accepted = isinstance(value, Integral if integer else Real) and not isinstance(value, bool | np.bool_)
    if accepted:
        above = value >= low if closed in ("both", "left") else value > low
        below = value <= high if closed in ("both", "right") else value < high
        accepted = bool(above and below and -np.inf < value < np.inf)
        # An int or a Fraction may be finite and still too large for a float, or for the int64 of compiled code.
        accepted = accepted and (-(2**63) <= value < 2**63 if integer else _fits_a_float(value))
    if not accepted:
        raise ValueError(f"{name} must be {_interval(low, high, closed, integer)}, got {_shown(value)}")
    return int(value) if integer else float(value)


def check_number_or_word(value, name, words, *, low=-np.inf, high=np.inf, closed="both", integer=False):
    """Return one of a few words as it is, or a number in an interval as :func:`check_scalar` does.

    Parameters
    ----------
    value : str, number or None
    name : str
        The argument's name, for the message.
    words : iterable of str or None
        What is accepted beside numbers.
    low, high, closed, integer
        The interval, as in :func:`check_scalar`.

    Returns
    -------
    str, None, float or int

    Examples
    --------
    >>> check_number_or_word("log", "delta", ["log"], low=0, high=1)
    'log'
    >>> check_number_or_word(2, "delta", ["log"], low=0, high=1)
    Traceback (most recent call last):
    ...
    ValueError: delta must be 'log' or a number in [0, 1], got 2
    """
    also = _interval(low, high, closed, integer)
    if value is None or isinstance(value, str):
        return check_choice(value, name, words, also=also)
    try:
        return check_scalar(value, name, low=low, high=high, closed=closed, integer=integer)
    except ValueError:
        raise ValueError(f"{name} must be {_listed(words, also)}, got {_shown(value)}") from None


def check_bool(value, name):
    """Return True or False, of Python or numpy, as a ``bool``; numbers are refused.

    Parameters
    ----------
    value : bool
    name : str
        The argument's name, for the message.

    Examples
    --------
    >>> check_bool(np.True_, "standardize")
    True
    >>> check_bool(1, "standardize")
    Traceback (most recent call last):
    ...
    ValueError: standardize must be True or False, got 1
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {_shown(value)}")
    return bool(value)


def check_instance(value, name, kind):
    """Return `value` if it is an instance of a class.

    Parameters
    ----------
    value : object
    name : str
        The argument's name, for the message.
    kind : type
        The class, or a base of what is accepted.

    Examples
    --------
    >>> check_instance("two states", "hmm", dict)
    Traceback (most recent call last):
    ...
    TypeError: hmm must be of type dict, got str
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be of type {kind.__name__}, got {type(value).__name__}")
    return value


def check_callable(value, name):
    """Return `value` if it can be called.

    Parameters
    ----------
    value : callable
    name : str
        The argument's name, for the message.

    Examples
    --------
    >>> check_callable(3, "metric")
    Traceback (most recent call last):
    ...
    TypeError: metric must be callable, got int
    """
    if not callable(value):
        raise TypeError(f"{name} must be callable, got {type(value).__name__}")
    return value


def check_choice(value, name, choices, *, also=""):
    """Return `value` if it is one of a few words or numbers.

    Parameters
    ----------
    value : object
        What came.
    name : str
        The argument's name, for the message.
    choices : iterable of str, number or None
        What is accepted.
    also : str, default=""
        What the caller accepts beside the words, for the message: ``"a callable"``.

    Returns
    -------
    str, number or None
        `value` itself.

    Examples
    --------
    >>> check_choice("log", "method", ("scaled", "log"))
    'log'
    >>> check_choice("lgo", "method", ("scaled", "log"))
    Traceback (most recent call last):
    ...
    ValueError: method must be 'scaled' or 'log', got 'lgo'
    """
    choices = tuple(choices)
    # Asking whether an array equals a word is an error, or an array of answers; True equals 1, and is not meant.
    if (value is None or isinstance(value, str | Real)) and not isinstance(value, bool) and value in choices:
        return value
    raise ValueError(f"{name} must be {_listed(choices, also)}, got {_shown(value)}")


def check_has(value, name, attributes, what):
    """Refuse an object that lacks what the code below will ask of it.

    Parameters
    ----------
    value : object
    name : str
        The argument's name, for the message.
    attributes : str
        Names that the object must have, separated by spaces.
    what : str
        What is accepted, for the message.

    Returns
    -------
    object
        `value` itself.

    Examples
    --------
    >>> check_has("two Gaussians", "problem", "n_classes expect", "a problem such as two_gaussians()")
    Traceback (most recent call last):
    ...
    TypeError: problem must be a problem such as two_gaussians(), got str
    """
    if isinstance(value, type) or not all(hasattr(value, attribute) for attribute in str(attributes).split()):
        raise TypeError(f"{name} must be {what}, got {type(value).__name__}")
    return value


def _interval(low, high, closed, integer):
    left = "[" if closed in ("both", "left") and low > -np.inf else "("
    right = "]" if closed in ("both", "right") and high < np.inf else ")"
    return f"{'an integer' if integer else 'a number'} in {left}{low}, {high}{right}"


def _listed(choices, also):
    *others, last = [*map(repr, choices), *([also] if also else [])]
    return f"{', '.join(others)} or {last}" if others else last


def _fits_a_float(value):
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def _shown(value):
    """`value` for a message: an integer of thousands of digits, which Python refuses to print, by its size."""
    if isinstance(value, Rational) and not isinstance(value, bool) and abs(int(value)).bit_length() > 1024:
        return f"a number of {abs(int(value)).bit_length()} bits"
    return repr(value)
