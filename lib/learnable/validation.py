"""Checks on arguments that every chapter shares.

A check takes the value and the *name* of the argument, and either returns the value in the form the
code below it needs (contiguous float64, integer codes, ...) or raises a ``ValueError`` that names the
argument, says what came and what is accepted. Nothing is repaired silently.

Labels cross the public border exactly once in each direction: :func:`encode_labels` turns any labels
into codes 0..k-1 and :func:`decode_labels` turns codes back, with an optional sentinel ("reject",
"noise") that :func:`check_sentinel` has found to be no class.
"""

from numbers import Integral, Rational, Real

import numpy as np
from numba import njit

__all__ = [
    "NO_SENTINEL",
    "binary_codes",
    "check_binary",
    "check_finite_array",
    "check_has",
    "check_loss_matrix",
    "check_magnitude",
    "check_posteriors",
    "check_probabilities",
    "check_probability_vector",
    "check_scalar",
    "check_sentinel",
    "check_weights",
    "coerce_posteriors",
    "decode_labels",
    "encode_labels",
    "probability_tolerance",
]


class _NoSentinel:
    """Marks that no sentinel was asked for (``None`` is a legal sentinel)."""

    def __repr__(self):
        return "NO_SENTINEL"


NO_SENTINEL = _NoSentinel()


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
    if closed not in ("both", "left", "right", "neither"):
        raise ValueError(f"closed must be 'both', 'left', 'right' or 'neither', got {closed!r}")
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
        left = "[" if closed in ("both", "left") and low > -np.inf else "("
        right = "]" if closed in ("both", "right") and high < np.inf else ")"
        kind = "an integer" if integer else "a number"
        raise ValueError(f"{name} must be {kind} in {left}{low}, {high}{right}, got {_shown(value)}")
    return int(value) if integer else float(value)


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


def check_finite_array(values, name, *, ndim=None):
    """Return `values` as a float64 array after checking that every entry is finite.

    Parameters
    ----------
    values : array-like of numbers
    name : str
        The argument's name, for the message.
    ndim : int, optional
        Required number of dimensions.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> check_finite_array([1, 2], "x", ndim=1)
    array([1., 2.])
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError("complex")
        array = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of real numbers") from None
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[where]} at {list(where)}")
    return array


def check_magnitude(values, name, *, smallest=1e-150, largest=1e150):
    """Refuse numbers whose squares overflow, or all underflow, before they enter code that squares them.

    Distances and variances of such data are infinite or zero whatever the data say, so that every comparison of them
    is wrong without a word.

    Parameters
    ----------
    values : ndarray of finite numbers
    name : str
        The argument's name, for the message.
    smallest, largest : float, default=1e-150, 1e150
        The largest absolute value must lie between them, or be 0.

    Returns
    -------
    ndarray
        `values`, unchanged.

    Examples
    --------
    >>> check_magnitude(np.array([0.0, 1e160]), "X")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: X must have a largest absolute value in [1e-150, 1e+150], so that ...
    """
    size = float(np.abs(values).max(initial=0.0))
    if size > 0 and not smallest <= size <= largest:
        raise ValueError(
            f"{name} must have a largest absolute value in [{smallest:g}, {largest:g}], so that its squares are "
            f"numbers; got {size:g}: change its unit"
        )
    return values


def probability_tolerance(dtype):
    """Return how far the sum of a probability vector of this dtype may be from one.

    The square root of the machine epsilon: 1.5e-8 in double and 3.5e-4 in single precision. Integers
    (one-hot rows) are held to double precision.

    Examples
    --------
    >>> f"{probability_tolerance(np.float64):.1e} {probability_tolerance(np.float32):.1e}"
    '1.5e-08 3.5e-04'
    """
    dtype = np.dtype(dtype)
    return float(np.sqrt(np.finfo(dtype if dtype.kind == "f" else np.float64).eps))


def check_probability_vector(p, name, *, size=None):
    """Return `p` as a float64 vector after checking that it is non-negative and sums to one.

    Parameters
    ----------
    p : array-like of shape (m,)
    name : str
        The argument's name, for the message.
    size : int, optional
        Required length.

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> check_probability_vector([0.25, 0.75], "priors")
    array([0.25, 0.75])
    >>> check_probability_vector([0.25, 0.5], "priors")
    Traceback (most recent call last):
    ...
    ValueError: priors must sum to 1, got a sum of 0.75
    """
    tolerance = probability_tolerance(getattr(p, "dtype", np.float64))
    p = check_finite_array(p, name, ndim=1)
    if p.size == 0 or (size is not None and p.size != size):
        raise ValueError(f"{name} must have {size or 'at least one'} entries, got {p.size}")
    if p.min() < 0:
        raise ValueError(f"{name} must be non-negative, got {p.min()} at {p.argmin()}")
    if not abs(p.sum() - 1) <= tolerance:
        raise ValueError(f"{name} must sum to 1, got a sum of {p.sum():.9g}")
    return p


def check_probabilities(p, name):
    """Return `p` as a float64 array, of any shape, after checking that it lies in [0, 1].

    Examples
    --------
    >>> check_probabilities([0, 0.5], "p1")
    array([0. , 0.5])
    """
    p = check_finite_array(p, name)
    outside = (p < 0) | (p > 1)
    if outside.any():
        raise ValueError(f"{name} must lie in [0, 1], got {p[outside].flat[0]}")
    return p


def check_weights(weights, size, name="sample_weight"):
    """Return `size` non-negative weights that do not all vanish as float64, or None for None.

    Examples
    --------
    >>> check_weights([1, 2], 2)
    array([1., 2.])
    """
    if weights is None:
        return None
    weights = check_finite_array(weights, name, ndim=1)
    if weights.size != size:
        raise ValueError(f"{name} must have {size} entries, got {weights.size}")
    if size and (weights.min() < 0 or weights.max() == 0):
        raise ValueError(f"{name} must be non-negative and not all zero")
    return weights


def coerce_posteriors(post, name="post", *, n_classes=None):
    """Return posteriors as a C-contiguous float64 table, with the tolerance for their row sums.

    Only the shape is checked. It is the first half of :func:`check_posteriors`, for kernels that check
    the entries in the same pass that uses them.

    Parameters
    ----------
    post : array-like of shape (n, k)
        Any real dtype and any memory layout.
    name : str, default="post"
        The argument's name, for the message.
    n_classes : int, optional
        Required number of columns.

    Returns
    -------
    post : ndarray of shape (n, k)
    tolerance : float
        From the dtype that came in, see :func:`probability_tolerance`.

    Examples
    --------
    >>> table, tolerance = coerce_posteriors([[0.2, 0.8]])
    >>> table
    array([[0.2, 0.8]])
    """
    try:
        array = np.asarray(post)
        if array.dtype.kind == "c":
            raise TypeError("complex")
        tolerance = probability_tolerance(array.dtype)
        table = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a table of real numbers with one column per class") from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"{name} must have shape (n, k), one column per class, got shape {array.shape}; "
            "for two classes with p = p(1|x) pass np.column_stack([1 - p, p])"
        )
    if n_classes is not None and array.shape[1] != n_classes:
        raise ValueError(f"{name} must have {n_classes} columns, one per class, got {array.shape[1]}")
    return table, tolerance


def check_posteriors(post, name="post", *, n_classes=None):
    """Return posteriors as a C-contiguous float64 table after checking every row.

    Each row must be a probability vector: non-negative, no NaN, sum one within
    :func:`probability_tolerance`. O(nk).

    Parameters
    ----------
    post : array-like of shape (n, k)
        Any real dtype and any memory layout.
    name : str, default="post"
        The argument's name, for the message.
    n_classes : int, optional
        Required number of columns.

    Returns
    -------
    ndarray of shape (n, k)

    Examples
    --------
    >>> check_posteriors([[0.5, 0.5], [1, 0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    >>> check_posteriors([[0.5, 0.5], [0.7, 0.7]])
    Traceback (most recent call last):
    ...
    ValueError: post must have rows that sum to 1, got a sum of 1.4 in row 1
    """
    post, tolerance = coerce_posteriors(post, name, n_classes=n_classes)
    row = _first_bad_row(post, tolerance)
    if row >= 0:
        p = post[row]
        if np.isnan(p).any():
            raise ValueError(f"{name} must not contain NaN, got one in row {row}")
        if p.min() < 0:
            raise ValueError(f"{name} must be non-negative, got {p.min()} in row {row}")
        raise ValueError(f"{name} must have rows that sum to 1, got a sum of {p.sum():.9g} in row {row}")
    return post


@njit(cache=True)
def _first_bad_row(post, tolerance):
    for m in range(post.shape[0]):
        total = 0.0
        negative = False
        for j in range(post.shape[1]):
            total += post[m, j]
            negative |= post[m, j] < 0.0
        if negative or not abs(total - 1.0) <= tolerance:
            return m
    return -1


def check_loss_matrix(loss, n_classes, name="L", *, n_decisions=None):
    """Return a loss matrix as C-contiguous float64 after checking it; None means 0-1 loss.

    Row = truth, column = decision: ``loss[j, i]`` is what it costs to decide i when the truth is j
    (Lember 2012, Definition 1.2.1, and the orientation of scikit-learn's confusion matrix).

    Parameters
    ----------
    loss : array-like of shape (k, a) or None
        Finite and non-negative. There may be more decisions than classes (a reject column, say).
    n_classes : int
        The number k of rows.
    name : str, default="L"
        The argument's name, for the message.
    n_decisions : int, optional
        Required number a of columns.

    Returns
    -------
    ndarray of shape (k, a)

    Examples
    --------
    >>> check_loss_matrix(None, 2)
    array([[0., 1.],
           [1., 0.]])
    """
    if loss is None:
        return 1.0 - np.eye(n_classes)
    loss = check_finite_array(loss, name)
    wanted = f"({n_classes}, {'number of decisions' if n_decisions is None else n_decisions})"
    if loss.ndim != 2 or loss.shape[0] != n_classes or loss.shape[1] != (n_decisions or loss.shape[1] or -1):
        raise ValueError(f"{name} must have shape {wanted}, row = truth, column = decision; got {loss.shape}")
    if loss.min() < 0:
        raise ValueError(
            f"{name} must be non-negative, got {loss.min()}; adding a constant to a row changes no decision"
        )
    return np.ascontiguousarray(loss)


def encode_labels(y, classes=None, name="y"):
    """Translate labels of any kind into codes 0..k-1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numbers, strings or booleans; no NaN, no None, no mixture of numbers and strings.
    classes : array-like of shape (k,), optional
        The classes in the order of their codes; a label outside it is an error. By default the sorted
        distinct values of `y`.
    name : str, default="y"
        The argument's name, for the message.

    Returns
    -------
    classes : ndarray of shape (k,)
    codes : ndarray of shape (n,) and dtype int64
        ``classes[codes]`` equals `y`.

    Examples
    --------
    >>> encode_labels(["spam", "ham", "spam"])
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1]))
    >>> encode_labels(["egg"], classes=["ham", "spam"])
    Traceback (most recent call last):
    ...
    ValueError: y contains 'egg', which is not among the classes ['ham', 'spam']
    """
    y = _label_array(y, name)
    try:
        if classes is None:
            classes, codes = np.unique(y, return_inverse=True)
            return classes, codes.astype(np.int64, copy=False)
        classes = _label_array(classes, "classes")
        codes, unknown = _find_labels(y, classes)
    except TypeError:
        raise ValueError(f"{name} must hold labels of one kind, all numbers or all strings") from None
    if unknown.any():
        label = y[unknown.argmax()]
        label = label.item() if isinstance(label, np.generic) else label
        raise ValueError(f"{name} contains {label!r}, which is not among the classes {classes.tolist()}")
    return classes, codes


def check_binary(classes):
    """Refuse more than two classes, in the words that scikit-learn's conventions ask for.

    Examples
    --------
    >>> check_binary(["no", "yes"])
    """
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is multiclass: {len(classes)} classes"
        )


def binary_codes(y):
    """Return the two classes of `y` and its codes 0 and 1; refuse any other number of classes, and regression targets.

    Examples
    --------
    >>> classes, codes = binary_codes(["b", "a", "b"])
    >>> classes.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    from sklearn.utils.multiclass import check_classification_targets

    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    check_binary(classes)
    if len(classes) < 2:
        raise ValueError("y must contain two classes, got one class")
    return classes, codes


def decode_labels(codes, classes, *, sentinel=NO_SENTINEL, name="reject_label"):
    """Translate codes 0..k-1 back into labels; code -1 becomes the sentinel.

    Parameters
    ----------
    codes : array-like of int of shape (n,)
        Codes 0..k-1, and -1 where the sentinel is meant (an error without a sentinel).
    classes : ndarray of shape (k,)
    sentinel : label or None, optional
        See :func:`check_sentinel`.
    name : str, default="reject_label"
        The sentinel's name, for the message.

    Returns
    -------
    ndarray of shape (n,)
        Of the dtype of `classes`, widened where the sentinel needs it.

    Examples
    --------
    >>> decode_labels([1, -1, 0], np.array(["ham", "spam"]), sentinel="reject")
    array(['spam', 'reject', 'ham'], dtype='<U6')
    >>> decode_labels([1, -1, 0], np.array([10, 20]), sentinel=None)
    array([20, None, 10], dtype=object)
    """
    classes = np.asarray(classes)
    codes = np.asarray(codes)
    lowest = 0 if sentinel is NO_SENTINEL else -1
    if codes.size and (codes.dtype.kind not in "iu" or codes.min() < lowest or codes.max() >= classes.size):
        raise ValueError(f"codes must be integers in [{lowest}, {classes.size - 1}]")
    labels = classes
    if sentinel is not NO_SENTINEL:
        labels = np.empty(classes.size + 1, dtype=check_sentinel(sentinel, classes, name))
        labels[:-1] = classes
        labels[-1] = sentinel
    return labels.take(codes.astype(np.int64, copy=False))


def check_sentinel(sentinel, classes, name="reject_label"):
    """Return the dtype that holds the classes and a sentinel, after checking that they do not collide.

    Numbers go with numeric classes and strings with string classes; ``None`` goes with everything and
    makes the result an object array, as does an object array of classes. NaN is refused because it
    does not equal itself.

    Parameters
    ----------
    sentinel : number, str or None
    classes : ndarray of shape (k,)
    name : str, default="reject_label"
        The argument's name, for the message.

    Returns
    -------
    numpy.dtype

    Examples
    --------
    >>> check_sentinel(-1, np.array([0, 1]))
    dtype('int64')
    >>> check_sentinel(-1, np.array([-1, 1]))
    Traceback (most recent call last):
    ...
    ValueError: reject_label=-1 is one of the classes [-1, 1]; choose a label that is no class
    """
    classes = np.asarray(classes)
    if sentinel is None:
        return np.dtype(object)
    is_text, is_number = isinstance(sentinel, str), isinstance(sentinel, Real)
    if not (is_text or is_number) or sentinel != sentinel:
        raise ValueError(f"{name} must be a number, a string or None, got {sentinel!r}")
    if any(sentinel == label for label in classes.tolist()):
        raise ValueError(
            f"{name}={sentinel!r} is one of the classes {classes.tolist()}; choose a label that is no class"
        )
    if classes.dtype.kind == "O":
        return classes.dtype
    if is_text != (classes.dtype.kind in "US"):
        kind, other = ("strings", "a string") if is_number else ("numbers", "a number")
        raise ValueError(
            f"{name}={sentinel!r} does not fit classes that are {kind}; pass {other}, or None for an object array"
        )
    return np.result_type(classes.dtype, np.asarray(sentinel).dtype)


def _find_labels(y, classes):
    """Return the place of each label among the classes, and whether it has none."""
    if y.dtype.kind in "iu" and np.array_equal(classes, np.arange(classes.size)):
        return y.astype(np.int64, copy=False), (y < 0) | (y >= classes.size)
    order = np.argsort(classes, kind="stable")
    ordered = classes[order]
    if classes.size == 0 or (ordered[1:] == ordered[:-1]).any():
        raise ValueError(f"classes must be distinct and at least one, got {classes.tolist()}")
    if len({labels.dtype.kind in "US" for labels in (y, classes) if labels.dtype.kind != "O"}) > 1:
        # Text against numbers: numpy would compare their spelling.
        return np.zeros(y.size, dtype=np.int64), np.ones(y.size, dtype=bool)
    codes = order[np.minimum(np.searchsorted(ordered, y), classes.size - 1)].astype(np.int64, copy=False)
    return codes, np.asarray(classes[codes] != y, dtype=bool)


def _label_array(y, name):
    if isinstance(y, list | tuple) and len({isinstance(label, str | bytes) for label in y}) > 1:
        y = np.array(y, dtype=object)  # else numpy would spell the numbers as text
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {y.shape}")
    if y.dtype.kind == "O":
        # None and NaN are "missing", and no order puts them among the classes.
        missing = np.fromiter((label is None or label != label for label in y), dtype=bool, count=y.size)
    elif y.dtype.kind == "f":
        missing = ~np.isfinite(y)
    elif y.dtype.kind in "iubUS":
        return y
    else:
        raise ValueError(f"{name} must hold numbers or strings, got dtype {y.dtype}")
    if missing.any():
        raise ValueError(f"{name} must not contain missing or infinite labels, got {y[missing.argmax()]!r}")
    return y
