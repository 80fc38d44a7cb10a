"""Regression problems whose true function, support and noise are known.

Each ``Bunch`` has ``data``, ``target``, ``signal`` (the target without noise) and the truth of the design: ``coef``,
``support``, ``sigma``, ``cov``.
"""

import numpy as np
from scipy import linalg, ndimage
from sklearn.utils import Bunch

from learnable.datasets._simulate import answer, check_size
from learnable.validation import check_choice, check_finite_array, check_rng, check_scalar

__all__ = [
    "design_covariance",
    "make_copy_number",
    "make_curve",
    "make_friedman",
    "make_gapped_sinc",
    "make_gene_regression",
    "make_heavy_design",
    "make_robot_arm",
    "make_sparse_linear",
    "make_voxels",
]


def design_covariance(kind, p, *, rho=0.5, band=5):
    """Covariance matrices of the usual random designs, with unit diagonal.

    Parameters
    ----------
    kind : {"identity", "toeplitz", "circulant", "equicorrelated"}
        rho^|i - j|; rho at circular distance 1..band; rho everywhere.
    p : int
    rho : float, default=0.5
    band : int, default=5
        For "circulant".

    Examples
    --------
    >>> design_covariance("circulant", 6, rho=0.1, band=1)[0].tolist()
    [1.0, 0.1, 0.0, 0.0, 0.0, 0.1]
    """
    check_choice(kind, "kind", ("identity", "toeplitz", "circulant", "equicorrelated"))
    p, rho = check_size(p, "p"), check_scalar(rho, "rho", low=-1, high=1, closed="neither")
    if kind == "identity":
        return np.eye(p)
    if kind == "toeplitz":
        return linalg.toeplitz(rho ** np.arange(p))
    if kind == "circulant":
        distance = np.minimum(np.arange(p), p - np.arange(p))
        cov = linalg.circulant(np.where(distance <= check_size(band, "band"), rho, 0.0)).astype(np.float64)
        np.fill_diagonal(cov, 1.0)
    else:
        cov = np.full((p, p), rho) + (1 - rho) * np.eye(p)
    if np.linalg.eigvalsh(cov)[0] <= 0:
        raise ValueError(f"{kind} covariance with rho={rho} is not positive definite for p={p}")
    return cov


def make_sparse_linear(
    n_samples=100,
    p=200,
    *,
    design="identity",
    rho=0.5,
    band=5,
    pattern="random",
    n_nonzero=10,
    size=1.0,
    sigma=1.0,
    random_state=None,
    return_X_y=False,
):
    """y = X beta + sigma N(0, I) with rows of X from N(0, Sigma).

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    p : int, default=200
    design : {"identity", "toeplitz", "circulant", "equicorrelated"} or ndarray of shape (p, p)
        See :func:`design_covariance`. Javanmard and Montanari (2014): circulant, rho = 0.1, band = 5.
    rho : float, default=0.5
    band : int, default=5
    pattern : {"random", "first", "spread", "spikes", "steps"}, default="random"
        Where beta is not zero: `n_nonzero` random places with value `size`; the first ones; equally spaced ones;
        random places with values +-size (Lin, Pham and Ruszczynski 2014, lasso); a piecewise constant beta, 10
        percent equal to `size` and 20 percent equal to 2 `size` (their fused lasso; `n_nonzero` is ignored).
    n_nonzero : int, default=10
    size, sigma : float, default=1
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        With ``coef``, ``support``, ``sigma``, ``cov``, ``signal``.

    Examples
    --------
    >>> made = make_sparse_linear(5, 20, n_nonzero=3, pattern="first", random_state=0)
    >>> made.support.tolist(), made.data.shape
    ([0, 1, 2], (5, 20))
    """
    n, p, rng = check_size(n_samples), check_size(p, "p"), check_rng(random_state)
    check_choice(pattern, "pattern", ("random", "first", "spread", "spikes", "steps"))
    s = check_scalar(n_nonzero, "n_nonzero", low=0, high=p, integer=True)
    sigma, size = check_scalar(sigma, "sigma", low=0), check_scalar(size, "size")
    cov = design_covariance(design, p, rho=rho, band=band) if isinstance(design, str) else design
    cov = check_finite_array(cov, "design", ndim=2)
    if cov.shape != (p, p):
        raise ValueError(f"design must have shape {(p, p)}, got {cov.shape}")
    X = rng.standard_normal((n, p))
    if not (isinstance(design, str) and design == "identity"):
        try:
            X = X @ np.linalg.cholesky(cov).T
        except np.linalg.LinAlgError:
            raise ValueError("design must be a positive definite covariance") from None
    beta = np.zeros(p)
    if pattern == "steps":
        beta[p // 10 : p // 10 + round(0.1 * p)] = size
        beta[p // 2 : p // 2 + round(0.2 * p)] = 2 * size
    else:
        place = {"first": np.arange(s), "spread": np.linspace(0, p, s, endpoint=False).astype(int)}
        chosen = place.get(pattern, np.sort(rng.permutation(p)[:s]))
        beta[chosen] = size * (rng.choice([-1.0, 1.0], size=s) if pattern == "spikes" else 1.0)
    signal = X @ beta
    y = signal + sigma * rng.standard_normal(n)
    truth = {"coef": beta, "support": np.flatnonzero(beta), "sigma": sigma, "cov": cov, "signal": signal}
    return answer(X, y, return_X_y, **truth)


def make_friedman(kind=1, n_samples=200, *, d=None, sigma=None, random_state=None, return_X_y=False):
    """Friedman's three functions (1991), x uniform.

    1: 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 on [0, 1]^d; d = 10 and noise 1 by default.
    2: sqrt(x1^2 + (x2 x3 - 1 / (x2 x4))^2), 3: arctan((x2 x3 - 1 / (x2 x4)) / x1), with x1 in [0, 100], x2 in
    [40 pi, 560 pi], x3 in [0, 1], x4 in [1, 11]; noise 125 and 0.1 (signal to noise three to one).

    Parameters
    ----------
    kind : int, default=1
    n_samples : int, default=200
        Number of rows.
    d : int, optional
        Number of inputs; by default 10 for the first function, else 4.
    sigma : float, optional
        Standard deviation of the noise; by default that of the source.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> made = make_friedman(1, 4, random_state=0)
    >>> made.data.shape, made.support.tolist()
    ((4, 10), [0, 1, 2, 3, 4])
    """
    check_choice(kind, "kind", (1, 2, 3))
    n, rng = check_size(n_samples), check_rng(random_state)
    sigma = {1: 1.0, 2: 125.0, 3: 0.1}[kind] if sigma is None else check_scalar(sigma, "sigma", low=0)
    if kind == 1:
        X = rng.random((n, check_size(10 if d is None else d, "d", low=5)))
        x = X.T
        signal = 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
    else:
        if d is not None and d != 4:
            raise ValueError(f"Friedman's function {kind} has four inputs, got d={d}")
        X = rng.uniform([0, 40 * np.pi, 0, 1], [100, 560 * np.pi, 1, 11], (n, 4))
        x = X.T
        inner = x[1] * x[2] - 1 / (x[1] * x[3])
        signal = np.hypot(x[0], inner) if kind == 2 else np.arctan2(inner, x[0])
    y = signal + sigma * rng.standard_normal(n)
    return answer(X, y, return_X_y, signal=signal, sigma=sigma, support=np.arange(5 if kind == 1 else 4))


_CURVES = {
    "sinc": (np.sinc, -3.0, 3.0),
    "sinc4": (lambda x: np.sinc(4 * x / np.pi), -np.pi, np.pi),
    "step": (lambda x: (x > 0).astype(np.float64), -np.pi, np.pi),
    "sine": (lambda x: np.sin(2 * np.pi * x), 0.0, 1.0),
    "jump": (lambda x: np.sin(2 * np.pi * x) + (x >= 0.5), 0.0, 1.0),
}


def make_curve(kind="sinc", n_samples=100, *, sigma=0.1, outliers=0, random_state=None, return_X_y=False):
    """One input, uniform; a known curve plus N(0, sigma^2).

    Parameters
    ----------
    kind : {"sinc", "sinc4", "step", "sine", "jump"}, default="sinc"
        sin(pi x) / (pi x) on [-3, 3]; sin(4x) / (4x) and 1{x > 0} on [-pi, pi] (Chapelle 2004, ch. 7); sin(2 pi x),
        and the same with a jump of 1 at 1/2, on [0, 1].
    n_samples : int, default=100
        Number of rows.
    sigma : float, default=0.1
    outliers : int, default=0
        Number of targets that are moved by 3 (up or down); their indices are in ``outliers``.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        ``function`` is the curve itself.

    Examples
    --------
    >>> made = make_curve("sine", 50, random_state=0)
    >>> bool(np.allclose(made.function(made.data[:, 0]), made.signal))
    True
    """
    check_choice(kind, "kind", tuple(_CURVES))
    n, rng = check_size(n_samples), check_rng(random_state)
    sigma = check_scalar(sigma, "sigma", low=0)
    moved = check_scalar(outliers, "outliers", low=0, high=n, integer=True)
    function, low, high = _CURVES[kind]
    x = rng.uniform(low, high, n)
    signal = function(x)
    y = signal + sigma * rng.standard_normal(n)
    places = np.sort(rng.permutation(n)[:moved])
    y[places] += 3 * rng.choice([-1.0, 1.0], size=moved)
    truth = {"signal": signal, "sigma": sigma, "function": function, "interval": (low, high), "outliers": places}
    return answer(x[:, None], y, return_X_y, **truth)


def make_gapped_sinc(dimension=1, *, sigma=None, random_state=None, return_X_y=False):
    """sinc with the middle left out and three contradicting values there (Mangasarian, Shavlik and Wild 2004).

    One dimension: 26 equispaced points on each of [-3, -1.4303] and [1.4303, 3] with noise 0.5, then 0 with targets
    1, 0 and -1. Two dimensions: a 16 x 16 lattice of [-3, 3]^2 without |x1| < 1.4303, |x2| < 1, exact values of
    sinc(x1) sinc(x2), then the origin three times.

    Parameters
    ----------
    dimension : int, default=1
    sigma : float, optional
        Standard deviation of the noise; by default that of the source.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_gapped_sinc(1, random_state=0).data.shape
    (55, 1)
    """
    check_choice(dimension, "dimension", (1, 2))
    rng = check_rng(random_state)
    sigma = (0.5 if dimension == 1 else 0.0) if sigma is None else check_scalar(sigma, "sigma", low=0)
    if dimension == 1:
        side = np.linspace(1.4303, 3, 26)
        X = np.concatenate([-side[::-1], side])[:, None]
    else:
        axis = np.linspace(-3, 3, 16)
        X = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        X = X[~((np.abs(X[:, 0]) < 1.4303) & (np.abs(X[:, 1]) < 1))]
    signal = np.sinc(X).prod(axis=1)
    y = signal + sigma * rng.standard_normal(len(X))
    X = np.vstack([X, np.zeros((3, dimension))])
    return answer(X, np.concatenate([y, [1.0, 0.0, -1.0]]), return_X_y, signal=np.concatenate([signal, np.ones(3)]))


def make_heavy_design(n_samples=100, *, d=30, outliers=0.0, sigma=1.0, random_state=None, return_X_y=False):
    """y = sqrt(3 / (d v)) sum x_i + noise, x from N(0, I) or, with probability `outliers`, from N(0, 100 I).

    v = 1 + 99 outliers keeps the signal's variance at 3; the noise has variance sigma^2 / v, and 100 times that in
    the outlying rows (Bengio and Grandvalet 2004, Experiments 1 and 2).

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    d : int, default=30
    outliers : float, default=0.0
    sigma : float, default=1.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> made = make_heavy_design(6, random_state=0)
    >>> made.data.shape, round(float(made.coef[0]), 4)
    ((6, 30), 0.3162)
    """
    n, d, rng = check_size(n_samples), check_size(d, "d"), check_rng(random_state)
    share = check_scalar(outliers, "outliers", low=0, high=1)
    sigma = check_scalar(sigma, "sigma", low=0)
    v = 1 + 99 * share
    far = rng.random(n) < share
    scale = np.where(far, 10.0, 1.0)
    X = rng.standard_normal((n, d)) * scale[:, None]
    coef = np.full(d, np.sqrt(3 / (d * v)))
    signal = X @ coef
    y = signal + sigma * scale / np.sqrt(v) * rng.standard_normal(n)
    return answer(X, y, return_X_y, coef=coef, signal=signal, outlying=far, sigma=sigma)


def make_robot_arm(n_samples=320, *, n_links=8, sigma=0.3, random_state=None, return_X_y=False):
    """Distance of a robot's hand to (0.1, 0.1, 0.1) as a function of its 32 parameters (the kin-32fh family).

    Each of eight links has a joint angle U(-pi/4, pi/4), a twist U(-pi/8, pi/8), a length U(0.05, 0.15) and an
    offset U(0, 0.1); the Denavit-Hartenberg matrices are multiplied, the distance is standardised with its sample
    moments and N(0, sigma^2) added. Columns: angles, twists, lengths, offsets.

    Parameters
    ----------
    n_samples : int, default=320
        Number of rows.
    n_links : int, default=8
    sigma : float, default=0.3
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_robot_arm(5, random_state=0).data.shape
    (5, 32)
    """
    n, k, rng = check_size(n_samples, low=2), check_size(n_links, "n_links"), check_rng(random_state)
    sigma = check_scalar(sigma, "sigma", low=0)
    low = np.repeat([-np.pi / 4, -np.pi / 8, 0.05, 0.0], k)
    high = np.repeat([np.pi / 4, np.pi / 8, 0.15, 0.1], k)
    X = rng.uniform(low, high, (n, 4 * k))
    theta, alpha, a, offset = X.reshape(n, 4, k).transpose(1, 2, 0)
    rotation, place = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
    for j in range(k):
        c, s, ca, sa = np.cos(theta[j]), np.sin(theta[j]), np.cos(alpha[j]), np.sin(alpha[j])
        zero = np.zeros(n)
        link = np.array([[c, -s * ca, s * sa], [s, c * ca, -c * sa], [zero, sa, ca]]).transpose(2, 0, 1)
        step = np.column_stack([a[j] * c, a[j] * s, offset[j]])
        place = place + np.einsum("nij,nj->ni", rotation, step)
        rotation = rotation @ link
    distance = np.linalg.norm(place - 0.1, axis=1)
    signal = (distance - distance.mean()) / distance.std()
    return answer(X, signal + sigma * rng.standard_normal(n), return_X_y, signal=signal, sigma=sigma)


def make_gene_regression(
    n_samples=71, *, p=4088, n_nonzero=10, size=1.0, sigma=1.0, random_state=None, return_X_y=False
):
    """Few samples, thousands of genes that move in groups, a handful with an effect (riboflavin-like).

    Genes come in blocks of 50 that share one factor (correlation 0.5 inside a block) and all load on a common
    factor (correlation 0.2 across).

    Parameters
    ----------
    n_samples : int, default=71
        Number of rows.
    p : int, default=4088
    n_nonzero : int, default=10
    size : float, default=1.0
    sigma : float, default=1.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> made = make_gene_regression(random_state=0)
    >>> made.data.shape, made.support.shape
    ((71, 4088), (10,))
    """
    n, p, rng = check_size(n_samples), check_size(p, "p"), check_rng(random_state)
    s = check_scalar(n_nonzero, "n_nonzero", low=0, high=p, integer=True)
    sigma, size = check_scalar(sigma, "sigma", low=0), check_scalar(size, "size")
    block = np.arange(p) // 50
    X = np.sqrt(0.2) * rng.standard_normal((n, 1)) + np.sqrt(0.3) * rng.standard_normal((n, block[-1] + 1))[:, block]
    X += np.sqrt(0.5) * rng.standard_normal((n, p))
    coef = np.zeros(p)
    coef[rng.permutation(p)[:s]] = size
    signal = X @ coef
    truth = {"coef": coef, "support": np.flatnonzero(coef), "block": block, "sigma": sigma, "signal": signal}
    return answer(X, signal + sigma * rng.standard_normal(n), return_X_y, **truth)


def make_copy_number(n_probes=1000, *, mean_length=40, sigma=0.25, random_state=None):
    """A piecewise constant copy-number profile with noise: levels -1, 0, 1, 2, exponential segment lengths.

    Parameters
    ----------
    n_probes : int, default=1000
    mean_length : int, default=40
    sigma : float, default=0.25
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``target`` (noisy), ``signal``, ``breaks`` (indices where a new segment begins).

    Examples
    --------
    >>> made = make_copy_number(200, random_state=0)
    >>> bool((np.flatnonzero(np.diff(made.signal)) + 1 == made.breaks).all())
    True
    """
    n, rng = check_size(n_probes, "n_probes"), check_rng(random_state)
    mean_length = check_scalar(mean_length, "mean_length", low=1)
    sigma = check_scalar(sigma, "sigma", low=0)
    signal, start, level, breaks = np.empty(n), 0, None, []
    while start < n:
        length = max(1, round(rng.exponential(mean_length)))
        level = rng.choice([v for v in (-1.0, 0.0, 1.0, 2.0) if v != level])
        signal[start : start + length] = level
        if start:
            breaks.append(start)
        start += length
    y = signal + sigma * rng.standard_normal(n)
    return Bunch(target=y, signal=signal, breaks=np.array(breaks, dtype=int), sigma=sigma)


def make_voxels(n_samples=300, *, shape=(12, 12, 8), n_blobs=5, sigma=1.0, random_state=None, return_X_y=False):
    """Regression on a 3-D grid of smooth voxels with a few active blobs (fMRI-like, for 3-D fused penalties).

    Each row of X is a Gaussian field smoothed with a kernel of width 1 and scaled to unit variance; beta is +-1 on
    balls of radius 1.5 around `n_blobs` random voxels.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    shape : tuple of int, default=(12, 12, 8)
    n_blobs : int, default=5
    sigma : float, default=1.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        ``coef`` has the grid's shape; ``data`` is flat.

    Examples
    --------
    >>> made = make_voxels(5, shape=(6, 5, 4), random_state=0)
    >>> made.data.shape, made.coef.shape
    ((5, 120), (6, 5, 4))
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    shape = tuple(check_size(s, "shape") for s in shape)
    k, sigma = check_size(n_blobs, "n_blobs", low=0), check_scalar(sigma, "sigma", low=0)
    field = ndimage.gaussian_filter(rng.standard_normal((n, *shape)), (0, *([1.0] * len(shape))), mode="wrap")
    field /= field.std()
    coef = np.zeros(shape)
    places = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    for _ in range(k):
        centre = [rng.integers(s) for s in shape]
        coef[np.linalg.norm(places - centre, axis=-1) <= 1.5] = rng.choice([-1.0, 1.0])
    X = field.reshape(n, -1)
    signal = X @ coef.ravel()
    return answer(X, signal + sigma * rng.standard_normal(n), return_X_y, coef=coef, signal=signal, sigma=sigma)
