"""Is this function a kernel? Gram matrices, a test of them, and a search for counterexamples."""

from dataclasses import dataclass

import numpy as np

from learnable.kernels.functions import as_kernel
from learnable.validation import check_choice, check_finite_array, check_rng, check_scalar, check_symmetric

__all__ = ["Violation", "find_violation", "gram", "is_psd_gram"]


@dataclass(frozen=True)
class Violation:
    """Points and coefficients (of length one) with c'Gc < 0: a proof that a function is no kernel."""

    points: np.ndarray
    coef: np.ndarray
    value: float
    n_tries: int


def gram(kernel, X):
    """Return the Gram matrix of a kernel, given as anything :func:`~learnable.kernels.functions.as_kernel` takes.

    Parameters
    ----------
    kernel : Kernel, str or callable
    X : array-like of shape (n, d)

    Examples
    --------
    >>> gram("linear", [[1.0], [2.0]])
    array([[1., 2.],
           [2., 4.]])
    """
    return as_kernel(kernel)(X)


def is_psd_gram(G, tol=1e-8):
    """Return whether a symmetric matrix is positive semi-definite up to rounding.

    Parameters
    ----------
    G : array-like of shape (n, n)
    tol : float, default=1e-8
        Eigenvalues down to ``-tol`` times the trace pass.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_psd_gram([[1.0, 1.0], [1.0, 1.0]]), is_psd_gram([[0.0, 1.0], [1.0, 0.0]])
    (True, False)
    """
    G = check_symmetric(G, "G", allow_empty=True)
    tol = check_scalar(tol, "tol", low=0)
    return bool(G.size == 0 or np.linalg.eigvalsh(G)[0] >= -tol * max(np.trace(G), 0.0))


def find_violation(k, sampler, n_restarts=1000, *, n_points=6, refine=200, tol=1e-8, random_state=None):
    """Search for points and coefficients with sum_ij c_i c_j k(x_i, x_j) < 0.

    Random sets of 2 to `n_points` points are drawn; the eigenvector of the smallest eigenvalue gives the best
    coefficients. The first violation found is made clearer by random moves of its points that lower the eigenvalue
    relative to the largest.

    Parameters
    ----------
    k : Kernel, str or callable
        ``k(X, Y)`` -> matrix.
    sampler : callable
        ``sampler(rng, m)`` -> array of m points.
    n_restarts : int, default=1000
    n_points : int, default=6
    refine : int, default=200
        Moves tried in the refinement.
    tol : float, default=1e-8
        An eigenvalue counts as negative below ``-tol`` times the largest in absolute value.
    random_state : int or Generator, optional

    Returns
    -------
    Violation or None
        None when the search found nothing, which proves nothing.

    Examples
    --------
    >>> distance = lambda X, Y: np.abs(X - Y.T)
    >>> find_violation(distance, lambda rng, m: rng.normal(size=(m, 1)), random_state=0).value < 0
    True
    """
    kernel = as_kernel(k)
    n_restarts = check_scalar(n_restarts, "n_restarts", low=1, integer=True)
    n_points = check_scalar(n_points, "n_points", low=2, integer=True)
    rng = check_rng(random_state)

    refine = check_scalar(refine, "refine", low=0, high=10**7, integer=True)

    def smallest(points):
        with np.errstate(over="ignore", invalid="ignore"):
            G = kernel(points)
        values, vectors = np.linalg.eigh(G)
        return values[0] / max(np.abs(values).max(), 1e-300), values[0], vectors[:, 0]

    for attempt in range(1, n_restarts + 1):
        points = np.asarray(sampler(rng, int(rng.integers(2, n_points + 1))), dtype=np.float64)
        relative, value, coef = smallest(points)
        if relative >= -tol:
            continue
        scale = 0.3 * (np.std(points) + 1e-3)
        for _ in range(refine):
            moved = points + scale * rng.normal(size=points.shape)
            candidate = smallest(moved)
            if candidate[0] < relative:
                points, (relative, value, coef) = moved, candidate
            else:
                scale *= 0.98
        return Violation(points, coef, float(value), attempt)
    return None


def kernel_margin_bound(K_diag, slacks, gamma, *, delta=0.05, norm=1):
    """Margin bound on the risk of a kernel machine with |w| <= 1 and a margin `gamma` fixed in advance.

    With probability at least 1 - delta over the sample (Lember 2012, (4.3.4) and (4.3.5) with kernels)::

        norm=1:  sum xi / (n gamma)      + 4 sqrt(sum K(x_i, x_i)) / (n gamma) + 3 sqrt(ln(2/delta) / (2n))
        norm=2:  sum xi^2 / (n gamma^2)  + 8 sqrt(sum K(x_i, x_i)) / (n gamma) + 3 sqrt(ln(2/delta) / (2n))

    Parameters
    ----------
    K_diag : array-like of shape (n,)
        The values K(x_i, x_i); all one for a Gaussian kernel.
    slacks : array-like of shape (n,)
        (gamma - y_i f(x_i))_+ of the function f = <w, Phi> with |w| <= 1.
    gamma : float
    delta : float, default=0.05
    norm : {1, 2}, default=1

    Returns
    -------
    float
        May exceed one, and then says nothing.

    Examples
    --------
    >>> round(kernel_margin_bound(np.ones(10_000), np.zeros(10_000), 0.5), 3)
    0.121
    """
    K_diag = check_finite_array(K_diag, "K_diag", ndim=1)
    slacks = check_finite_array(slacks, "slacks", ndim=1)
    gamma = check_scalar(gamma, "gamma", low=0, closed="neither")
    delta = check_scalar(delta, "delta", low=0, high=1, closed="neither")
    if K_diag.size != slacks.size or K_diag.size == 0:
        raise ValueError("K_diag and slacks must have the same length, at least one")
    if K_diag.min() < 0 or slacks.min() < 0:
        raise ValueError("K_diag and slacks must be non-negative")
    check_choice(norm, "norm", (1, 2))
    n = slacks.size
    empirical = np.sum((slacks / gamma) ** norm) / n
    complexity = 4.0 * norm * np.sqrt(K_diag.sum()) / (n * gamma)
    return float(empirical + complexity + 3.0 * np.sqrt(np.log(2.0 / delta) / (2.0 * n)))
