"""Low-rank matrices, partly seen ratings, planted factorizations and tensors."""

import numpy as np
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size, random_orthogonal
from learnable.validation import check_rng, check_scalar

__all__ = ["make_low_rank", "make_mixed_sources", "make_planted_nmf", "make_ratings", "make_symmetric_tensor"]


def make_low_rank(shape=(100, 80), rank=5, *, noise=0.1, observed=0.3, skew=(0.0, 0.0), random_state=None):
    """A low-rank matrix plus noise of which only some entries are seen.

    L = U V' / sqrt(rank) with standard normal factors, so that its entries have variance one.

    Parameters
    ----------
    shape : tuple of int, default=(100, 80)
    rank : int, default=5
    noise : float, default=0.1
    observed : float or int, default=0.3
        Share (or number, if above one) of the entries that are seen, drawn without replacement.
    skew : (float, float), default=(0, 0)
        Zipf exponents of rows and columns: cell (i, j) is drawn in proportion to (i + 1)^-a (j + 1)^-b after random
        relabelling. Zero is uniform.
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``row``, ``column``, ``value`` (noisy, at the seen cells), ``matrix`` (true), ``left``, ``right``.

    Examples
    --------
    >>> made = make_low_rank((20, 15), 2, random_state=0)
    >>> int(np.linalg.matrix_rank(made.matrix)), len(made.value)
    (2, 90)
    """
    n, m = (check_size(s, "shape") for s in shape)
    rank = check_scalar(rank, "rank", low=1, high=min(n, m), integer=True)
    rng, noise = check_rng(random_state), check_scalar(noise, "noise", low=0)
    left, right = rng.standard_normal((n, rank)) / np.sqrt(rank), rng.standard_normal((m, rank))
    matrix = left @ right.T
    row, column = _cells(n, m, observed, skew, rng)
    value = matrix[row, column] + noise * rng.standard_normal(len(row))
    return Bunch(row=row, column=column, value=value, matrix=matrix, left=left, right=right, shape=(n, m))


def _cells(n, m, observed, skew, rng):
    """Distinct cells, drawn with weights that are products of Zipf laws (Gumbel's trick)."""
    count = round(observed * n * m) if observed <= 1 else check_size(observed, "observed")
    if not 1 <= count <= n * m:
        raise ValueError(f"observed must select between 1 and {n * m} cells, got {observed!r}")
    a, b = (check_scalar(s, "skew", low=0) for s in skew)
    rows, columns = rng.permutation(n), rng.permutation(m)
    weight = -a * np.log1p(rows)[:, None] - b * np.log1p(columns)
    keys = weight + rng.gumbel(size=(n, m))
    chosen = np.sort(np.argpartition(-keys.ravel(), count - 1)[:count])
    return np.divmod(chosen, m)


def make_ratings(
    n_users=943, n_items=1682, *, n_ratings=100_000, rank=10, noise=0.9, skew=(0.6, 0.8), random_state=None
):
    """Ratings 1 to 5 with the size and the long tails of MovieLens-100K.

    3.5 + user effect (sd 0.4) + item effect (sd 0.5) + low-rank part (sd 0.35) + noise, rounded and cut to 1..5; busy
    users and popular items follow Zipf laws with the given exponents.

    Parameters
    ----------
    n_users : int, default=943
    n_items : int, default=1682
    n_ratings : int, default=100000
    rank : int, default=10
    noise : float, default=0.9
    skew : tuple of float, default=(0.6, 0.8)
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``user``, ``item``, ``rating``, ``expected`` (before noise and rounding, at the seen cells), ``shape``.

    Examples
    --------
    >>> made = make_ratings(50, 40, n_ratings=500, random_state=0)
    >>> made.rating.shape, sorted(set(made.rating.astype(int).tolist()))
    ((500,), [1, 2, 3, 4, 5])
    """
    n, m, rng = check_size(n_users, "n_users"), check_size(n_items, "n_items"), check_rng(random_state)
    count = check_scalar(n_ratings, "n_ratings", low=1, high=n * m, integer=True)
    rank, noise = check_size(rank, "rank"), check_scalar(noise, "noise", low=0)
    user, item = _cells(n, m, count if count > 1 else 1 / (n * m), skew, rng)
    left, right = rng.standard_normal((n, rank)), rng.standard_normal((m, rank))
    expected = 3.5 + 0.4 * rng.standard_normal(n)[user] + 0.5 * rng.standard_normal(m)[item]
    expected += 0.35 * (left[user] * right[item]).sum(axis=1) / np.sqrt(rank)
    rating = np.clip(np.rint(expected + noise * rng.standard_normal(count)), 1, 5)
    return Bunch(user=user, item=item, rating=rating, expected=expected, shape=(n, m))


def make_mixed_sources(n_samples=10_000, kinds=("uniform", "laplace"), *, noise=0.0, random_state=None):
    """Independent sources with mean 0 and variance 1, mixed by a random matrix: x = A s + noise (ICA).

    Parameters
    ----------
    n_samples : int, default=10000
        Number of rows.
    kinds : sequence of {"uniform", "laplace", "sign", "exponential", "gaussian"}
    noise : float, default=0.0
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (n, k), ``sources`` (n, k), ``mixing`` (k, k), ``kurtosis`` (excess, of each source).

    Examples
    --------
    >>> made = make_mixed_sources(100, random_state=0)
    >>> made.data.shape, made.kurtosis.tolist()
    ((100, 2), [-1.2, 3.0])
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    excess = {"uniform": -1.2, "laplace": 3.0, "sign": -2.0, "exponential": 6.0, "gaussian": 0.0}
    unknown = [k for k in kinds if k not in excess]
    if unknown or not len(kinds):
        raise ValueError(f"kinds must be among {', '.join(excess)}, got {list(kinds)}")
    draws = {
        "uniform": lambda: rng.uniform(-np.sqrt(3), np.sqrt(3), n),
        "laplace": lambda: rng.laplace(scale=np.sqrt(0.5), size=n),
        "sign": lambda: rng.choice([-1.0, 1.0], size=n),
        "exponential": lambda: rng.exponential(size=n) - 1,
        "gaussian": lambda: rng.standard_normal(n),
    }
    sources = np.column_stack([draws[k]() for k in kinds])
    mixing = rng.standard_normal((len(kinds), len(kinds)))
    noise = check_scalar(noise, "noise", low=0)
    data = sources @ mixing.T + noise * rng.standard_normal(sources.shape)
    return Bunch(data=data, sources=sources, mixing=mixing, kurtosis=np.array([excess[k] for k in kinds]))


def make_planted_nmf(shape=(100, 200), k=5, *, noise=0.01, random_state=None):
    """V = W H + noise with W made of k disjoint blocks with Dirichlet entries, H ~ Gamma(0.5) (Hoyer 2004, planted).

    Noise is a relative factor: V is multiplied by |1 + noise N(0, 1)| entrywise, so it stays non-negative.

    Parameters
    ----------
    shape : tuple of int, default=(100, 200)
    k : int, default=5
    noise : float, default=0.01
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_planted_nmf((12, 20), 3, random_state=0)
    >>> made.data.shape, bool((made.data >= 0).all())
    ((12, 20), True)
    """
    d, n = (check_size(s, "shape") for s in shape)
    k = check_scalar(k, "k", low=1, high=d, integer=True)
    rng, noise = check_rng(random_state), check_scalar(noise, "noise", low=0)
    block = np.arange(d) * k // d
    W = np.zeros((d, k))
    for j in range(k):
        W[block == j, j] = rng.dirichlet(np.ones((block == j).sum()))
    H = rng.gamma(0.5, size=(k, n))
    data = W @ H * np.abs(1 + noise * rng.standard_normal((d, n)))
    return Bunch(data=data, W=W, H=H)


def make_symmetric_tensor(d=10, k=5, *, weights=(1.0, 2.0), noise=0.01, random_state=None):
    """Sum of w_i v_i (x) v_i (x) v_i with orthonormal v_i, plus symmetrised Gaussian noise (Anandkumar et al. 2014).

    Parameters
    ----------
    d : int, default=10
    k : int, default=5
    weights : (float, float) or float, default=(1, 2)
        Ends of the uniform law of the weights, or one weight for all.
    noise : float, default=0.01
        Standard deviation of the Gaussian tensor before averaging over the six permutations of its indices.
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``tensor`` (d, d, d), ``weights`` (k,), ``components`` (k, d).

    Examples
    --------
    >>> made = make_symmetric_tensor(4, 2, noise=0.0, random_state=0)
    >>> bool(np.allclose(np.einsum("ijk,j,k->i", made.tensor, *made.components[[0, 0]]) / made.weights[0],
    ...      made.components[0]))
    True
    """
    d, rng = check_size(d, "d"), check_rng(random_state)
    k = check_scalar(k, "k", low=1, high=d, integer=True)
    noise = check_scalar(noise, "noise", low=0)
    w = np.full(k, float(weights)) if np.ndim(weights) == 0 else rng.uniform(*weights, size=k)
    v = random_orthogonal(d, rng)[:, :k].T
    tensor = np.einsum("a,ai,aj,ak->ijk", w, v, v, v)
    e = rng.standard_normal((d, d, d))
    orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    tensor += noise * sum(e.transpose(o) for o in orders) / 6
    return Bunch(tensor=tensor, weights=w, components=v)
