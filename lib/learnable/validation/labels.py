"""Labels cross the public border exactly once in each direction.

:func:`encode_labels` turns any labels into codes 0..k-1, :func:`signed_labels` two classes into -1 and +1, and
:func:`decode_labels` turns codes back, with an optional sentinel ("reject", "noise") that :func:`check_sentinel` has
found to be no class.
"""

from numbers import Real

import numpy as np

__all__ = [
    "NO_SENTINEL",
    "binary_codes",
    "check_binary",
    "check_class_labels",
    "check_sentinel",
    "decode_labels",
    "encode_labels",
    "signed_labels",
]


class _NoSentinel:
    """Marks that no sentinel was asked for (``None`` is a legal sentinel)."""

    def __repr__(self):
        return "NO_SENTINEL"


NO_SENTINEL = _NoSentinel()


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

    Parameters
    ----------
    classes : array-like

    Examples
    --------
    >>> check_binary(["no", "perhaps", "yes"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: Only binary classification is supported. The type of the target is multiclass: 3 classes...
    """
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"{len(classes)} classes; wrap the estimator in sklearn.multiclass.OneVsRestClassifier"
        )


def check_class_labels(y):
    """Refuse targets of a regression, as scikit-learn does; whole numbers pass without asking.

    scikit-learn's ``check_classification_targets`` takes longer than many a fit of a small table.

    Parameters
    ----------
    y : array-like of shape (n,)

    Examples
    --------
    >>> check_class_labels(np.array([0, 1, 1]))
    >>> check_class_labels([0.5, 1.7])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: Unknown label type: continuous...
    """
    from sklearn.utils.multiclass import check_classification_targets

    if not (isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biu"):
        check_classification_targets(y)


def binary_codes(y):
    """Return the two classes of `y` and its codes 0 and 1; refuse any other number of classes, and regression targets.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.

    Examples
    --------
    >>> classes, codes = binary_codes(["b", "a", "b"])
    >>> classes.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    check_class_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    check_binary(classes)
    if len(classes) < 2:
        raise ValueError("y must contain two classes, got one class")
    return classes, codes


def signed_labels(y, classes=None, name="y"):
    """Return the two classes of `y` and its labels as -1.0 and +1.0, the second class being +1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any kind, of exactly two classes if `classes` is not given.
    classes : array-like of shape (2,), optional
        The classes, in this order; a label outside them is an error.
    name : str, default="y"
        The argument's name, for the message.

    Returns
    -------
    classes : ndarray of shape (2,)
    signs : ndarray of shape (n,)

    Examples
    --------
    >>> classes, signs = signed_labels(["ham", "spam", "ham"])
    >>> signs
    array([-1.,  1., -1.])
    """
    classes, codes = binary_codes(y) if classes is None else encode_labels(y, classes, name)
    return classes, np.where(codes == 1, 1.0, -1.0)


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
