"""Labelled points whose best possible error is known.

Every function returns a ``Bunch`` with ``data``, ``target`` (0, 1, ...) and ``bayes_risk``, the probability of
error of the best rule, as a number: in closed form, or by quadrature to about 1e-8, as its docstring says. Where
the posterior has a formula, ``posterior`` holds it at the sampled points.
"""

from functools import cache

import numpy as np
from scipy import integrate, special, stats
from sklearn.utils import Bunch

from learnable.datasets._simulate import answer, check_size, random_orthogonal
from learnable.validation import check_choice, check_finite_array, check_probability_vector, check_rng, check_scalar

__all__ = [
    "make_gaussian_classes",
    "make_hidden_clusters",
    "make_logistic",
    "make_mixture_means",
    "make_noisy_product",
    "make_ringnorm",
    "make_softmax_field",
    "make_subspace_mixture",
    "make_threenorm",
    "make_twonorm",
    "make_waveform",
]


def _balanced(n, k, rng, exact):
    """n labels of k classes: drawn uniformly, or equally many of each in random order."""
    return rng.permutation(np.arange(n) % k) if exact else rng.integers(k, size=n)


def make_twonorm(n_samples=300, *, d=20, random_state=None, return_X_y=False):
    """Breiman's two-norm: N(a 1, I) against N(-a 1, I) in d dimensions, a = 2 / sqrt(d).

    The distance of the means is 4, so the Bayes risk is Phi(-2) = 0.02275 in every dimension.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    d : int, default=20
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> round(make_twonorm(10, random_state=0).bayes_risk, 5)
    0.02275
    """
    n, d, rng = check_size(n_samples), check_size(d, "d"), check_rng(random_state)
    y = _balanced(n, 2, rng, exact=False)
    a = 2 / np.sqrt(d)
    X = rng.standard_normal((n, d)) + a * (2 * y - 1)[:, None]
    margin = 2 * a * X.sum(axis=1)
    posterior = np.column_stack([special.expit(-margin), special.expit(margin)])
    return answer(X, y, return_X_y, bayes_risk=float(special.ndtr(-2.0)), posterior=posterior, mean=np.full(d, a))


def make_ringnorm(n_samples=300, *, d=20, random_state=None, return_X_y=False):
    """Breiman's ring-norm: class 0 is N(a 1, I), class 1 is N(0, 4 I), a = 2 / sqrt(d).

    The best rule compares 3/4 |x - 4/3 a 1|^2 - |a 1|^2 / 3 with d ln 4, a non-central chi-square under either
    class, hence the Bayes risk in closed form (0.0124 for d = 20).

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    d : int, default=20
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> round(make_ringnorm(10, random_state=0).bayes_risk, 4)
    0.0124
    """
    n, d, rng = check_size(n_samples), check_size(d, "d"), check_rng(random_state)
    y = _balanced(n, 2, rng, exact=False)
    a = 2 / np.sqrt(d)
    noise = rng.standard_normal((n, d))
    X = np.where(y[:, None] == 1, 2 * noise, noise + a)
    squared = d * a**2
    limit = (d * np.log(4) + squared / 3) * 4 / 3
    risk = 0.5 * stats.ncx2.sf(limit, d, squared / 9) + 0.5 * stats.ncx2.cdf(limit / 4, d, 4 * squared / 9)
    margin = 0.5 * (((X - a) ** 2).sum(axis=1) - (X**2).sum(axis=1) / 4 - d * np.log(4))
    posterior = np.column_stack([special.expit(-margin), special.expit(margin)])
    return answer(X, y, return_X_y, bayes_risk=float(risk), posterior=posterior)


def make_threenorm(n_samples=300, *, d=20, random_state=None, return_X_y=False):
    """Breiman's three-norm: N(a 1, I) or N(-a 1, I) with equal chances, against N((a, -a, a, ...), I).

    Only the projections on 1 and on (1, -1, 1, ...) matter; class 1 is chosen where v > ln(cosh 2u) / 2, which
    leaves one integral for the Bayes risk (0.1046, by quadrature).

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    d : int, default=20
        Even.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> round(make_threenorm(10, random_state=0).bayes_risk, 4)
    0.1046
    """
    n, d, rng = check_size(n_samples), check_size(d, "d", low=2), check_rng(random_state)
    if d % 2:
        raise ValueError(f"d must be even, got {d}")
    a = 2 / np.sqrt(d)
    y = _balanced(n, 2, rng, exact=False)
    alternating = a * np.where(np.arange(d) % 2, -1.0, 1.0)
    side = rng.choice([-a, a], size=n)
    X = rng.standard_normal((n, d)) + np.where(y[:, None] == 1, alternating, side[:, None])

    def errors(u):
        edge = 0.5 * (np.abs(2 * u) + np.log1p(np.exp(-4 * np.abs(u))) - np.log(2))
        missed = stats.norm.pdf(u) * special.ndtr(edge - 2)
        return missed + 0.5 * (stats.norm.pdf(u - 2) + stats.norm.pdf(u + 2)) * special.ndtr(-edge)

    risk = integrate.quad(errors, 0, 12, epsabs=1e-10)[0]
    return answer(X, y, return_X_y, bayes_risk=float(risk))


def make_waveform(n_samples=300, *, n_noise=0, random_state=None, return_X_y=False):
    """Breiman's waveforms: x = u h_a + (1 - u) h_b + N(0, I), u uniform, three triangles h_1, h_2, h_3.

    h_1(i) = max(6 - |i - 11|, 0), h_2(i) = h_1(i - 4), h_3(i) = h_1(i + 4), i = 1..21; classes 0, 1, 2 mix (1, 2),
    (1, 3), (2, 3). Integrating u out gives the class densities, so the posterior is exact; the Bayes risk is about
    0.133 (Breiman et al. 1984 say 0.14), the mean over 200,000 fixed draws of the posterior probability of an error
    (standard error below 0.0004).

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_noise : int, default=0
        Irrelevant N(0, 1) inputs added at the end; 19 gives the 40-input version.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_waveform(5, n_noise=19, random_state=0).data.shape
    (5, 40)
    """
    n, n_noise, rng = check_size(n_samples), check_size(n_noise, "n_noise", low=0), check_rng(random_state)
    X, y = _waves(n, rng)
    if n_noise:
        X = np.hstack([X, rng.standard_normal((n, n_noise))])
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, bayes_risk=_wave_risk(), posterior=_wave_posterior(X[:, :21]), waves=_WAVES)


_PLACES = np.arange(1, 22)
_WAVES = np.array([np.maximum(6 - np.abs(_PLACES - centre), 0) for centre in (11, 15, 7)], dtype=np.float64)
_PAIRS = ((0, 1), (0, 2), (1, 2))


def _waves(n, rng):
    y = rng.integers(3, size=n)
    u = rng.random((n, 1))
    first, second = np.array(_PAIRS).T
    return u * _WAVES[first[y]] + (1 - u) * _WAVES[second[y]] + rng.standard_normal((n, 21)), y


@cache
def _wave_risk():
    """Mean posterior probability of an error over 200,000 fixed draws."""
    parts = (_wave_posterior(_waves(20_000, np.random.default_rng([21, part]))[0]) for part in range(10))
    return float(np.mean([1 - posterior.max(axis=1).mean() for posterior in parts]))


def _wave_posterior(X):
    """Integral over u of N(x; h_b + u (h_a - h_b), I), up to a common factor, by completing the square."""
    logs = []
    for a, b in _PAIRS:
        direction = _WAVES[a] - _WAVES[b]
        squared = direction @ direction
        rest = X - _WAVES[b]
        best = rest @ direction / squared
        sd = 1 / np.sqrt(squared)
        mass = special.ndtr((1 - best) / sd) - special.ndtr(-best / sd)
        logs.append(-0.5 * ((rest**2).sum(axis=1) - squared * best**2) + np.log(np.maximum(mass, 1e-300)) + np.log(sd))
    return special.softmax(np.column_stack(logs), axis=1)


def make_gaussian_classes(
    n_samples=300, means=((-1.0, 0.0), (1.0, 0.0)), covs=None, *, priors=None, random_state=None, return_X_y=False
):
    """Gaussian classes with any means, covariances and priors.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    means : array-like of shape (k, d)
    covs : float, array-like of shape (d, d) or (k, d, d), optional
        A variance common to all, a common covariance, or one a class. The identity by default.
    priors : array-like of shape (k,), optional
        Uniform by default.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        ``bayes_risk`` is exact (closed form) for one class, and for two with one covariance, and NaN otherwise;
        ``posterior`` is exact always.

    Examples
    --------
    >>> made = make_gaussian_classes(5, means=[[0.0], [2.0]], random_state=0)
    >>> round(made.bayes_risk, 4), made.posterior.shape
    (0.1587, (5, 2))
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    means = check_finite_array(means, "means", ndim=2)
    if 0 in means.shape:
        raise ValueError(f"means must have at least one row and one column, got shape {means.shape}")
    k, d = means.shape
    priors = np.full(k, 1 / k) if priors is None else check_probability_vector(priors, "priors", size=k)
    covs = check_finite_array(1.0 if covs is None else covs, "covs")
    shared = covs.ndim < 3
    covs = covs * np.eye(d) if covs.ndim == 0 else covs
    if covs.shape not in ((d, d), (k, d, d)):
        raise ValueError(f"covs must be a number or have shape {(d, d)} or {(k, d, d)}, got {covs.shape}")
    covs = np.broadcast_to(covs, (k, d, d))
    try:
        factors = np.linalg.cholesky(covs)
    except np.linalg.LinAlgError:
        raise ValueError("covs must be positive definite") from None
    y = rng.choice(k, size=n, p=priors)
    X = means[y] + np.einsum("nij,nj->ni", factors[y], rng.standard_normal((n, d)))
    scores = np.empty((n, k))
    for j in range(k):
        white = np.linalg.solve(factors[j], (X - means[j]).T)
        with np.errstate(divide="ignore"):
            scores[:, j] = np.log(priors[j]) - 0.5 * (white**2).sum(axis=0) - np.log(np.diag(factors[j])).sum()
    risk = 0.0 if k == 1 else np.nan
    if k == 2 and shared:
        delta = np.linalg.norm(np.linalg.solve(factors[0], means[1] - means[0]))
        risk = _two_gaussian_risk(delta, priors)
    posterior = special.softmax(scores, axis=1)
    return answer(X, y, return_X_y, bayes_risk=float(risk), posterior=posterior, means=means, priors=priors)


def _two_gaussian_risk(delta, priors):
    """Error of the likelihood-ratio rule between N(0, 1) and N(delta, 1) with priors p0, p1."""
    if delta == 0 or min(priors) == 0:
        return min(priors)
    cut = delta / 2 + np.log(priors[0] / priors[1]) / delta
    return priors[0] * special.ndtr(-cut) + priors[1] * special.ndtr(cut - delta)


def make_mixture_means(n_samples=200, *, n_means=10, spread=0.2, grid=300, random_state=None, return_X_y=False):
    """Two classes in the plane, each a mixture of ten Gaussians around random means (Hastie et al. 2004).

    The means of class 1 are drawn from N((1, 0), I), those of class 0 from N((0, 1), I); a point picks one of its
    class's means and adds N(0, spread I). Half of the points belong to each class.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_means : int, default=10
    spread : float, default=0.2
        Variance around a mean.
    grid : int, default=300
        The Bayes risk is the integral of min(f0, f1) / 2 over a lattice of grid x grid cells (error below 1e-6 for
        the defaults).
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> made = make_mixture_means(100, random_state=0)
    >>> made.means.shape, 0 < made.bayes_risk < 0.5
    ((2, 10, 2), True)
    """
    n, m, rng = check_size(n_samples), check_size(n_means, "n_means"), check_rng(random_state)
    spread = check_scalar(spread, "spread", low=0, closed="neither")
    means = rng.standard_normal((2, m, 2)) + np.array([[0.0, 1.0], [1.0, 0.0]])[:, None, :]
    y = _balanced(n, 2, rng, exact=True)
    X = means[y, rng.integers(m, size=n)] + np.sqrt(spread) * rng.standard_normal((n, 2))
    if return_X_y:
        return X, y
    reach = 6 * np.sqrt(spread)
    ends = [(means[..., j].min() - reach, means[..., j].max() + reach) for j in (0, 1)]
    axes = [np.linspace(low, high, check_size(grid, "grid", low=2)) for low, high in ends]
    waves = [stats.norm.pdf(axis[:, None, None], means[None, :, :, j], np.sqrt(spread)) for j, axis in enumerate(axes)]
    density = np.einsum("acm,bcm->cab", *waves) / m
    cell = (axes[0][1] - axes[0][0]) * (axes[1][1] - axes[1][0])
    risk = 0.5 * density.min(axis=0).sum() * cell
    each = np.exp(-((X[:, None, None, :] - means) ** 2).sum(axis=-1) / (2 * spread)).mean(axis=-1)
    posterior = each / each.sum(axis=1, keepdims=True)
    return Bunch(data=X, target=y, bayes_risk=float(risk), posterior=posterior, means=means)


def make_noisy_product(n_samples=300, *, noise=0.3, random_state=None, return_X_y=False):
    """A smooth XOR: x ~ N(0, I_2), class 1 iff x1 x2 + noise N(0, 1) > 0 (Chapelle 2004).

    Bayes risk E Phi(-|x1 x2| / noise), by quadrature (0.1748 for noise 0.3).

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    noise : float, default=0.3
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> round(make_noisy_product(5, random_state=0).bayes_risk, 4)
    0.1748
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    noise = check_scalar(noise, "noise", low=0)
    X = rng.standard_normal((n, 2))
    product = X[:, 0] * X[:, 1]
    y = (product + noise * rng.standard_normal(n) > 0).astype(int)
    if return_X_y:
        return X, y
    # For x1 = a > 0 given, E Phi(-a |x2| / noise) = arctan(noise / a) / pi.
    risk = 0.0
    if noise:
        risk = integrate.quad(lambda a: 2 * stats.norm.pdf(a) * np.arctan2(noise, a) / np.pi, 0, 40, epsabs=1e-11)[0]
    eta = special.ndtr(product / noise) if noise else (product > 0).astype(float)
    return Bunch(data=X, target=y, bayes_risk=float(risk), posterior=np.column_stack([1 - eta, eta]))


def make_logistic(
    n_samples=500, coef=(-1.0, 1.0), *, intercept=0.5, correlation=0.5, random_state=None, return_X_y=False
):
    """x ~ N(0, Sigma) with unit variances and one correlation, P(Y = 1 | x) = 1 / (1 + exp(-(b + w'x))).

    The defaults are the sensitivity study of Christmann and Steinwart (2004). The Bayes risk is
    E expit(-|b + s Z|), s^2 = w'Sigma w, by quadrature.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    coef : tuple of float, default=(-1.0, 1.0)
    intercept : float, default=0.5
    correlation : float, default=0.5
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> round(make_logistic(5, random_state=0).bayes_risk, 4)
    0.3085
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    w = check_finite_array(coef, "coef", ndim=1)
    intercept = check_scalar(intercept, "intercept")
    d = len(w)
    low = -1 / (d - 1) if d > 1 else -1
    correlation = check_scalar(correlation, "correlation", low=low, high=1, closed="neither")
    cov = np.full((d, d), correlation) + (1 - correlation) * np.eye(d)
    X = rng.standard_normal((n, d)) @ np.linalg.cholesky(cov).T
    eta = special.expit(intercept + X @ w)
    y = (rng.random(n) < eta).astype(int)
    if return_X_y:
        return X, y
    sd = np.sqrt(w @ cov @ w)
    integrand = lambda z: stats.norm.pdf(z) * special.expit(-abs(intercept + sd * z))  # noqa: E731
    kink = [np.clip(-intercept / sd, -12, 12)] if sd else None
    risk = integrate.quad(integrand, -12, 12, points=kink, epsabs=1e-11, limit=200)[0]
    truth = {"posterior": np.column_stack([1 - eta, eta]), "coef": w, "intercept": intercept, "cov": cov}
    return Bunch(data=X, target=y, bayes_risk=float(risk), **truth)


def make_softmax_field(n_samples=1000, *, random_state=None, return_X_y=False):
    """Three classes on [0, 1]^2, ambiguous (no class above 1/2) on 60 percent of the square.

    On the left, x1 < 0.6, the posteriors are 1/3 + 0.13 cos(6 x2 + 2 pi k / 3), the largest between 0.398 and 0.464;
    on the right the class that leads on the left has posterior 0.75. The Bayes risk is an integral over x2, by
    quadrature. Losses that need a class with posterior above 1/2 fail on the left only.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> made = make_softmax_field(500, random_state=0)
    >>> bool((made.posterior.max(axis=1) < 0.5)[made.data[:, 0] < 0.6].all())
    True
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    X = rng.random((n, 2))
    q = _field(X)
    y = (rng.random((n, 1)) > q.cumsum(axis=1)[:, :2]).sum(axis=1)
    if return_X_y:
        return X, y
    best = integrate.quad(lambda v: _field(np.array([[0.3, v]])).max(), 0, 1, epsabs=1e-10, limit=400)[0]
    return Bunch(data=X, target=y, bayes_risk=float(1 - 0.6 * best - 0.4 * 0.75), posterior=q)


def _field(X):
    """Posteriors of make_softmax_field: a wave of amplitude 0.13 on the left, one clear class on the right."""
    phase = 6 * X[:, 1:2] + 2 * np.pi * np.arange(3) / 3
    waves = 1 / 3 + 0.13 * np.cos(phase)
    clear = np.full_like(waves, 0.125)
    clear[np.arange(len(X)), waves.argmax(axis=1)] = 0.75
    return np.where(X[:, :1] < 0.6, waves, clear)


def make_subspace_mixture(n_samples=1000, *, k=50, d=50, rank=10, spread=4.0, random_state=None, return_X_y=False):
    """k Gaussian clusters, each spread over its own random subspace of R^d (van der Maaten 2014, stand-in).

    Cluster j: centre N(0, spread^2 I), points centre + Q_j z with z ~ N(0, I_rank), plus N(0, 0.1^2 I).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    k : int, default=50
    d : int, default=50
    rank : int, default=10
    spread : float, default=4.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_subspace_mixture(20, k=3, d=6, rank=2, random_state=0).centres.shape
    (3, 6)
    """
    n, k, d = check_size(n_samples), check_size(k, "k"), check_size(d, "d")
    rank, rng = check_scalar(rank, "rank", low=1, high=d, integer=True), check_rng(random_state)
    spread = check_scalar(spread, "spread", low=0)
    centres = spread * rng.standard_normal((k, d))
    bases = np.array([random_orthogonal(d, rng)[:, :rank] for _ in range(k)])
    y = _balanced(n, k, rng, exact=True)
    X = centres[y] + np.einsum("ndr,nr->nd", bases[y], rng.standard_normal((n, rank)))
    return answer(X + 0.1 * rng.standard_normal((n, d)), y, return_X_y, centres=centres)


_HIDDEN = {
    "2-class": ([[0, 0], [0, 3]], [[1, 1], [1, 1]]),
    "3-class": ([[0, 0], [0, 0], [3, 0]], [[2, 0.2], [0.2, 2], [1, 0.3]]),
    "4-class": ([[0, 0], [1, 4], [5, 5], [5, 0]], [[1, 1]] * 4),
}


def make_hidden_clusters(kind="4-class", n_samples=500, *, n_noise=None, random_state=None, return_X_y=False):
    """Clusters in a few inputs, hidden among N(0, 1) noise (Dy and Brodley 2004, Section 7).

    Parameters
    ----------
    kind : {"2-class", "3-class", "4-class", "5-class-5", "5-class-15"}, default="4-class"
        The first three have two relevant inputs and three noise inputs; the last two have 5 and 15 relevant inputs
        of 20, means U[-5, 5] and variances U[0.7, 1.5].
    n_samples : int, default=500
        Number of rows.
    n_noise : int, optional
        Another number of noise inputs for the first three kinds.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        ``relevant`` holds the indices of the informative inputs, ``posterior`` the exact posteriors.

    Examples
    --------
    >>> make_hidden_clusters("5-class-5", 50, random_state=0).relevant.tolist()
    [0, 9, 17, 18, 19]
    """
    check_choice(kind, "kind", (*_HIDDEN, "5-class-5", "5-class-15"))
    n, rng = check_size(n_samples), check_rng(random_state)
    if kind in _HIDDEN:
        means, variances = (np.array(v, dtype=np.float64) for v in _HIDDEN[kind])
        relevant = np.arange(2)
        d = 2 + (3 if n_noise is None else check_size(n_noise, "n_noise", low=0))
    else:
        if n_noise is not None:
            raise ValueError(f"n_noise is fixed for {kind!r}")
        places = {"5-class-5": [1, 10, 18, 19, 20], "5-class-15": [1, 2, 3, 5, *range(8, 15), 16, 17, 18, 20]}
        relevant, d = np.array(places[kind]) - 1, 20
        means = rng.uniform(-5, 5, (5, len(relevant)))
        variances = rng.uniform(0.7, 1.5, (5, len(relevant)))
    y = _balanced(n, len(means), rng, exact=True)
    X = rng.standard_normal((n, d))
    X[:, relevant] = means[y] + np.sqrt(variances[y]) * X[:, relevant]
    centred = X[:, None, relevant] - means
    logs = -0.5 * (centred**2 / variances + np.log(variances)).sum(axis=-1)
    truth = {"relevant": relevant, "means": means, "variances": variances, "posterior": special.softmax(logs, axis=1)}
    return answer(X, y, return_X_y, **truth)
