"""Observable moments of the form M2 = sum a_i mu_i (x) mu_i, M3 = sum b_i mu_i (x) mu_i (x) mu_i.

Word counts: the average of e_x (x) e_y (x) e_z over all ordered triples of distinct positions of a document needs only
its counts c (Anandkumar et al. 2014, eqs. 8 and 9). The chapter builds these arrays for one document;
:class:`WordMoments` applies them, for a whole corpus, to matrices with few columns and never builds an array of d x d
or d x d x d entries. For points in space see :func:`spherical_moments` and ``fourth_cumulant_whitened``.
"""

import numpy as np
from numba import njit
from scipy import sparse

from learnable.latent.tensors.algebra import pair_products
from learnable.validation import check_choice, check_finite_array, check_scalar

CHUNK = 4096  # rows whose products are held at a time


def check_counts(X, name="X"):
    """Return a document-term matrix as CSR of float64 after checking that it holds counts.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    name : str, default="X"
        The argument's name, for the message.

    Examples
    --------
    >>> check_counts([[1, 0.5]])
    Traceback (most recent call last):
    ...
    ValueError: X must hold whole numbers of words, got 0.5; for weights such as tf-idf the moments are not defined
    """
    if sparse.issparse(X):
        X = sparse.csr_matrix(X, dtype=np.float64)
    else:
        X = sparse.csr_matrix(check_finite_array(X, name, ndim=2))
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"{name} must have at least one document and one word, got shape {X.shape}")
    if not np.isfinite(X.data).all():
        raise ValueError(f"{name} must not contain NaN or infinite counts")
    if X.data.size and X.data.min() < 0:
        raise ValueError(f"{name} must hold non-negative counts, got {X.data.min():g}. Negative values in data")
    odd = X.data != np.floor(X.data)
    if odd.any():
        raise ValueError(
            f"{name} must hold whole numbers of words, got {X.data[odd][0]:g}; "
            "for weights such as tf-idf the moments are not defined"
        )
    return X


class WordMoments:
    """Moments of a corpus, applied and never built.

    Documents with at least one, two and three words feed the first, second and third moment; every document counts
    equally within each. With l the length of a document, its weights are 1 / l, 1 / (l (l - 1)) and
    1 / (l (l - 1)(l - 2)), over the number of documents that feed the moment.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Counts.
    alpha0 : float, default=0
        Sum of the Dirichlet parameters: the moments are those of ``lda_moments``.

    Attributes
    ----------
    M1 : ndarray of shape (d,)
    n_words_, n_pairs_, n_triples_ : int
        Documents that feed the three moments.
    n_short_ : int
        Documents with fewer than three words, which the third moment drops.

    Examples
    --------
    >>> moments = WordMoments([[2, 1], [0, 3]])
    >>> moments.multiply(np.eye(2)).round(3)
    array([[0.167, 0.167],
           [0.167, 0.5  ]])
    """

    def __init__(self, X, alpha0=0.0):
        X = check_counts(X)
        self.X, self.alpha0 = X, check_scalar(alpha0, "alpha0", low=0)
        length = np.asarray(X.sum(axis=1)).ravel()
        self.n_words_, self.n_pairs_, self.n_triples_ = (int((length >= m).sum()) for m in (1, 2, 3))
        self.n_short_ = X.shape[0] - self.n_triples_
        if self.n_triples_ == 0:
            raise ValueError("no document has three words or more: the third moment cannot be estimated")
        self._pair = _inverse(length * (length - 1)) / self.n_pairs_
        self._triple = _inverse(length * (length - 1) * (length - 2)) / self.n_triples_
        # Three vectors over the vocabulary: sum over documents of weight * counts.
        weights = np.column_stack([_inverse(length) / self.n_words_, self._pair, self._triple])
        self.M1, self._pair_diagonal, self._triple_diagonal = (X.T @ weights).T.copy()

    def multiply(self, R):
        """Return M2 @ R for R of shape (d, m), in one pass over the counts: O(nnz m)."""
        R = self._over_words(R, "R")
        X = self.X
        out = _pair_pass(X.indptr, X.indices, X.data, self._pair, R)
        out -= self._pair_diagonal[:, None] * R
        if self.alpha0 > 0:
            out -= self.alpha0 / (self.alpha0 + 1) * np.outer(self.M1, self.M1 @ R)
        return out

    def _over_words(self, R, name):
        """A table with one row for each word: the passes over the counts look up rows without asking."""
        R = np.ascontiguousarray(check_finite_array(R, name, ndim=2))
        if len(R) != self.X.shape[1]:
            raise ValueError(f"{name} must have one row for each of the {self.X.shape[1]} words, got shape {R.shape}")
        return R

    def whitened_third(self, W):
        """Return M3(W, W, W), of shape (k, k, k): O(nnz k + n k^3 + d k^3), memory O((n + d) k) beside the counts."""
        W = self._over_words(W, "W")
        k, X, a0 = W.shape[1], self.X, self.alpha0
        Y, G = _triple_pass(X.indptr, X.indices, X.data, self._triple, W)
        T = triple_mean(Y, weights=self._triple)
        T += 2 * triple_mean(W, weights=self._triple_diagonal)
        T -= _three_places(W, G)
        if a0 > 0:
            m = W.T @ self.M1
            P2 = W.T @ self.multiply(W) + a0 / (a0 + 1) * np.outer(m, m)
            T -= a0 / (a0 + 2) * _spread((P2 + P2.T) / 2, m)
            T += 2 * a0**2 / ((a0 + 2) * (a0 + 1)) * np.multiply.outer(np.outer(m, m), m)
        return _symmetric(T.reshape(k, k, k))


def triple_mean(Y, *, weights=None):
    """Return sum_n w_n y_n (x) y_n (x) y_n for the rows of Y, by matrix products over chunks. O(n k^3 / 2).

    Parameters
    ----------
    Y : array-like of shape (n, k)
    weights : array-like of shape (n,), optional
        1 / n by default.

    Returns
    -------
    ndarray of shape (k, k, k)

    Examples
    --------
    >>> triple_mean([[1.0], [2.0]]).item()
    4.5
    """
    Y = check_finite_array(Y, "Y", ndim=2)
    n, k = Y.shape
    if 0 in Y.shape:
        raise ValueError(f"Y must have at least one row and one column, got shape {Y.shape}")
    weights = np.full(n, 1.0 / n) if weights is None else check_finite_array(weights, "weights", ndim=1)
    if weights.size != n:
        raise ValueError(f"weights must have one entry for each of the {n} rows of Y, got {weights.size}")
    i, j = np.triu_indices(k)
    packed = np.zeros((k, i.size))
    for start in range(0, n, CHUNK):
        rows = np.ascontiguousarray(Y[start : start + CHUNK].T)
        packed += (rows * weights[start : start + CHUNK]) @ pair_products(rows).T
    T = np.empty((k, k, k))
    T[:, i, j] = T[:, j, i] = packed
    return T


def spherical_moments(X, k, *, covariance="common"):
    """Moments of a mixture of spherical Gaussians (Anandkumar et al. 2014, Theorems 3.2 and 3.3).

    The smallest eigenvalue of the covariance is the (mean) variance; in a sample, the mean of the d - k + 1
    smallest. M1 is sum_i w_i sigma_i^2 mu_i: sigma^2 E[x] for a common variance, else
    E[x (v'(x - E x))^2], averaged over the directions v of that eigenspace. O(n d^2 + d^3).

    Parameters
    ----------
    X : array-like of shape (n, d)
    k : int
        Number of components, at most d.
    covariance : {"common", "different"}, default="common"

    Returns
    -------
    sigma2 : float
    M1 : ndarray of shape (d,)
    M2 : ndarray of shape (d, d)

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(10_000, 3)) + [5.0, 0.0, 0.0]
    >>> round(spherical_moments(X, 1)[0], 1)
    1.0
    """
    X = check_finite_array(X, "X", ndim=2)
    n, d = X.shape
    k = check_scalar(k, "k", low=1, integer=True)
    if d < k:
        raise ValueError(f"k = {k} spherical components need at least {k} dimensions, got {d} feature(s)")
    check_choice(covariance, "covariance", ("common", "different"))
    mean = X.mean(axis=0)
    centred = X - mean
    values, U = np.linalg.eigh(centred.T @ centred / n)
    rest = d - k + 1
    sigma2 = float(max(values[:rest].mean(), 0.0))
    M2 = X.T @ X / n
    M2[np.arange(d), np.arange(d)] -= sigma2
    if covariance == "common":
        return sigma2, sigma2 * mean, M2
    squares = ((centred @ U[:, :rest]) ** 2).mean(axis=1)
    return sigma2, X.T @ squares / n, M2


def spherical_third_whitened(X, M1, W):
    """Return M3(W, W, W) with M3 = E[x^(x)3] - sum_i (M1 (x) e_i (x) e_i and its two turns). O(n k^3 + n d k)."""
    return _symmetric(triple_mean(X @ W) - _spread(W.T @ W, W.T @ M1))


def fourth_cumulant_map(X, S, Q):
    """Return M4(I, I, Q) = E[x x' (x' Q x)] - S tr(Q S) - 2 S Q S for centred X with covariance S. O(n d^2)."""
    form = np.einsum("ni,ni->n", X @ Q, X)
    out = (X * form[:, None]).T @ X / X.shape[0]
    out -= S * np.sum(Q * S) + S @ (Q + Q.T) @ S
    return (out + out.T) / 2


def fourth_cumulant_whitened(Y, S):
    """Return the fourth cumulant of the centred rows of Y, with covariance S, as an array (k, k, k, k). O(n k^4)."""
    n, k = Y.shape
    i, j = np.triu_indices(k)
    packed = np.zeros((i.size, i.size))
    for start in range(0, n, CHUNK):
        pairs = pair_products(np.ascontiguousarray(Y[start : start + CHUNK].T))
        packed += pairs @ pairs.T
    packed /= n
    place = np.empty((k, k), dtype=int)
    place[i, j] = place[j, i] = np.arange(i.size)
    T = packed[place[:, :, None, None], place[None, None]]
    T = T - np.einsum("ab,cd->abcd", S, S) - np.einsum("ac,bd->abcd", S, S) - np.einsum("ad,bc->abcd", S, S)
    return T


def _inverse(x):
    out = np.zeros_like(x)
    np.divide(1.0, x, out=out, where=x > 0)
    return out


def _spread(P, m):
    """P (x) m with m in the third, second and first place."""
    T = np.multiply.outer(P, m)
    return T + T.transpose(0, 2, 1) + T.transpose(2, 0, 1)


def _three_places(W, G):
    """sum_i w_i (x) w_i (x) g_i with g_i in the third, second and first place."""
    k = W.shape[1]
    flat = np.zeros((k, k * k))
    for start in range(0, W.shape[0], CHUNK):
        w, g = W[start : start + CHUNK], G[start : start + CHUNK]
        flat += g.T @ (w[:, :, None] * w[:, None, :]).reshape(len(w), k * k)
    T = flat.reshape(k, k, k)  # g in the first place
    return T + T.transpose(1, 0, 2) + T.transpose(1, 2, 0)


def _symmetric(T):
    return sum(T.transpose(p) for p in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))) / 6


@njit(cache=True)
def _pair_pass(indptr, indices, data, weight, R):
    """sum over documents of weight * c (c' R)."""
    d, m = R.shape
    out = np.zeros((d, m))
    y = np.empty(m)
    for row in range(indptr.size - 1):
        if weight[row] == 0.0:
            continue
        y[:] = 0.0
        for p in range(indptr[row], indptr[row + 1]):
            c, i = data[p], indices[p]
            for a in range(m):
                y[a] += c * R[i, a]
        for a in range(m):
            y[a] *= weight[row]
        for p in range(indptr[row], indptr[row + 1]):
            c, i = data[p], indices[p]
            for a in range(m):
                out[i, a] += c * y[a]
    return out


@njit(cache=True)
def _triple_pass(indptr, indices, data, weight, W):
    """The rows y = W'c of all documents, and G_i = sum over documents of weight * c_i y."""
    d, k = W.shape
    n = indptr.size - 1
    Y, G = np.zeros((n, k)), np.zeros((d, k))
    for row in range(n):
        if weight[row] == 0.0:
            continue
        for p in range(indptr[row], indptr[row + 1]):
            c, i = data[p], indices[p]
            for a in range(k):
                Y[row, a] += c * W[i, a]
        for p in range(indptr[row], indptr[row + 1]):
            c, i = weight[row] * data[p], indices[p]
            for a in range(k):
                G[i, a] += c * Y[row, a]
    return Y, G
