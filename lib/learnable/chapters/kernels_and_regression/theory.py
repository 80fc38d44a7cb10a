"""Which functions are kernels, two forms of ridge regression, a risk bound, documents (Lember 2012, Sec. 4.5-4.6)."""

import importlib
import inspect
import warnings
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from learnable.kernels.functions import as_kernel
from learnable.kernels.svr import epsilon_loss
from learnable.validation import check_rng


def epsilon_objective(K, y, dual_coef, intercept, alpha, epsilon, power=1):
    """Return the primal objective sum_i |y_i - (K d)_i - a|_eps^power + alpha d'K d."""
    fitted = K @ dual_coef
    return epsilon_loss(y - fitted - intercept, epsilon, power) + alpha * float(dual_coef @ fitted)


class RidgePath(NamedTuple):
    """Ridge regressions for many penalties from one singular value decomposition."""

    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    loo_residuals: np.ndarray
    loo_mse: np.ndarray
    df: np.ndarray


def ridge_path(X, y, alphas):
    """Return ridge regressions and their exact leave-one-out residuals for all `alphas` from one decomposition."""
    centre, U, s, V, u = _decompose(X, y)
    alphas = np.asarray(alphas, dtype=np.float64)
    shrink = s[:, None] / (s[:, None] ** 2 + alphas)
    coefs = (V.T @ (u[:, None] * shrink)).T
    share = s[:, None] ** 2 / (s[:, None] ** 2 + alphas)
    leverage = 1.0 / y.size + (U**2) @ share
    residuals = (y - y.mean())[:, None] - U @ (u[:, None] * share)
    with np.errstate(divide="ignore", invalid="ignore"):
        loo = np.where(1.0 - leverage > 1e-10, residuals / (1.0 - leverage), np.nan)
    undetermined = np.isnan(loo).any(axis=0)
    if undetermined.any():
        warnings.warn(
            f"at alpha = {alphas[undetermined].max():g} some points are fitted exactly whatever their y, so that their "
            "leave-one-out residuals are not determined (NaN); take larger penalties",
            RuntimeWarning,
            stacklevel=2,
        )
    return RidgePath(alphas, coefs, y.mean() - coefs @ centre, loo.T, np.mean(loo**2, axis=0), 1.0 + share.sum(axis=0))


def lam_to_alpha(lam, n):
    """Return alpha = lam / (2n): the lasso's penalty where the source minimises sum (.)^2 + lam |w|_1."""
    return np.asarray(lam) / (2 * n) if np.ndim(lam) else lam / (2 * n)


def _decompose(X, y):
    """Mean of X, its centred singular value decomposition without null directions, and y in these."""
    centre = X.mean(axis=0)
    U, s, V = linalg.svd(X - centre, full_matrices=False)
    keep = s > 1e-13 * max(s[0], 1e-300) * max(X.shape)
    return centre, U[:, keep], s[keep], V[keep], U[:, keep].T @ (y - y.mean())


class Violation(NamedTuple):
    """Points and coefficients (of length one) with c'Gc < 0: a proof that a function is no kernel."""

    points: np.ndarray
    coef: np.ndarray
    value: float
    n_tries: int


def gram_matrix(kernel, X):
    """Return the Gram matrix of a kernel, given as anything :func:`~learnable.kernels.functions.as_kernel` takes."""
    return as_kernel(kernel)(X)


def is_psd_gram(G, tol=1e-8):
    """Return whether a symmetric matrix is positive semi-definite up to rounding."""
    G = np.asarray(G, dtype=np.float64)
    return bool(G.size == 0 or np.linalg.eigvalsh(G)[0] >= -tol * max(np.trace(G), 0.0))


def find_violation(k, sampler, n_restarts=1000, *, n_points=6, refine=200, tol=1e-8, random_state=None):
    """Search for points and coefficients with sum_ij c_i c_j k(x_i, x_j) < 0."""
    kernel, rng = as_kernel(k), check_rng(random_state)

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


def cooccurrence_proximity(counts, *, strength=0.3, neighbours=3, min_count=3):
    """Return a proximity matrix: one on the diagonal, `strength` times the cosine to a word's nearest words."""
    present = sparse.csc_array((counts > 0).astype(np.float64))
    frequency = np.asarray(present.sum(axis=0)).ravel()
    scale = np.where(frequency >= min_count, 1.0 / np.sqrt(np.maximum(frequency, 1.0)), 0.0)
    unit = present @ sparse.diags_array(scale)
    cosine = sparse.csr_array(unit.T @ unit)
    cosine.setdiag(0.0)
    cosine.eliminate_zeros()
    rows, columns, values = [], [], []
    for w in range(cosine.shape[0]):
        stretch = slice(cosine.indptr[w], cosine.indptr[w + 1])
        order = np.argsort(-cosine.data[stretch], kind="stable")[:neighbours]
        rows += [w] * order.size
        columns += cosine.indices[stretch][order].tolist()
        values += (strength * cosine.data[stretch][order]).tolist()
    related = sparse.csr_array((values, (rows, columns)), shape=cosine.shape)
    return sparse.csr_array(related + sparse.eye_array(cosine.shape[0]))


_SHELVES = {
    "numpy": "numpy numpy.linalg numpy.fft numpy.ma",
    "scipy": "scipy.stats scipy.linalg scipy.optimize scipy.special scipy.sparse",
    "sklearn": "sklearn.metrics sklearn.preprocessing sklearn.datasets sklearn.linear_model sklearn.utils",
    "standard library": "ast calendar csv email.utils functools glob heapq inspect itertools json logging os pathlib "
    "random shutil socket statistics string subprocess tempfile textwrap threading unittest urllib.parse zipfile",
}


def docstring_corpus(n_each=150, *, n_words=60, random_state=None):
    """Return documents without a download: beginnings of docstrings, labelled by the package they come from."""
    rng = check_rng(random_state)
    documents, packages = [], []
    for name, modules in _SHELVES.items():
        found = set()
        for module in map(importlib.import_module, modules.split()):
            members = (value for member, value in vars(module).items() if not member.startswith("_"))
            texts = (inspect.getdoc(value) or "" for value in members if callable(value))
            found |= {" ".join(text.split()[:n_words]) for text in texts if len(text.split()) >= 8}
        chosen = rng.permutation(sorted(found))[:n_each]
        documents += chosen.tolist()
        packages += [name] * len(chosen)
    return np.array(documents, dtype=object), np.array(packages)
