r"""Precision matrices of Gaussian models: checks, factorisations, likelihood, graphs.

A precision matrix Θ = Σ⁻¹ is symmetric and positive definite, and its off-diagonal zeros are the
missing edges of a Gaussian graphical model. Everything here goes through one Cholesky factorisation (LAPACK's
``dpotrf`` and ``dpotri``); nothing forms an inverse by other means.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import lapack

from learnable.validation import check_finite_array, check_scalar, check_symmetric

__all__ = [
    "SupportRates",
    "edge_list",
    "factor",
    "factor_inverse",
    "factor_logdet",
    "gaussian_log_likelihood",
    "is_positive_definite",
    "partial_correlations",
    "support",
    "support_rates",
    "threshold_components",
]


class SupportRates(NamedTuple):
    """True and false positive rate of an estimated support."""

    tpr: float
    fpr: float


def is_positive_definite(A):
    """Whether the symmetric matrix `A` has a Cholesky factor, the cheapest reliable test. O(p^3 / 3).

    Parameters
    ----------
    A : array-like of shape (p, p)

    Examples
    --------
    >>> is_positive_definite([[2, 1], [1, 2]]), is_positive_definite([[1, 2], [2, 1]])
    (True, False)
    """
    return factor(check_symmetric(A)) is not None


def gaussian_log_likelihood(precision, S):
    r"""Mean log-likelihood of centred Gaussian data with second moments `S`, per observation.

    ::

        ℓ(Θ; S) = ½(log det Θ - tr(SΘ) - p log 2π).

    With the second moments of data that were held out, it is what cross-validation compares. O(p^3 / 3).

    Parameters
    ----------
    precision : array-like of shape (p, p)
    S : array-like of shape (p, p)
        Second moments.

    Examples
    --------
    >>> round(gaussian_log_likelihood(np.eye(2), np.eye(2)), 6)
    -2.837877
    """
    precision, S = check_symmetric(precision, "precision"), check_symmetric(S, "S")
    if S.shape != precision.shape:
        raise ValueError(f"S must have the shape of the precision, {precision.shape}, got {S.shape}")
    L = _definite_factor(precision)
    p = len(S)
    return 0.5 * (factor_logdet(L) - float(np.vdot(S, precision)) - p * float(np.log(2.0 * np.pi)))


def partial_correlations(precision):
    r"""Correlations of pairs given all other variables, -Θ_ij / √(Θ_iiΘ_jj).

    The diagonal holds ones. O(p^3 / 3), for the check that the matrix is positive definite.

    Parameters
    ----------
    precision : array-like of shape (p, p)

    Examples
    --------
    >>> partial_correlations([[4, -2], [-2, 4]]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    precision = check_symmetric(precision, "precision")
    _definite_factor(precision)
    d = np.sqrt(np.diagonal(precision))
    rho = -precision / d[:, None] / d
    np.fill_diagonal(rho, 1.0)
    return rho


def support(precision, tol=0.0):
    """Adjacency of the graph: off-diagonal entries with ``abs(entry) > tol``.

    A solver that thresholds leaves exact zeros, so that ``tol=0`` is right; the inverse of a dual solution needs 1e-6.

    Parameters
    ----------
    precision : array-like of shape (p, p)
    tol : float, default=0.0

    Examples
    --------
    >>> support([[2, -1], [-1, 2]]).astype(int).tolist()
    [[0, 1], [1, 0]]
    """
    precision = check_symmetric(precision, "precision")
    adjacency = np.abs(precision) > check_scalar(tol, "tol", low=0)
    np.fill_diagonal(adjacency, False)
    return adjacency


def edge_list(precision, tol=0.0):
    """Edges (i, j), i < j, of :func:`support`, one to a row.

    Parameters
    ----------
    precision : array-like of shape (p, p)
    tol : float, default=0.0

    Examples
    --------
    >>> edge_list([[2, -1, 0], [-1, 2, -1], [0, -1, 2]]).tolist()
    [[0, 1], [1, 2]]
    """
    return np.argwhere(np.triu(support(precision, tol), 1))


def support_rates(estimate, truth, tol=0.0, *, diagonal=False):
    """True and false positive rate of the nonzero pattern of `estimate` as an estimate of that of `truth`.

    TPR = shared nonzeros / nonzeros of the truth, FPR = nonzeros of the estimate where the truth is zero / zeros of the
    truth, over ordered pairs. "Nonzero" means ``abs(entry) > tol`` in the estimate and ``!= 0`` in the truth; Hsieh et
    al. 2014, (50), print "> 0", which would lose every negative entry. A rate without a denominator is NaN.

    Parameters
    ----------
    estimate, truth : array-like of shape (p, p)
    tol : float, default=0
    diagonal : bool, default=False
        Count the diagonal too, as Hsieh et al. do; it is always found and flatters the rate.

    Returns
    -------
    SupportRates

    Examples
    --------
    >>> support_rates([[1, 0.3], [0.3, 1]], [[2, -1], [-1, 2]])
    SupportRates(tpr=1.0, fpr=nan)
    """
    estimate, truth = check_symmetric(estimate, "estimate"), check_symmetric(truth, "truth")
    if estimate.shape != truth.shape:
        raise ValueError(f"estimate and truth must have one shape, got {estimate.shape} and {truth.shape}")
    found, there = np.abs(estimate) > check_scalar(tol, "tol", low=0), truth != 0
    counted = np.ones_like(there) if diagonal else ~np.eye(len(truth), dtype=bool)
    positive, negative = (there & counted).sum(), (~there & counted).sum()
    tpr = (found & there & counted).sum() / positive if positive else np.nan
    fpr = (found & ~there & counted).sum() / negative if negative else np.nan
    return SupportRates(float(tpr), float(fpr))


def threshold_components(S, threshold):
    """Connected components of the graph of ``abs(S_ij) > threshold_ij``, the blocks of the graphical lasso's solution.

    Mazumder and Hastie 2012, Witten et al. 2011; with entrywise thresholds Hsieh et al. 2014, Section 3.4. O(p^2).

    Parameters
    ----------
    S : array-like of shape (p, p)
    threshold : float or array-like of shape (p, p)
        Non-negative.

    Returns
    -------
    list of ndarray
        The variables of each component in increasing order, components in the order of their first variable.

    Examples
    --------
    >>> [block.tolist() for block in threshold_components([[1, 0, 0.5], [0, 1, 0.1], [0.5, 0.1, 1]], 0.2)]
    [[0, 2], [1]]
    """
    S = check_symmetric(S, "S")
    threshold = check_finite_array(threshold, "threshold")
    if threshold.ndim not in (0, 2) or (threshold.ndim == 2 and threshold.shape != S.shape) or (threshold < 0).any():
        raise ValueError(f"threshold must be a non-negative number or a non-negative matrix of shape {S.shape}")
    return split_components(*component_labels(*_edges_above(S, np.broadcast_to(threshold, S.shape))))


def factor(A, *, overwrite=False):
    """Cholesky factor of a symmetric C-contiguous matrix as LAPACK leaves it, or None where there is none.

    For callers that have checked their input: numbers are taken as they are. The factor is upper triangular in Fortran
    order (``A = F' F``, with the other triangle of `A` left as it was), to be read by :func:`factor_logdet` and
    :func:`factor_inverse`.

    Parameters
    ----------
    A : array-like of shape (p, p)
        Only its lower triangle is read.
    overwrite : bool, default=False
        Whether `A` may be used up, which saves the copy.

    Examples
    --------
    >>> factor(np.array([[1.0, 2.0], [2.0, 1.0]])) is None
    True
    """
    if not (isinstance(A, np.ndarray) and A.dtype == np.float64):
        A = check_finite_array(A, "A")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be square, got shape {A.shape}")
    # A symmetric C-ordered matrix is its own Fortran-ordered transpose: no copy beyond the one that is overwritten.
    A = A.T if overwrite else np.array(A.T, order="F", copy=True)
    L, info = lapack.dpotrf(A, lower=0, clean=0, overwrite_a=1)
    return L if info == 0 else None


def _definite_factor(precision):
    """The factor of a precision matrix, or a ValueError where there is none."""
    L = factor(precision)
    if L is None:
        raise ValueError("precision must be positive definite, but its Cholesky factorisation breaks down")
    return L


def _diagonal_of_factor(L):
    """The diagonal of what :func:`factor` returned; anything else is refused, as far as that can be seen in O(p)."""
    if not (isinstance(L, np.ndarray) and L.dtype == np.float64 and L.ndim == 2 and L.shape[0] == L.shape[1] > 0):
        raise ValueError("L must be a square float64 matrix, as factor returns it")
    diagonal = np.diagonal(L)
    if not (diagonal > 0).all():
        raise ValueError("L must have a positive diagonal, as factor returns it")
    return diagonal


def factor_logdet(L):
    """Log-determinant from :func:`factor`.

    Parameters
    ----------
    L : ndarray of shape (p, p)
        From :func:`factor`.

    Examples
    --------
    >>> round(factor_logdet(factor(np.array([[4.0, 2.0], [2.0, 5.0]]))), 6) == round(float(np.log(16)), 6)
    True
    """
    return 2.0 * float(np.log(_diagonal_of_factor(L)).sum())


def factor_inverse(L):
    """Inverse, exactly symmetric and C-contiguous, from :func:`factor`, which it overwrites. O(2 p^3 / 3).

    Parameters
    ----------
    L : ndarray of shape (p, p)
        From :func:`factor`.

    Examples
    --------
    >>> factor_inverse(factor(np.array([[2.0, 1.0], [1.0, 1.0]]))).round(12)
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    _diagonal_of_factor(L)
    # LAPACK fills the upper triangle in Fortran order, which is the lower one of the transpose, in C order.
    inverse = lapack.dpotri(L, lower=0, overwrite_c=L.flags.writeable)[0].T
    _copy_lower_to_upper(inverse)
    return inverse


@njit(cache=True)
def component_labels(starts, cols):
    """Number and labels of the connected components of a pattern in compressed rows, one triangle or both.

    Components are numbered in the order of their first variable. Linear in the pattern: a forest whose roots are the
    smallest members, with paths halved on the way.

    Examples
    --------
    >>> component_labels(np.array([0, 1, 1, 1]), np.array([2]))
    (2, array([0, 1, 0]))
    """
    p = starts.size - 1
    root = np.arange(p)
    for i in range(p):
        for place in range(starts[i], starts[i + 1]):
            a, b = i, cols[place]
            while root[a] != a:
                root[a] = root[root[a]]
                a = root[a]
            while root[b] != b:
                root[b] = root[root[b]]
                b = root[b]
            # The smaller one becomes the root, so that labels come out in the order of the first variables.
            if a < b:
                root[b] = a
            else:
                root[a] = b
    count = 0
    labels = np.empty(p, dtype=np.int64)
    for i in range(p):
        a = root[i]
        if a == i:
            labels[i] = count
            count += 1
        else:
            # A root comes before its members, and so do their parents: theirs are known.
            labels[i] = labels[a]
    return count, labels


def split_components(count, labels):
    """The members of each component in increasing order.

    Examples
    --------
    >>> [part.tolist() for part in split_components(2, np.array([0, 1, 0]))]
    [[0, 2], [1]]
    """
    if count == 1:
        return [np.arange(labels.size)]
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels, minlength=count))[:-1])


@njit(cache=True)
def _edges_above(S, threshold):
    """Upper triangle of |S| > threshold as compressed rows."""
    p = len(S)
    starts = np.zeros(p + 1, dtype=np.int64)
    for i in range(p):
        count = 0
        for j in range(i + 1, p):
            count += abs(S[i, j]) > threshold[i, j]
        starts[i + 1] = starts[i] + count
    cols = np.empty(starts[p], dtype=np.int64)
    n = 0
    for i in range(p):
        if starts[i + 1] > starts[i]:
            for j in range(i + 1, p):
                if abs(S[i, j]) > threshold[i, j]:
                    cols[n] = j
                    n += 1
    return starts, cols


@njit(cache=True)
def _copy_lower_to_upper(A):
    """Mirror by tiles that fit the first-level cache, since one of the two sides is always read across rows."""
    p, tile = A.shape[0], 32
    for i0 in range(0, p, tile):
        for j0 in range(0, i0 + 1, tile):
            for j in range(j0, min(j0 + tile, p)):
                for i in range(max(i0, j + 1), min(i0 + tile, p)):
                    A[j, i] = A[i, j]
