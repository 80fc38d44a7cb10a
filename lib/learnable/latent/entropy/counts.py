"""Counts, multiplicities, and the estimators of entropy that correct a bias.

Every estimator of the chapter sees the data only through how many symbols occurred once, twice, ...: a sample of a
million words has about a thousand different counts, and costs a thousand terms.
"""

import warnings

import numpy as np
from scipy import special

from learnable.validation import check_choice, check_scalar

KINDS = ("counts", "samples", "multiplicities")


def multiplicities(data, kind="counts"):
    """Distinct counts and how many symbols have each: sum k m = N, sum m = K. O(N) or O(N log N) for samples.

    Parameters
    ----------
    data : array-like, or a pair (k, m)
        Counts of the symbols (zeros are symbols that were not seen, and are dropped), the samples themselves (numbers
        or strings; rows of a matrix are symbols too), or multiplicities that were computed before.
    kind : {"counts", "samples", "multiplicities"}, default="counts"

    Returns
    -------
    k : ndarray of int64
        Distinct positive counts, increasing.
    m : ndarray of int64
        How many symbols have that count.

    Examples
    --------
    >>> multiplicities([4, 2, 2, 1, 0])
    (array([1, 2, 4]), array([1, 2, 1]))
    >>> multiplicities(list("mississippi"), kind="samples")
    (array([1, 2, 4]), array([1, 1, 2]))
    """
    check_choice(kind, "kind", KINDS)
    if kind == "samples":
        data = _sample_counts(data)
    if kind == "multiplicities":
        if not isinstance(data, tuple | list) or len(data) != 2:
            raise ValueError(
                "kind='multiplicities' needs a pair (k, m): distinct counts, and how many symbols have each"
            )
        k, m = (_whole(part, name) for part, name in zip(data, ("k", "m"), strict=True))
        if k.size != m.size or (k <= 0).any() or np.unique(k).size != k.size:
            raise ValueError("k must hold distinct positive counts, one for every entry of m")
        order = np.argsort(k)
        k, m = k[order][m[order] > 0], m[order][m[order] > 0]
    else:
        counts = _whole(data, "counts")
        counts = counts[counts > 0]
        if counts.size and counts.max() < 16 * counts.size + 1000:
            m = np.bincount(counts)
            k = np.flatnonzero(m)
            m = m[k]
        else:
            k, m = np.unique(counts, return_counts=True)
        m = m.astype(np.int64, copy=False)
    if k.size == 0:
        raise ValueError("no symbol was seen: entropy needs at least one sample")
    if float(k.astype(float) @ m) > 2**53:
        raise ValueError("the counts sum to more than 2^53, beyond what double precision counts exactly")
    return k, m


def entropy_plugin(data, *, kind="counts", base=None):
    """Entropy of the observed frequencies, log N - (1/N) sum n log n; biased down by about (A - 1) / (2 N).

    Parameters
    ----------
    data, kind
        See :func:`multiplicities`.
    base : float, optional
        Of the logarithm, more than 1; nats by default, 2 gives bits.

    Examples
    --------
    >>> entropy_plugin([1, 1, 1, 1], base=2)
    2.0
    """
    k, m = multiplicities(data, kind)
    return in_base(_plugin(k, m), base)


def entropy_miller_madow(data, *, kind="counts", base=None):
    """Plug-in entropy plus the first term of its bias, (K - 1) / (2 N) (Miller 1955).

    Parameters
    ----------
    data : array-like
        Counts, samples or multiplicities; see `kind`.
    kind : {"counts", "samples", "multiplicities"}, default="counts"
    base : float, optional
        Of the logarithm; e by default.

    Examples
    --------
    >>> round(entropy_miller_madow([5, 3, 2]) - entropy_plugin([5, 3, 2]), 12)
    0.1
    """
    k, m = multiplicities(data, kind)
    return in_base(_plugin(k, m) + (m.sum() - 1) / (2.0 * (k @ m)), base)


def entropy_grassberger(data, *, kind="counts", base=None):
    """log N - (1/N) sum n G(n), G(n) = psi(n) + (-1)^n / 2 [psi((n+1)/2) - psi(n/2)] (Grassberger 2008).

    Parameters
    ----------
    data : array-like
        Counts, samples or multiplicities; see `kind`.
    kind : {"counts", "samples", "multiplicities"}, default="counts"
    base : float, optional
        Of the logarithm; e by default.

    Examples
    --------
    >>> round(entropy_grassberger([5, 3, 2]), 4)
    1.2396
    """
    k, m = multiplicities(data, kind)
    n = k.astype(float)
    sign = np.where(k % 2 == 0, 0.5, -0.5)
    G = special.digamma(n) + sign * (special.digamma((n + 1) / 2) - special.digamma(n / 2))
    return in_base(np.log(k @ m) - (m * n) @ G / (k @ m), base)


def entropy_chao_shen(data, *, kind="counts", base=None):
    """Coverage-adjusted estimator (Chao and Shen 2003): frequencies times the coverage, weighted by 1 / P(seen).

    C = 1 - m_1 / N estimates the mass of what was seen, p = C n / N, and H = -sum p log p / (1 - (1 - p)^N). If every
    sample is a singleton, C = 0 and the estimate is infinite, with a warning.

    Parameters
    ----------
    data : array-like
        Counts, samples or multiplicities; see `kind`.
    kind : {"counts", "samples", "multiplicities"}, default="counts"
    base : float, optional
        Of the logarithm; e by default.

    Examples
    --------
    >>> round(entropy_chao_shen([4, 2, 2, 1]), 4)
    1.4904
    """
    k, m = multiplicities(data, kind)
    N = float(k @ m)
    singletons = float(m[0]) if k[0] == 1 else 0.0
    if singletons == N:
        return _no_coincidence("the estimated coverage is zero")
    p = (1.0 - singletons / N) * k / N
    with np.errstate(divide="ignore"):
        seen = -np.expm1(N * np.log1p(-p))
    return in_base(m @ (special.entr(p) / seen), base)


def entropy_zhang(data, *, kind="counts", base=None):
    """sum (n / N) [psi(N) - psi(n)]: Zhang's (2012) sum over Good-Turing coverages, in closed form.

    Parameters
    ----------
    data : array-like
        Counts, samples or multiplicities; see `kind`.
    kind : {"counts", "samples", "multiplicities"}, default="counts"
    base : float, optional
        Of the logarithm; e by default.

    Examples
    --------
    >>> round(entropy_zhang([5, 3, 2]), 4)
    1.1373
    """
    k, m = multiplicities(data, kind)
    N = float(k @ m)
    return in_base((m * k) @ (special.digamma(N) - special.digamma(k.astype(float))) / N, base)


def in_base(value, base):
    """Nats to units of log `base`."""
    if base is None:
        return float(value)
    return float(value / np.log(check_scalar(base, "base", low=1, closed="neither")))


def check_alphabet(size, K):
    """An alphabet must hold at least the symbols that were seen."""
    if size is None:
        return K
    size = check_scalar(size, "alphabet_size", low=1, integer=True)
    if size < K:
        raise ValueError(f"alphabet_size must be at least the number of symbols seen, {K}, got {size}")
    return size


def _plugin(k, m):
    N = float(k @ m)
    return m @ special.entr(k / N)


def _no_coincidence(reason):
    warnings.warn(f"no symbol was seen twice, and {reason}: the estimate is infinite", UserWarning, stacklevel=3)
    return float("inf")


def _whole(values, name):
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "iufb":
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of whole numbers") from None
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
        if (array != np.floor(array)).any():
            raise ValueError(f"{name} must be whole numbers, got {array[array != np.floor(array)][0]}")
        if (np.abs(array) > 2**53).any():
            raise ValueError(f"{name} must not exceed 2^53")
    if array.size and array.min() < 0:
        raise ValueError(f"{name} must not be negative, got {array.min()}")
    return array.astype(np.int64)


def _sample_counts(samples):
    samples = np.asarray(samples)
    if samples.ndim not in (1, 2) or samples.shape[0] == 0:
        raise ValueError(
            f"samples must be a non-empty vector, or a matrix with symbols as rows, got shape {samples.shape}"
        )
    if samples.dtype.kind in "fc" and np.isnan(samples).any():
        raise ValueError("samples must not contain NaN")
    if samples.dtype.kind in "mM" and np.isnat(samples).any():
        raise ValueError("samples must not contain NaT")
    if samples.dtype.kind == "O" and any(value is None or value != value for value in samples.ravel()):
        raise ValueError("samples must not contain missing values")
    if samples.ndim == 1 and samples.dtype.kind in "iu" and 0 <= samples.min() and samples.max() < 4 * samples.size:
        return np.bincount(samples)
    return np.unique(samples, axis=0 if samples.ndim == 2 else None, return_counts=True)[1]
