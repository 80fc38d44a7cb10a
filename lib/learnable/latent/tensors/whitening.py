"""Whitening: from components of any shape to orthonormal ones, and back (Anandkumar et al. 2014, Sec. 4.3).

If M2 = sum a_i mu_i (x) mu_i and M3 = sum b_i mu_i (x) mu_i (x) mu_i with independent mu_i and a_i > 0, take W with
W' M2 W = I. Then v_i = sqrt(a_i) W' mu_i are orthonormal and M3(W, W, W) = sum b_i a_i^(-3/2) v_i (x) v_i (x) v_i.
"""

import numpy as np
from scipy import linalg

from learnable.validation import check_finite_array, check_rng, check_scalar, check_symmetric, warn_not_converged


def whiten(M2, k):
    """Return W and B with W' M2 W = I and B the pseudo-inverse of W', from the k largest eigenvalues. O(d^3).

    With M2 = U D U' (k largest), W = U D^(-1/2) and B = U D^(1/2).

    Parameters
    ----------
    M2 : array-like of shape (d, d)
        Symmetric.
    k : int
        At most the rank of M2: the k-th eigenvalue must be positive, beyond rounding.

    Returns
    -------
    W, B : ndarray of shape (d, k)

    Examples
    --------
    >>> W, B = whiten([[4.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], 2)
    >>> np.abs(W.T @ B).round(12)
    array([[1., 0.],
           [0., 1.]])
    """
    M2 = check_symmetric(M2, "M2")
    d = M2.shape[0]
    k = check_scalar(k, "k", low=1, integer=True)
    if k > d:
        raise ValueError(f"k = {k} components need at least {k} dimensions, got {d}")
    values, U = linalg.eigh((M2 + M2.T) / 2, subset_by_index=[d - k, d - 1])
    return _scale(values[::-1], U[:, ::-1], np.abs(values).max())


def whiten_operator(multiply, d, k, random_state=None, *, oversample=10, max_iter=20, tol=1e-6):
    """Return W and B for a symmetric M2 that is only known by its products M2 @ R.

    Randomised subspace iteration (Halko, Martinsson and Tropp 2011) on k + oversample vectors, until the k largest
    Ritz values move by less than `tol`, relatively. Each iteration costs one product and O(d k^2).

    Parameters
    ----------
    multiply : callable
        Takes R of shape (d, m) and returns M2 @ R.
    d, k : int
    random_state : int, Generator or None
    oversample, max_iter : int, default=10, 20
    tol : float, default=1e-6

    Returns
    -------
    W, B : ndarray of shape (d, k)

    Examples
    --------
    >>> A = np.diag([4.0, 1.0, 0.0])
    >>> W, B = whiten_operator(lambda R: A @ R, 3, 2, random_state=0)
    >>> bool(np.allclose(W.T @ A @ W, np.eye(2)))
    True
    """
    d = check_scalar(d, "d", low=1, integer=True)
    k = check_scalar(k, "k", low=1, integer=True)
    if k > d:
        raise ValueError(f"k = {k} components need at least {k} dimensions, got {d}")
    rng = check_rng(random_state)
    m = min(d, k + check_scalar(oversample, "oversample", low=0, integer=True))
    Q = linalg.qr(multiply(rng.standard_normal((d, m))), mode="economic")[0]
    last = np.full(k, np.inf)
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    for _ in range(max_iter):
        image = multiply(Q)
        small = Q.T @ image
        values, S = linalg.eigh((small + small.T) / 2)
        # The k largest, not the k largest in size: negative ones are noise or a wrong model.
        values, S = values[::-1][:k], S[:, ::-1][:, :k]
        change = np.abs(values - last).max() / max(np.abs(values).max(), 1e-300)
        if change <= tol:
            break
        last = values
        Q_next = linalg.qr(image, mode="economic")[0]
        Q, previous = Q_next, Q
    else:
        Q = previous
        warn_not_converged("whiten_operator", max_iter, change, tol, "raise max_iter, oversample or tol")
    return _scale(values, Q @ S, np.abs(values).max())


def recover_components(eigenvalues, eigenvectors, B, *, ratio=1.0):
    """Undo the whitening: weights a_i and components mu_i from the pairs (lam_i, v_i).

    With b_i = ratio * a_i, lam_i = ratio / sqrt(a_i), so a_i = (ratio / lam_i)^2 and mu_i = B v_i / sqrt(a_i). The
    source writes the case ratio = 1; latent Dirichlet allocation has ratio 2 / (alpha0 + 2).

    Parameters
    ----------
    eigenvalues : array-like of shape (k,)
        Positive.
    eigenvectors : array-like of shape (k, k)
        One for each column.
    B : array-like of shape (d, k)
    ratio : float, default=1

    Returns
    -------
    a : ndarray of shape (k,)
    mu : ndarray of shape (k, d)

    Examples
    --------
    >>> a, mu = recover_components([2.0], [[1.0]], [[0.5]])
    >>> a.tolist(), mu.tolist()
    ([0.25], [[1.0]])
    """
    lam = check_finite_array(eigenvalues, "eigenvalues", ndim=1)
    V = check_finite_array(eigenvectors, "eigenvectors", ndim=2)
    B = check_finite_array(B, "B", ndim=2)
    ratio = check_scalar(ratio, "ratio", low=0, closed="neither")
    if lam.min() <= 0:
        raise ValueError(
            f"eigenvalues must be positive, got {lam.min():.3g}: there are fewer than {lam.size} components, "
            "too few data, or the model does not fit; lower k"
        )
    a = (ratio / lam) ** 2
    return a, (B @ V / np.sqrt(a)).T


def _scale(values, U, largest):
    k = values.size
    floor = 1e-12 * largest
    if not values[-1] > floor or largest == 0.0:
        good = int((values > floor).sum())
        raise ValueError(
            f"M2 has only {good} positive eigenvalues, k = {k} components ask for {k}: "
            "lower k, give more data, or check that the model fits (components must be linearly independent)"
        )
    root = np.sqrt(values)
    return U / root, U * root
